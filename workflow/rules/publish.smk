# Copy the results of a finished paper tier to figures/, which is under version control.
rule publish:
    input:
        str(RESULTS.finished),
        [FILES.record(paper) for paper in FILES.papers],
        [FILES.artefact_files(paper) for paper in FILES.papers],
    log:
        FILES.log("publish"),
    conda:
        "../../environment.yml"
    params:
        configs=list(FILES.papers.values()),
        results=RESULTS,
        tier=FILES.run.tier,
    script:
        "../scripts/publish.py"


# Tables, verdicts, claims and statistics from the scores in figures/, without data and
# fits; of readings their reach.
rule rejudge:
    log:
        FILES.log("rejudge"),
    conda:
        "../../environment.yml"
    threads: 2
    params:
        configs=list(FILES.papers.values()),
        settings=FILES.run,
    script:
        "../scripts/rejudge.py"
