# One page over all papers of the run.
rule report:
    input:
        [published_record(paper) for paper in PAPERS],
        [artefact_files(paper) for paper in PAPERS],
    output:
        "results/{tier}/report.html",
    log:
        "logs/{tier}/report.log",
    conda:
        "../../environment.yml"
    params:
        configs=list(PAPERS.values()),
        results=lambda w: TIER,
        tier=RUN["tier"],
    script:
        "../scripts/report.py"


onsuccess:
    print(workflow_share(time.time() - STARTED, workflow.cores))
