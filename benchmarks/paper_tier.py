"""Core-minutes of the paper tier, as the published record took them.

    python benchmarks/paper_tier.py

Adds up the processor time of all cells in figures/<paper>/scores.csv.gz, choice of
hyper-parameters included, without the start of processes and the reading of data, and
writes the sum of each experiment to figures/benchmarks/paper_tier.csv.
"""

import sys

import measuring
import pandas as pd

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.files import read_json, write_table
from mtmkl_suite.judge.sample import read_scores, seconds_of_cells

TABLE = measuring.ROOT / "figures/benchmarks/paper_tier.csv"


def core_minutes(paper: str) -> pd.DataFrame:
    """Return the core-minutes of each experiment in the record of a paper."""
    folder = measuring.ROOT / "figures" / paper
    seconds = seconds_of_cells(read_scores(folder / "scores.csv.gz"))
    table = (seconds.groupby("experiment", sort=False).sum() / 60).round(2)
    commit = read_json(folder / "provenance.json")["commit"][:12]
    columns = table.rename("core_minutes").reset_index()
    return columns.assign(paper=paper, commit=commit)


def main() -> int:
    table = pd.concat(map(core_minutes, load_run_config().papers), ignore_index=True)
    write_table(TABLE, table[["paper", "experiment", "core_minutes", "commit"]])
    print(table.groupby("paper", sort=False)["core_minutes"].sum().round(1).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
