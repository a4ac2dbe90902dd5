# The configuration, the files of the run (src/mtmkl_suite/run/targets.py), one run at a
# time.
import re
import sys
from functools import partial
from pathlib import Path

from mtmkl_suite.arithmetic import pin

pin()  # before NumPy is loaded

from mtmkl_suite.documents import read_yaml
from mtmkl_suite.errors import ConfigError, ResultsInUseError
from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.report.pages.summary import closing_summary
from mtmkl_suite.run import pipeline, plan
from mtmkl_suite.run.folders import RunFolder
from mtmkl_suite.run.locks import hold_results
from mtmkl_suite.run.targets import Targets
from snakemake_logger_plugin_mtmkl import Run, announce

try:
    # Snakemake itself takes the second of two equal keys.
    for file in filter(Path.is_file, map(Path, workflow.configfiles)):
        read_yaml(file)
    FILES = Targets(load_run_config(config))
except (ConfigError, ValueError) as error:
    sys.exit(f"configuration: {error}")

RESULTS = FILES.results
ABSOLUTE = RunFolder(RESULTS.path.resolve())
ANY = RESULTS.paper("{paper}")  # for the patterns of rules


wildcard_constraints:
    paper="|".join(map(re.escape, FILES.papers)),


announce(
    Run(
        results=ABSOLUTE,
        summary=partial(closing_summary, FILES.papers.values(), ABSOLUTE),
    )
)


# Snakemake's own lock outlives a killed run (the profile switches it off).
onstart:
    try:
        hold_results(RESULTS)
    except ResultsInUseError as error:
        sys.exit(str(error))


def fits_of(function):
    """A parameter or resource of the rule fit, from the paper and the name of fits."""
    return lambda wildcards: function(wildcards.paper, wildcards.group)


def refuse_target(wildcards):
    raise WorkflowError(FILES.unknown(wildcards.name))
