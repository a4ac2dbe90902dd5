from pathlib import Path

from job_log import job_log
from mtmkl_suite.report.record.publish import publish

with job_log(snakemake):
    publish(
        snakemake.params.configs,
        snakemake.params.results,
        Path("figures"),
        tier=snakemake.params.tier,
    )
