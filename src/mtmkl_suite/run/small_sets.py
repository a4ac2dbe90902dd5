"""Download of small data sets before a run, so that a first report has real data."""

import sys
from collections.abc import Iterable

from mtmkl_suite.config.models import Run
from mtmkl_suite.data import default_registry


def fetch_small(run: Run, names: Iterable[str] | None = None) -> None:
    """Download the small data sets that are missing, all by default, and say so.

    It happens before Snakemake looks for data. A run goes on without what fails, so
    failures are told and not raised.
    """
    if run.download != "small":
        return
    registry = default_registry()
    missing = registry.missing_small(names, mirror=run.mirror)
    if not missing:
        return
    megabytes = sum(file.bytes for each in missing for file in each.files) / 1e6
    _say(
        f"Downloading small data sets: {', '.join(each.name for each in missing)} "
        f"({megabytes:.1f} MB); `download: never` in config/config.yaml prevents it"
    )
    reasons = registry.fetch_small(missing, mirror=run.mirror)
    if reasons:
        names, first = ", ".join(reasons), next(iter(reasons.values()))
        _say(f"Going on without {names}: {first}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
