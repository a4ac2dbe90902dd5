from job_log import job_log
from mtmkl.reporting.record import write_record

with job_log(snakemake):
    write_record(snakemake.params.config, snakemake.params.folder, snakemake.params.run)
