# The first page, and the folder of the pages that it links to.
rule report:
    input:
        [FILES.record(paper) for paper in FILES.papers],
        [FILES.artefact_files(paper) for paper in FILES.papers],
        [FILES.written_files(paper) for paper in FILES.papers],
        [FILES.published_before(paper) for paper in FILES.papers],
    output:
        report=str(RESULTS.report),
        pages=directory(str(RESULTS.pages)),
    log:
        FILES.log("report"),
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=plan.UNMEASURED_MEGABYTES,
        runtime=30,
    params:
        configs=list(FILES.papers.values()),
        results=RESULTS,
        tier=FILES.run.tier,
    script:
        "../scripts/report.py"


# Last, so that a failed method leaves the report of the others, and the run still fails.
rule finished:
    input:
        report=rules.report.output.report,
        scores=[str(RESULTS.paper(paper).scores) for paper in FILES.papers],
        fits=[FILES.fit_files(paper) for paper in FILES.papers],
    output:
        touch(str(RESULTS.finished)),
    log:
        FILES.log("finished"),
    conda:
        "../../environment.yml"
    params:
        configs=list(FILES.papers.values()),
        results=RESULTS,
    script:
        "../scripts/finished.py"
