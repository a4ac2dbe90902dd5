from pathlib import Path

from job_log import job_log
from mtmkl.files import write_json
from mtmkl.provenance import provenance

with job_log(snakemake):
    record = provenance(
        snakemake.params.config,
        snakemake.params.run,
        data_infos=[Path(path) for path in snakemake.input.info],
        benchmarks=Path(snakemake.params.benchmarks),
    )
    write_json(Path(snakemake.output[0]), record)
