import sys
from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import discard_failures, failures

with job_log(snakemake):
    failed = []
    for config in snakemake.params.configs:
        base = Path(snakemake.params.results) / config["paper"]["id"]
        failed += failures(base / "scores.csv.gz")
        # A job whose scores are missing is run again, when what failed is mended.
        discard_failures(config, base / "fits", base / "scores.csv.gz")
    if failed:
        print("Failed; all other methods are in the report. Tracebacks: logs/")
        print("\n".join(failed))
        sys.exit(1)
