from pathlib import Path

from job_log import job_log
from mtmkl.reporting.report import write_report

with job_log(snakemake):
    write_report(
        snakemake.params.configs,
        Path(snakemake.params.results),
        Path(snakemake.output[0]),
        tier=snakemake.params.tier,
    )
