# One job: experiment × data set × method, in chunks of repeats where that is long.
# Cells go to the cache, which is not an output: Snakemake deletes outputs of failed jobs.
rule compile:
    output:
        "results/{tier}/{paper}/compiled.json",
    log:
        "logs/{tier}/{paper}/compile.log",
    benchmark:
        "results/{tier}/{paper}/benchmarks/compile.tsv"
    conda:
        "../../environment.yml"
    params:
        classes=lambda w: classes_of(w.paper),
        versions=lambda w: sorted({v for k, v in VERSIONS.items() if k[0] == w.paper}),
    script:
        "../scripts/compile.py"


rule fit:
    input:
        unpack(fit_inputs),
    output:
        scores="results/{tier}/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}.csv.gz",
        arrays="results/{tier}/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}.npz",
    log:
        "logs/{tier}/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}.log",
    benchmark:
        "results/{tier}/{paper}/benchmarks/{experiment}__{dataset}__{method}__{chunk}.tsv"
    conda:
        "../../environment.yml"
    params:
        config=lambda w: pipeline.job_config(PAPERS[w.paper], job_of(w)),
        seed=RUN["seed"],
        plan=job_of,
        # A plan is no plain value, and what is not Snakemake does not compare.
        repeats=lambda w: list(job_of(w).repeats),
        cache=CACHE,
        version=lambda w: VERSIONS[w.paper, w.experiment, w.method],
    script:
        "../scripts/fit.py"
