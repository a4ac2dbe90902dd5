# The first page, and the folder of the pages that it links to.
rule report:
    input:
        [published_record(paper) for paper in PAPERS],
        [artefact_files(paper) for paper in PAPERS],
        [written_files(paper) for paper in PAPERS],
        [published_before(paper) for paper in PAPERS],
    output:
        report=str(RESULTS.report),
        pages=directory(str(RESULTS.pages)),
    log:
        log_of("report"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=resources.UNMEASURED_MEGABYTES,
        runtime=30,
    params:
        configs=list(PAPERS.values()),
        results=RESULTS,
        tier=RUN["tier"],
    script:
        "../scripts/report.py"


# Last, so that a failed method leaves the report of the others, and the run still fails.
rule finished:
    input:
        report=rules.report.output.report,
        scores=texts(RESULTS.paper(paper).scores for paper in PAPERS),
        fits=[fit_files(paper) for paper in PAPERS],
    output:
        touch(str(RESULTS.finished)),
    log:
        log_of("finished"),
    conda:
        "../../environment.yml"
    params:
        configs=list(PAPERS.values()),
        results=RESULTS,
    script:
        "../scripts/finished.py"
