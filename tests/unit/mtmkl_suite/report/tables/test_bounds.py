import pandas as pd
import pytest

from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.judge.reach import NOT_TRIED, WITHIN_REACH
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.record.artefacts import printed
from mtmkl_suite.report.tables.bounds import ABOVE, COLUMNS, build_bounds
from mtmkl_suite.report.tables.reach import build_reach

PAPER = "yousefi2015"
BOUND = 0.85


def context_of(tier):
    """Readings of which only the bound on Robot has scores, 85 % at every size."""
    config = load_readings(PAPER, tier, ["choice"])
    rows = [
        (size, repeat, BOUND + 0.001 * (repeat - 1))
        for size in (10, 20, 50)
        for repeat in range(3)
    ]
    scores = pd.DataFrame(rows, columns=["train_size", "repeat", "value"]).assign(
        experiment="robot@choice=bound", dataset="robot", method="stl", n_tasks=6,
        subset=0, fold=0, setting="", task="all", metric="accuracy", fit_seconds=1.0,
    )  # fmt: skip
    published = {
        path.name: pd.read_csv(path) for path in sorted(config.published.glob("*.csv"))
    }
    return Context(config, scores, {}, {}, published)


@pytest.fixture(scope="module")
def context():
    return context_of("paper")


@pytest.fixture(scope="module")
def table(context):
    return build_bounds(context, context.config.artefacts["bounds"])


def test_every_printed_number_of_a_row_stands_beside_its_bound(context, table):
    cells = table.cells
    assert tuple(cells.columns) == COLUMNS
    assert list(cells["row"].unique()) == [f"Robot, {n} %" for n in (10, 20, 50)]
    assert len(cells) == 3 * 8
    assert cells["bound"].tolist() == pytest.approx([100 * BOUND] * len(cells))
    assert cells["bound_sd"].tolist() == pytest.approx([0.1] * len(cells))
    printed_numbers = context.published["table_1.csv"].set_index(["row", "column"])
    for cell in cells.to_dict("records"):
        value = printed_numbers.loc[(cell["row"], cell["column"]), "value"]
        assert cell["published"] == value
        # The tolerance is half a point, and above two standard errors.
        assert cell["is_above"] == (value - 100 * BOUND > 0.5)
    assert 0 < cells["is_above"].sum() < len(cells)


def test_readers_see_which_numbers_are_out_of_reach(table):
    assert table.header[:3] == ("row", "bound", "STL")
    assert [line[0] for line in table.body] == list(table.cells["row"].unique())
    assert table.body[0][1] == "85.00 ± 0.10 (n = 3)"
    marked = sum(ABOVE in text for line in table.body for text in line)
    assert marked == table.cells["is_above"].sum()
    assert "independent SVMs" in table.notes[1]
    assert ABOVE in table.notes[2]


def test_a_bound_brings_numbers_within_reach_with_test_data_alone(context):
    reach = build_reach(context, context.config.artefacts["reach"]).cells
    assert reach["n_readings"].sum() == 0
    assert WITHIN_REACH not in set(reach["status"])
    # A bound on one side of a claim is no reading of it.
    assert set(reach.loc[reach["kind"] == "claim", "status"]) == {NOT_TRIED}


def test_a_bound_has_no_verdicts(context):
    found, written = printed(context, "bounds")
    assert len(found.cells)
    assert written.verdicts.empty
    assert [list(row) for row in written.tables[0].rows] == found.body


def test_a_reduced_run_marks_nothing():
    context = context_of("quick")
    table = build_bounds(context, context.config.artefacts["bounds"])
    assert len(table.cells)
    assert table.cells["is_above"].isna().all()
    assert not any(ABOVE in text for line in table.body for text in line)
    assert "Not judged" in table.notes[2]
