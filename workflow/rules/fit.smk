# One at a time, and first: papers share solvers, which each would compile.
rule compile:
    output:
        str(ANY.compiled),
    log:
        FILES.log("{paper}/compile"),
    benchmark:
        str(ANY.seconds_of("compile"))
    priority: 1
    conda:
        "../../environment.yml"
    resources:
        compiling=1,
        mem_mb=lambda w, attempt: FILES.memory(w.paper, "compile")(w, attempt),
        runtime=30,
    params:
        methods=lambda w: FILES.methods(w.paper),
        versions=lambda w: FILES.versions(w.paper),
        again=times_damaged("{paper}/compile"),
    script:
        "../scripts/compile.py"


# Fits that share a process (src/mtmkl_suite/run/grouping.py). Cells go to the cache,
# which is not an output: Snakemake deletes outputs of failed jobs.
rule fit:
    input:
        unpack(fits_of(FILES.fit_inputs)),
    output:
        str(ANY.scores_of("{group}")),
        str(ANY.arrays_of("{group}")),
    log:
        FILES.log("{paper}/fits/{group}"),
    benchmark:
        str(ANY.seconds_of("{group}"))
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda w, attempt: FILES.fit_megabytes(w.paper, w.group) * attempt,
        runtime=lambda w, attempt: FILES.fit_minutes(w.paper, w.group) * attempt,
        alone_in_group=1,
    params:
        arguments=fits_of(FILES.fit_arguments),
        versions=fits_of(FILES.versions),
        again=times_damaged("{paper}/fits/{group}"),
    script:
        "../scripts/fit.py"
