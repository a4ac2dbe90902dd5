# One job: experiment × data set × method, in chunks of repeats where that is long.
# Cells go to the cache, which is not an output: Snakemake deletes outputs of failed jobs.
rule compile:
    output:
        TIER + "/compiled.json",
    params:
        versions=VERSIONS,
    log:
        "logs/compile.log",
    benchmark:
        TIER + "/benchmarks/compile.tsv"
    script:
        "../scripts/compile.py"


rule fit:
    input:
        unpack(fit_inputs),
    output:
        scores=TIER + "/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}.csv.gz",
        arrays=TIER + "/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}.npz",
    params:
        config=lambda w: pipeline.job_config(PAPERS[w.paper], job_of(w)),
        seed=RUN["seed"],
        plan=job_of,
        cache=CACHE,
        version=lambda w: VERSIONS[
            PAPERS[w.paper]["methods"][w.method]["class"]
        ],
    log:
        "logs/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}.log",
    benchmark:
        TIER + "/{paper}/benchmarks/{experiment}__{dataset}__{method}__{chunk}.tsv"
    script:
        "../scripts/fit.py"
