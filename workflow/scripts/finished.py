import sys

from mtmkl_suite.run.fits import discard_failures, failures
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake):
    results, failed = snakemake.params.results, []
    for config in snakemake.params.configs:
        folder = results.paper(config.paper.id)
        failed += failures(folder.scores)
        # A job whose scores are missing is run again once the failure is fixed.
        discard_failures(config, folder)
    if failed:
        print("Failed; all other methods are in the report.")
        print(f"Tracebacks: {results.logs}")
        print("\n".join(failed))
        sys.exit(1)
