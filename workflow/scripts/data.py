from job_log import job_log
from mtmkl_suite.run.pipeline import prepare_data

with job_log(snakemake):
    prepare_data(
        snakemake.params.needs,
        snakemake.params.folder,
        seed=snakemake.params.seed,
        download=snakemake.params.download,
        on_missing=snakemake.params.on_missing,
    )
