"""The summary of a finished run, in a few lines for the terminal."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mtmkl.files import read_json, read_table
from mtmkl_suite.config.models import Paper
from mtmkl_suite.run.fit_warnings import counted_warnings
from mtmkl_suite.run.folders import PaperFolder, RunFolder

if TYPE_CHECKING:
    import pandas as pd


def closing_summary(configs: Iterable[Paper], run: RunFolder) -> str:
    """Return verdicts and claims by paper, missing data, warnings, the report."""
    from mtmkl_suite.judge.verdicts import counts_text

    lines = []
    missing: set[str] = set()
    for config in configs:
        paper = config.paper
        folder = run.paper(paper.id)
        lines += ["", f"{paper.title} ({paper.authors}, {paper.year})"]
        for title, text in (
            ("published numbers", counts_text(read_table(folder.verdicts))),
            ("claims", _counted(read_table(folder.claims)["verdict"])),
        ):
            lines.append(f"  {title + ':':<19}{text}")
        missing |= missing_data(config, folder)
    lines.append("")
    if missing:
        names = " ".join(sorted(missing))
        lines += [
            f"Missing data: {names.replace(' ', ', ')}",
            f"  Download them:  {program()} datasets fetch {names}",
            "  or set MTMKL_DATA_MIRROR to a folder that holds them; then run again.",
            "",
        ]
    if warned := counted_warnings(sorted(run.logs.rglob("*.log"))):
        lines += [*warned, f"All warnings: {run.logs}", ""]
    lines.append(f"Report: {run.report.resolve().as_uri()}")
    return "\n".join(lines)


def _counted(verdicts: "pd.Series[str]") -> str:
    counts = verdicts.value_counts()
    return ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "none"


def missing_data(config: Paper, folder: PaperFolder) -> set[str]:
    """Return the names of the data sets that a paper's run lacked."""
    infos = [
        read_json(folder.data_info(variant.id))
        for experiment in config.experiments.values()
        for variant in experiment.variants
    ]
    return {info["name"] for info in infos if info["status"] == "missing"}


def program() -> str:
    """Return how to call ``mtmkl`` from here."""
    command = Path(sys.executable).with_name("mtmkl")
    if command.is_relative_to(Path.cwd()):
        return str(command.relative_to(Path.cwd()))
    return str(command) if command.is_file() else "mtmkl"
