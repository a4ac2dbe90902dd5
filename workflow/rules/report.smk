# One page over all papers of the run.
rule report:
    input:
        [published_record(paper) for paper in PAPERS],
        [artefact_files(paper) for paper in PAPERS],
    output:
        "results/{run}/report.html",
    log:
        "logs/{run}/report.log",
    conda:
        "../../environment.yml"
    params:
        configs=list(PAPERS.values()),
        results=lambda w: RESULTS,
        tier=RUN["tier"],
    script:
        "../scripts/report.py"
