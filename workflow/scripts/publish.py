from pathlib import Path

from mtmkl_suite.report.publish import publish
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake):
    publish(
        snakemake.params.configs,
        snakemake.params.results,
        Path("figures"),
        tier=snakemake.params.tier,
    )
