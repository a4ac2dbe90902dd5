# Data sets and their splits. `found` makes a set that has turned up since run again.
for paper, paper_config in PAPERS.items():
    for number, datasets in enumerate(grouping.data_groups(paper_config)):

        rule:
            name:
                f"{paper}_data_{number}"
            output:
                list(data_files(paper, datasets)),
            log:
                log_of(f"{paper}/data_{number}"),
            benchmark:
                str(RESULTS.paper(paper).seconds_of(f"data_{number}"))
            conda:
                "../../environment.yml"
            resources:
                mem_mb=memory_of(paper, f"data_{number}"),
                runtime=60,
                alone_in_group=1,
            params:
                needs=pipeline.data_needs(paper_config, datasets),
                folder=RESULTS.paper(paper),
                seed=RUN["seed"],
                download=RUN["download"],
                on_missing=RUN["on_missing_data"],
                found=[pipeline.data_source(variant) for variant in datasets],
            script:
                "../scripts/data.py"
