from mtmkl_suite.evaluation.compiled import start_again_when_compiled
from mtmkl_suite.report.record.artefacts import write_results
from mtmkl_suite.report.record.compared import write_compared
from mtmkl_suite.run.jobs import job_log

start_again_when_compiled()
with job_log(snakemake):
    arguments = dict(snakemake.params.arguments)
    if arguments["config"].record is None:
        write_results(**arguments)
    else:
        del arguments["group"]
        write_compared(**arguments)
