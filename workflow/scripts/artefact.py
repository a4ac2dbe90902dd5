from pathlib import Path

from job_log import job_log
from mtmkl.reporting.build import write_artefact

with job_log(snakemake):
    write_artefact(
        snakemake.wildcards.artefact,
        snakemake.params.config,
        Path(snakemake.params.results),
    )
