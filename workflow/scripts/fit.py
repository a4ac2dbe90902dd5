from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import run_fit, warm_compiled_code

with job_log(snakemake) as log:
    # A routine that several compiled functions contain is taken from the one loaded
    # first: loaded in one order, what is cached already does not change last digits.
    warm_compiled_code(snakemake.params.classes)
    for fit in snakemake.params.fits:
        run_fit(
            fit["config"],
            fit["plan"],
            seed=snakemake.params.seed,
            splits=Path(snakemake.input.splits),
            scores=Path(fit["scores"]),
            arrays=Path(fit["arrays"]),
            cache=Path(snakemake.params.cache),
            first_chunk=Path(fit["first_chunk"]) if fit["first_chunk"] else None,
            progress=lambda line: print(line, file=log, flush=True),
        )
