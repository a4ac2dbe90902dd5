"""Core-minutes of the paper tier from seconds of one repeat."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.run.plan import fit_jobs

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def paper_tier(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import paper_tier

    yield paper_tier
    for name in ("paper_tier", "measuring"):
        sys.modules.pop(name, None)


def test_a_repeat_counts_as_often_as_it_is_run(monkeypatch, paper_tier):
    jobs = list(fit_jobs(load_paper("jebara2011", "paper")))
    cells = {(job.experiment, job.dataset, job.method) for job in jobs}
    seconds = pd.DataFrame(
        [(*cell, 60.0) for cell in sorted(cells)],
        columns=["experiment", "dataset", "method", "seconds"],
    )
    monkeypatch.setattr(paper_tier, "measured", lambda paper: seconds)
    table = paper_tier.whole("jebara2011")
    assert set(table["experiment"]) == {job.experiment for job in jobs}
    for experiment, minutes in zip(
        table["experiment"], table["core_minutes"], strict=True
    ):
        own = [job for job in jobs if job.experiment == experiment]
        assert minutes == sum(len(job.repeats) for job in own)
