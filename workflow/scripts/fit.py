from pathlib import Path

from mtmkl_suite.run.fits import run_fits
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake) as log:
    chosen = snakemake.input.get("chosen")
    run_fits(
        **snakemake.params.arguments,
        chosen=Path(*chosen) if chosen else None,
        progress=lambda line: print(line, file=log, flush=True),
    )
