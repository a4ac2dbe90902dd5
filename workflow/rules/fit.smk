# One paper after the other, as papers share solvers, which each would compile; but
# linear methods and kernel methods share none.
for place, paper in enumerate(reversed(FILES.papers), start=2):
    for family, methods in FILES.methods(paper).items():

        rule:
            name:
                f"{paper}_compile_{family}"
            output:
                str(RESULTS.paper(paper).compiled(family)),
            log:
                FILES.log(f"{paper}/compile_{family}"),
            benchmark:
                str(RESULTS.paper(paper).seconds_of(f"compile_{family}"))
            priority: place
            conda:
                "../../environment.yml"
            resources:
                **{f"compiling_{family}": 1},
                mem_mb=FILES.memory(paper, f"compile_{family}"),
                runtime=30,
            params:
                methods=methods,
                versions=lambda _, paper=paper: FILES.versions(paper),
                again=times_damaged(f"{paper}/compile_{family}"),
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
