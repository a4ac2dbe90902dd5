from pathlib import Path

from mtmkl.files import write_json
from mtmkl_suite.run.fits import warm_compiled_code
from mtmkl_suite.run.jobs import job_log

with job_log(snakemake):
    seconds = warm_compiled_code(snakemake.params.methods)
    write_json(Path(snakemake.output[0]), seconds)
