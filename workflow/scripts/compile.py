import json
from pathlib import Path

from job_log import job_log
from mtmkl.pipeline import warm_compiled_code

with job_log(snakemake):
    seconds = warm_compiled_code(list(snakemake.params.classes))
    Path(snakemake.output[0]).write_text(json.dumps(seconds) + "\n")
