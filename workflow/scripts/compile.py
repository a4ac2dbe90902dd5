from pathlib import Path

from job_log import job_log
from mtmkl.files import write_json
from mtmkl_suite.run.fits import warm_compiled_code

with job_log(snakemake):
    seconds = warm_compiled_code(list(snakemake.params.classes))
    write_json(Path(snakemake.output[0]), seconds)
