from mtmkl_suite.evaluation.compiled import start_again_when_compiled
from mtmkl_suite.report.record.artefacts import write_results
from mtmkl_suite.run.jobs import job_log

start_again_when_compiled()
with job_log(snakemake):
    write_results(**snakemake.params.arguments)
