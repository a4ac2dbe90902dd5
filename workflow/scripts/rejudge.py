from pathlib import Path

from mtmkl_suite.report.publish import rejudge
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake):
    rejudge(
        snakemake.params.configs,
        Path("figures"),
        settings=snakemake.params.settings,
        cores=snakemake.threads,
    )
