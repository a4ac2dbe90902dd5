from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import run_fit

with job_log(snakemake) as log:
    first_chunk = snakemake.input.get("first_chunk")
    run_fit(
        snakemake.params.config,
        snakemake.params.plan,
        seed=snakemake.params.seed,
        splits=Path(snakemake.input.splits),
        scores=Path(snakemake.output.scores),
        arrays=Path(snakemake.output.arrays),
        cache=Path(snakemake.params.cache),
        first_chunk=Path(first_chunk) if first_chunk else None,
        progress=lambda line: print(line, file=log, flush=True),
    )
