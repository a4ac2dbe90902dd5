# Fits that share a process (src/mtmkl_suite/run/plan.py). Cells go to the cache,
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
        mem_mb=lambda w, attempt: FILES.memory(w.paper, w.group)(w, attempt),
        runtime=lambda w, attempt: FILES.fit_minutes(w.paper, w.group) * attempt,
        alone_in_group=1,
    params:
        arguments=fits_of(FILES.fit_arguments),
    script:
        "../scripts/fit.py"
