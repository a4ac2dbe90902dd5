from mtmkl_suite.run.jobs import job_log
from mtmkl_suite.run.pipeline import prepare_data

with job_log(snakemake):
    prepare_data(**snakemake.params.arguments)
