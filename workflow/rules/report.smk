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


# Last, so that a failed method leaves the report of the others, and the run still fails.
rule finished:
    input:
        report=rules.report.output,
        scores=[f"{RESULTS}/{paper}/scores.csv.gz" for paper in PAPERS],
        fits=[fit_outputs(paper, ".csv.gz") for paper in PAPERS],
    output:
        touch("results/{run}/finished"),
    log:
        "logs/{run}/finished.log",
    conda:
        "../../environment.yml"
    params:
        configs=list(PAPERS.values()),
        results=lambda w: RESULTS,
    script:
        "../scripts/finished.py"
