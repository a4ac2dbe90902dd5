import json
from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import describe_data, write_text

with job_log(snakemake):
    info = describe_data(
        snakemake.params.variant,
        snakemake.params.seed,
        download=snakemake.params.download,
        on_missing=snakemake.params.on_missing,
    )
    text = json.dumps(info, indent=1, sort_keys=True)
    write_text(Path(snakemake.output[0]), text + "\n")
