# One at a time, and first: two papers share solvers, which both would compile.
rule compile:
    output:
        "results/{run}/{paper}/compiled.json",
    log:
        "logs/{run}/{paper}/compile.log",
    benchmark:
        "results/{run}/{paper}/benchmarks/compile.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    resources:
        compiling=1,
    params:
        classes=lambda w: classes_of(w.paper, JOBS[w.paper].values()),
        versions=lambda w: sorted({v for k, v in VERSIONS.items() if k[0] == w.paper}),
    script:
        "../scripts/compile.py"


# Cells go to the cache, which is not an output: Snakemake deletes outputs of failed jobs.
if RUN["tier"] == "paper":

    # Experiment × data set × method, in chunks of repeats where that is long.
    rule fit:
        input:
            unpack(fit_inputs),
        output:
            multiext(
                "results/{run}/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}",
                ".csv.gz",
                ".npz",
            ),
        log:
            "logs/{run}/{paper}/fits/{experiment}/{dataset}/{method}.{chunk}.log",
        benchmark:
            "results/{run}/{paper}/benchmarks/{experiment}__{dataset}__{method}__{chunk}.tsv"
        conda:
            "../../environment.yml"
        params:
            fits=fits_of,
            classes=lambda w: classes_of(w.paper, jobs_of(w)),
            seed=RUN["seed"],
            cache=CACHE,
        script:
            "../scripts/fit.py"

else:

    # A process takes longer to start than most fits of the quick tier: all methods of
    # an experiment on a data set share one.
    for paper, paper_config in PAPERS.items():
        for experiment in paper_config["experiments"]:

            rule:
                name:
                    f"{paper}_{experiment}_fits"
                input:
                    unpack(fit_inputs),
                output:
                    expand(
                        "results/{{run}}/{{paper}}/fits/{{experiment}}/{{dataset}}/{name}{ending}",
                        name=names_in(paper, experiment),
                        ending=(".csv.gz", ".npz"),
                    ),
                log:
                    "logs/{run}/{paper}/fits/{experiment}/{dataset}.log",
                benchmark:
                    "results/{run}/{paper}/benchmarks/{experiment}__{dataset}.tsv"
                wildcard_constraints:
                    paper=paper,
                    experiment=experiment,
                conda:
                    "../../environment.yml"
                params:
                    fits=fits_of,
                    classes=lambda w: classes_of(w.paper, jobs_of(w)),
                    seed=RUN["seed"],
                    cache=CACHE,
                script:
                    "../scripts/fit.py"
