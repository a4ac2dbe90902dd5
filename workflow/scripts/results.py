from job_log import job_log
from mtmkl_suite.report.pages.build import write_results

with job_log(snakemake):
    write_results(
        snakemake.params.group,
        snakemake.params.config,
        snakemake.params.folder,
        snakemake.params.run,
    )
