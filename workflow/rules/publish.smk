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


# Tables, verdicts, claims and statistics from the scores in figures/, without a fit; of
# readings their reach. The data and their splits tell how repeats overlap.
rule rejudge:
    input:
        [all_data_files(paper) for paper in PAPERS],
    log:
        "logs/rejudge.log",
    conda:
        "../../environment.yml"
    params:
        configs=list(PAPERS.values()),
        results=RESULTS,
        settings=RUN,
    script:
        "../scripts/rejudge.py"
