# One figure or table from the fits of its experiments. Each is also a target by name:
# snakemake argyriou2008_table_2
rule figure:
    input:
        unpack(artefact_inputs),
    output:
        multiext("results/{run}/{paper}/artefacts/{artefact}", ".svg", ".pdf", ".csv"),
    log:
        "logs/{run}/{paper}/artefacts/{artefact}.log",
    wildcard_constraints:
        artefact=one_of(artefact_names("figure")),
    conda:
        "../../environment.yml"
    params:
        config=lambda w: artefact_config(w),
        results=lambda w: f"results/{w.run}/{w.paper}",
    script:
        "../scripts/artefact.py"


rule table:
    input:
        unpack(artefact_inputs),
    output:
        multiext("results/{run}/{paper}/artefacts/{artefact}", ".csv", ".md", ".tex"),
    log:
        "logs/{run}/{paper}/artefacts/{artefact}.log",
    wildcard_constraints:
        artefact=one_of(artefact_names("table")),
    conda:
        "../../environment.yml"
    params:
        config=lambda w: artefact_config(w),
        results=lambda w: f"results/{w.run}/{w.paper}",
    script:
        "../scripts/artefact.py"


for paper, paper_config in PAPERS.items():

    rule:
        name:
            paper
        input:
            artefact_files(paper),
            published_record(paper),

    for artefact in paper_config["artefacts"]:

        rule:
            name:
                f"{paper}_{artefact}"
            input:
                artefact_files(paper, [artefact]),


# Snakemake knows what was asked for only after it has read all rules.
rule unknown_target:
    input:
        refuse_target,
    output:
        "{name,[^/]+}",
