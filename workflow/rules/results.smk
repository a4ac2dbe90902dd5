# Numbers that figures draw (Monte Carlo, choices made again), figures, tables, and what
# other programs read of a paper: scores, statistics, verdicts, claims, provenance.
for paper in FILES.papers:
    for group in plan.result_groups(FILES.papers[paper]):

        rule:
            name:
                f"{paper}_{group.name}"
            input:
                FILES.result_inputs(paper, group),
            output:
                FILES.result_files(paper, group),
            log:
                FILES.log(f"{paper}/{group.name}"),
            benchmark:
                str(RESULTS.paper(paper).seconds_of(group.name))
            # All that is made of a paper takes less time than a job waits in a queue.
            group:
                f"{paper}_results"
            conda:
                "../../environment.yml"
            resources:
                mem_mb=FILES.memory(paper, group.name),
                runtime=60,
                alone_in_group=1,
            params:
                arguments=FILES.result_arguments(paper, group),
            script:
                "../scripts/results.py"


# Targets by name: snakemake argyriou2008_table_2
for paper in FILES.papers:

    rule:
        name:
            paper
        input:
            FILES.artefact_files(paper),
            FILES.record(paper),

    for artefact in FILES.artefacts(paper):

        rule:
            name:
                f"{paper}_{artefact}"
            input:
                FILES.artefact_files(paper, [artefact]),


# Snakemake knows what was asked for only after it has read all rules.
rule unknown_target:
    input:
        refuse_target,
    output:
        "{name,[^/]+}",
