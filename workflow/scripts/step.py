from job_log import job_log
from mtmkl.reporting.build import write_step

with job_log(snakemake):
    write_step(
        snakemake.params.step,
        snakemake.params.names,
        snakemake.params.config,
        snakemake.params.folder,
    )
