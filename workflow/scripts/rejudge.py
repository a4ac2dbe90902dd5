from pathlib import Path

from job_log import job_log
from mtmkl_suite.report.record.rejudge import rejudge

with job_log(snakemake):
    rejudge(
        snakemake.params.configs,
        snakemake.params.results,
        Path("figures"),
        settings=snakemake.params.settings,
    )
