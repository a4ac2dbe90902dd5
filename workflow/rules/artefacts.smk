# Numbers that figures draw: Monte Carlo, choices made again.
for paper, paper_config in PAPERS.items():
    for step, names in grouping.steps(paper_config).items():

        rule:
            name:
                f"{paper}_step_{step}"
            input:
                artefact_inputs(paper, names),
            output:
                str(RESULTS.paper(paper).step(step)),
            log:
                log_of(f"{paper}/step_{step}"),
            conda:
                "../../environment.yml"
            params:
                step=step,
                names=names,
                config=plan.restricted_to_artefacts(paper_config, names),
                folder=RESULTS.paper(paper),
            script:
                "../scripts/step.py"


# Figures and tables from the fits of their experiments.
for paper, paper_config in PAPERS.items():
    for number, names in enumerate(grouping.artefact_groups(paper_config)):

        rule:
            name:
                f"{paper}_artefacts_{number}"
            input:
                artefact_inputs(paper, names),
                step_files(paper, names),
            output:
                artefact_files(paper, names),
                written_files(paper, names),
            log:
                log_of(f"{paper}/artefacts_{number}"),
            conda:
                "../../environment.yml"
            params:
                names=names,
                config=plan.restricted_to_artefacts(paper_config, names),
                folder=RESULTS.paper(paper),
            script:
                "../scripts/artefacts.py"


# Targets by name: snakemake argyriou2008_table_2
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
