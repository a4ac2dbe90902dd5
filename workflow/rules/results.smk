# Numbers that figures draw (Monte Carlo, choices made again), figures, tables, and what
# other programs read of a paper: scores, statistics, verdicts, claims, provenance.
for paper, paper_config in PAPERS.items():
    for group in grouping.result_groups(paper_config):

        rule:
            name:
                f"{paper}_{group.name}"
            input:
                result_inputs(paper, group),
            output:
                result_files(paper, group),
            log:
                log_of(f"{paper}/{group.name}"),
            benchmark:
                str(RESULTS.paper(paper).seconds_of(group.name))
            # All that is made of a paper takes less time than a job waits in a queue.
            group:
                f"{paper}_results"
            conda:
                "../../environment.yml"
            resources:
                mem_mb=memory_of(paper, group.name),
                runtime=60,
                alone_in_group=1,
            params:
                group=group,
                config=result_config(paper, group),
                folder=RESULTS.paper(paper),
                run=RUN if group.has_record else {},
            script:
                "../scripts/results.py"


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
