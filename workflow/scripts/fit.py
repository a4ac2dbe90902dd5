from pathlib import Path

from job_log import job_log
from mtmkl_suite.run.fits import run_fits

with job_log(snakemake) as log:
    chosen = snakemake.input.get("chosen")
    run_fits(
        snakemake.params.config,
        snakemake.params.group,
        snakemake.params.folder,
        seed=snakemake.params.seed,
        cache=snakemake.params.cache,
        chosen=Path(*chosen) if chosen else None,
        progress=lambda line: print(line, file=log, flush=True),
    )
