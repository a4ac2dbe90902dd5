# Scores of a paper in one table, and everything computed from that table alone.
rule scores:
    input:
        lambda w: fit_outputs(w.paper, ".csv.gz"),
    output:
        TIER + "/{paper}/scores.csv.gz",
    params:
        config=lambda w: PAPERS[w.paper],
        fits=lambda w: f"{TIER}/{w.paper}/fits",
    log:
        "logs/{paper}/scores.log",
    script:
        "../scripts/scores.py"


rule statistics:
    input:
        rules.scores.output,
    output:
        TIER + "/{paper}/statistics.csv",
    params:
        config=lambda w: PAPERS[w.paper],
        seed=RUN["seed"],
    log:
        "logs/{paper}/statistics.log",
    script:
        "../scripts/statistics.py"


rule record:
    input:
        scores=rules.scores.output,
        info=lambda w: data_infos(w.paper),
    output:
        verdicts=TIER + "/{paper}/verdicts.csv",
        claims=TIER + "/{paper}/claims.csv",
    params:
        config=lambda w: PAPERS[w.paper],
        published=lambda w: pipeline.published_digest(w.paper),
    log:
        "logs/{paper}/record.log",
    script:
        "../scripts/record.py"
