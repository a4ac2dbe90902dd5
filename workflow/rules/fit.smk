# One at a time, and first: papers share solvers, which each would compile.
rule compile:
    output:
        str(ANY.compiled),
    log:
        log_of("{paper}/compile"),
    benchmark:
        str(ANY.seconds_of("compile"))
    priority: 1
    conda:
        "../../environment.yml"
    resources:
        compiling=1,
        mem_mb=lambda w, attempt: memory_of(w.paper, "compile")(w, attempt),
        runtime=30,
    params:
        classes=lambda w: all_classes(w.paper),
        versions=lambda w: versions_of(w.paper, GROUPS[w.paper].values()),
    script:
        "../scripts/compile.py"


# Fits that share a process (src/mtmkl_suite/run/grouping.py). Cells go to the cache,
# which is not an output: Snakemake deletes outputs of failed jobs.
rule fit:
    input:
        unpack(fit_inputs),
    output:
        str(ANY.scores_of("{group}")),
        str(ANY.arrays_of("{group}")),
    log:
        log_of("{paper}/fits/{group}"),
    benchmark:
        str(ANY.seconds_of("{group}"))
    conda:
        "../../environment.yml"
    resources:
        mem_mb=fit_memory,
        runtime=fit_minutes,
        alone_in_group=1,
    params:
        config=lambda w: fits.group_config(PAPERS[w.paper], group_of(w)),
        group=group_of,
        versions=lambda w: versions_of(w.paper, [group_of(w)]),
        folder=folder_of,
        seed=RUN["seed"],
        cache=cache(TOP),
    script:
        "../scripts/fit.py"
