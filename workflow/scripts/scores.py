from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import collect_scores

with job_log(snakemake):
    collect_scores(
        snakemake.params.config,
        Path(snakemake.params.fits),
        Path(snakemake.output[0]),
    )
