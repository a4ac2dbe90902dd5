from job_log import job_log
from mtmkl.reporting.build import write_artefacts

with job_log(snakemake):
    write_artefacts(
        snakemake.params.names, snakemake.params.config, snakemake.params.folder
    )
