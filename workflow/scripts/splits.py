from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import write_splits

with job_log(snakemake):
    write_splits(
        Path(snakemake.output[0]),
        Path(snakemake.input.info),
        snakemake.params.variant,
        snakemake.params.protocol,
        snakemake.params.seed,
    )
