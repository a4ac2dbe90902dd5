from pathlib import Path

from job_log import job_log
from mtmkl.reporting.record import write_record

with job_log(snakemake):
    write_record(
        snakemake.params.config,
        Path(snakemake.params.results),
        verdicts=Path(snakemake.output.verdicts),
        claims=Path(snakemake.output.claims),
    )
