from job_log import job_log
from mtmkl_suite.report.pages.report import write_report

with job_log(snakemake):
    write_report(
        snakemake.params.configs, snakemake.params.results, tier=snakemake.params.tier
    )
