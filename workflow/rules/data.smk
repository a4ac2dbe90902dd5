# Data sets and their splits. `found` makes a set that has turned up since run again.
for paper in FILES.papers:
    for number, datasets in enumerate(plan.data_groups(FILES.papers[paper])):

        rule:
            name:
                f"{paper}_data_{number}"
            output:
                FILES.data_files(paper, datasets),
            log:
                FILES.log(f"{paper}/data_{number}"),
            benchmark:
                str(RESULTS.paper(paper).seconds_of(f"data_{number}"))
            # Before fits, so that those with the most data come first.
            priority: 1
            conda:
                "../../environment.yml"
            resources:
                mem_mb=FILES.memory(paper, f"data_{number}"),
                runtime=60,
                alone_in_group=1,
            params:
                arguments=FILES.data_arguments(paper, datasets),
                found=[pipeline.data_source(variant) for variant in datasets],
            script:
                "../scripts/data.py"
