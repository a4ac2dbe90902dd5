# Copy the results of a finished paper tier to figures/, which is under version control.
rule publish:
    input:
        str(RESULTS.finished),
        [published_record(paper) for paper in PAPERS],
        [artefact_files(paper) for paper in PAPERS],
    log:
        "logs/publish.log",
    conda:
        "../../environment.yml"
    params:
        configs=list(PAPERS.values()),
        results=RESULTS,
        tier=RUN["tier"],
    script:
        "../scripts/publish.py"
