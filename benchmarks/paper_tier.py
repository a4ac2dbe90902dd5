"""How long the paper tier takes: one repeat of each method, times their number.

    python benchmarks/paper_tier.py [PAPER ...]

Fits the first repeat of all experiments with all their methods, and writes the
core-minutes of each experiment to figures/benchmarks/paper_tier.csv. Seconds are
processor time to choose and fit, as in the records, without the start of jobs and the
reading of data. Finished cells are kept in results/cache with their seconds, so an
interrupted run goes on where it was.
"""

import argparse
import subprocess
import sys
from collections import Counter

import measuring
import pandas as pd

from mtmkl.documents import config_dir, read_yaml
from mtmkl.files import write_table
from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.runs import load_papers
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.report.record.publish import seconds_per_repeat
from mtmkl_suite.run.folders import RunFolder, run_label
from mtmkl_suite.run.plan import fit_jobs

TABLE = measuring.ROOT / "figures/benchmarks/paper_tier.csv"


def measured(paper: str) -> pd.DataFrame:
    """Return the seconds of one repeat of each experiment, data set and method."""
    subprocess.run(
        [
            sys.executable, "-m", "mtmkl_suite.cli.main", "run", "--paper", paper,
            "--tier", "paper", "--repeats", "1",
        ],
        cwd=measuring.ROOT,
        check=True,
    )  # fmt: skip
    usual = read_yaml(config_dir() / "config.yaml")
    of_one = {"papers": [paper], "tier": "paper", "repeats": 1}
    settings = load_run_config(usual | of_one)
    label = run_label(settings, load_papers(settings))
    folder = RunFolder(measuring.ROOT / "results" / label)
    return seconds_per_repeat(read_scores(folder.paper(paper).scores))


def whole(paper: str) -> pd.DataFrame:
    """Return the core-minutes of each experiment with all its repeats."""
    repeats: Counter[tuple[str, str, str]] = Counter()
    for job in fit_jobs(load_paper(paper, "paper")):
        repeats[job.experiment, job.dataset, job.method] += len(job.repeats)
    table = measured(paper)
    cells = table[["experiment", "dataset", "method"]].itertuples(index=False)
    table["core_minutes"] = [
        seconds / 60 * repeats[tuple(cell)]
        for cell, seconds in zip(cells, table["seconds"], strict=True)
    ]
    by_experiment = table.groupby("experiment", sort=False)["core_minutes"].sum()
    return by_experiment.round(2).reset_index().assign(paper=paper)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="*", metavar="PAPER")
    names = parser.parse_args().papers or load_run_config().papers
    table = pd.concat([whole(paper) for paper in names], ignore_index=True)
    table = table[["paper", "experiment", "core_minutes"]]
    table = table.assign(commit=measuring.provenance()["commit"][:12])
    write_table(TABLE, table)
    print(table.to_string(index=False))
    print(table.groupby("paper", sort=False)["core_minutes"].sum().round(1).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
