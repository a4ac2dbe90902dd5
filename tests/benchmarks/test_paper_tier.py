"""Core-minutes of the paper tier from the published record."""

from pathlib import Path

import pytest

from mtmkl_suite.judge.sample import read_scores, seconds_of_cells

ROOT = Path(__file__).resolve().parents[2]


def test_all_seconds_of_the_record_count_once(benchmark):
    table = benchmark("paper_tier").core_minutes("jawanpuria2011")
    scores = read_scores(ROOT / "figures/jawanpuria2011/scores.csv.gz")
    assert set(table["experiment"]) == set(scores["experiment"])
    seconds = 60 * table["core_minutes"].sum()
    assert seconds == pytest.approx(seconds_of_cells(scores).sum(), rel=1e-2)
