from pathlib import Path

from job_log import job_log
from mtmkl.reporting.record import write_statistics

with job_log(snakemake):
    write_statistics(
        snakemake.params.config,
        Path(snakemake.params.results),
        Path(snakemake.output[0]),
        seed=snakemake.params.seed,
    )
