import math

import pandas as pd
import pytest

from mtmkl.reporting.context import Context
from mtmkl.reporting.explanations import replaced
from mtmkl.reporting.record import claims_table
from mtmkl.statistics.overlap import Overlap

CLAIM = {
    "id": "c1",
    "claim": "a is lower.",
    "section": "6",
    "test": "paired_difference",
    "args": {"experiment": "e", "metric": "rmse"}
    | {"lower": {"method": "a"}, "higher": {"method": "b"}},
}
HALVES, NEW = Overlap(1.0, 0.5, 0.5), Overlap(0.0, 0.5, 0.5)


def scores(experiment):
    rows = [
        {"method": method, "repeat": repeat, "value": repeat % 3 + (method == "b")}
        for method in ("a", "b")
        for repeat in range(9)
    ]
    rows[0]["value"] -= 0.5
    return pd.DataFrame(rows).assign(
        experiment=experiment, dataset="d", n_tasks=1, subset=0, train_size=0, fold=0,
        setting="", task="all", metric="rmse",
    )  # fmt: skip


@pytest.fixture
def main():
    return Context(
        config={
            "tier": "paper",
            "claims": [CLAIM],
            "methods": {"a": {}, "b": {}},
            "experiments": {"e": {"methods": []}},
        },
        scores=scores("e"),
        arrays={},
        data_info={},
        published={},
        overlaps={("e", "d", 0): HALVES, ("f", "d", 0): HALVES},
    )


def readings(overlaps):
    origin = {"of": "e", "is_whole": True, "factors": {"data": "new"}}
    factor = {"alternatives": {"new": {"change": {}}}}
    return Context(
        config={"readings": {"experiments": {"e_new": origin, "e_old": origin},
                             "factors": {"data": factor}}},
        scores=scores("e_new"), arrays={}, data_info={}, published={},
        overlaps=overlaps,
    )  # fmt: skip


def test_repeats_of_a_reading_overlap_in_their_own_way(main):
    context = readings({("e_new", "d", 0): NEW, ("e_old", "d", 0): HALVES})
    shown = replaced(context, main, ["e_new"])
    assert shown.overlaps == {("e", "d", 0): NEW, ("f", "d", 0): HALVES}
    own, reading = (claims_table(each).loc[0] for each in (main, shown))
    assert own["t_divided_by"] == pytest.approx(math.sqrt(1 + 9))
    assert math.isnan(reading["rho"])
    assert own["p"] == reading["p"]


def test_readings_without_known_overlap_keep_that_of_the_main_run(main):
    assert replaced(readings(None), main, ["e_new"]).overlaps == main.overlaps
