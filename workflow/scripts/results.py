from mtmkl_suite.report.artefacts import write_results
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake):
    write_results(**snakemake.params.arguments)
