# Scores of a paper in one table, and what is computed from that table alone.
rule scores:
    input:
        lambda w: fit_outputs(w.paper, ".csv.gz"),
    output:
        "results/{run}/{paper}/scores.csv.gz",
    log:
        "logs/{run}/{paper}/scores.log",
    conda:
        "../../environment.yml"
    params:
        config=lambda w: PAPERS[w.paper],
        fits=lambda w: f"results/{w.run}/{w.paper}/fits",
    script:
        "../scripts/scores.py"


rule statistics:
    input:
        scores=rules.scores.output,
        splits=lambda w: split_files(w.paper),
        published=lambda w: published_numbers(w.paper),
    output:
        "results/{run}/{paper}/statistics.csv",
    log:
        "logs/{run}/{paper}/statistics.log",
    conda:
        "../../environment.yml"
    params:
        config=lambda w: PAPERS[w.paper],
        results=lambda w: f"results/{w.run}/{w.paper}",
        seed=RUN["seed"],
    script:
        "../scripts/statistics.py"


rule record:
    input:
        scores=rules.scores.output,
        info=lambda w: data_infos(w.paper),
        published=lambda w: published_numbers(w.paper),
    output:
        verdicts="results/{run}/{paper}/verdicts.csv",
        claims="results/{run}/{paper}/claims.csv",
    log:
        "logs/{run}/{paper}/record.log",
    conda:
        "../../environment.yml"
    params:
        config=lambda w: PAPERS[w.paper],
        results=lambda w: f"results/{w.run}/{w.paper}",
    script:
        "../scripts/record.py"


rule provenance:
    input:
        scores=rules.scores.output,
        info=lambda w: data_infos(w.paper),
    output:
        "results/{run}/{paper}/provenance.json",
    log:
        "logs/{run}/{paper}/provenance.log",
    conda:
        "../../environment.yml"
    params:
        config=lambda w: PAPERS[w.paper],
        run=RUN,
        benchmarks=lambda w: f"results/{w.run}/{w.paper}/benchmarks",
    script:
        "../scripts/provenance.py"
