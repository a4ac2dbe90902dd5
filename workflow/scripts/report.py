from mtmkl_suite.report.artefacts import available
from mtmkl_suite.report.pages.report import write_report
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake):
    results = snakemake.params.results
    configs = [
        available(config, results.paper(config.paper.id))
        for config in snakemake.params.configs
    ]
    write_report(
        configs,
        results,
        tier=snakemake.params.tier,
        processes=snakemake.threads,
    )
