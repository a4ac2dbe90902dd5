"""Download of small data sets before a run, so that a first report has real data."""

import sys
from collections.abc import Iterable

from mtmkl_suite.config.models import Run
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.fetch.obtaining import Places
from mtmkl_suite.data.fetch.small import fetch_quickly, missing_small_sets


def fetch_small(run: Run, names: Iterable[str] | None = None) -> None:
    """Download the small data sets that are missing, all by default, and say so.

    A run goes on without what fails, so failures are told and not raised.
    """
    if run.download != "small":
        return
    registry, places = default_registry(), Places(run.mirror)
    if names is None:  # but for sets that nothing reads yet
        names = [name for name in registry if registry[name].loader]
    missing = missing_small_sets(map(registry.parts, names), places)
    if not missing:
        return
    megabytes = sum(file.bytes for each in missing for file in each.files) / 1e6
    _say(
        f"Downloading small data sets: {', '.join(each.name for each in missing)} "
        f"({megabytes:.1f} MB); `download: never` in config/config.yaml prevents it"
    )
    reasons = fetch_quickly(missing, places)
    if reasons:
        names, first = ", ".join(reasons), next(iter(reasons.values()))
        _say(f"Going on without {names}: {first}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
