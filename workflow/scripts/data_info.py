from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import write_data_info

with job_log(snakemake):
    write_data_info(
        Path(snakemake.output[0]),
        snakemake.params.variant,
        snakemake.params.seed,
        download=snakemake.params.download,
        on_missing=snakemake.params.on_missing,
    )
