import multiprocessing
import time
from collections import Counter
from dataclasses import replace

import pandas as pd
import pytest
from configured import paper_of
from scipy.stats import binom

from mtmkl_suite.data.splits import make_splits
from mtmkl_suite.files import write_table
from mtmkl_suite.run import verify
from mtmkl_suite.run.fits import run_fit
from mtmkl_suite.run.folders import PublishedFolder
from mtmkl_suite.run.pipeline import load_variant
from mtmkl_suite.run.plan import fit_jobs
from mtmkl_suite.run.verify import Cell, Record, compare, draw, excluded_rate

SEED = 1


@pytest.fixture
def record(config, tmp_path):
    """The record of a paper of one method and two repeats."""
    paper = paper_of(config)
    (variant,) = paper.experiments["digits"].variants
    protocol = paper.protocols["random"].named("random")
    splits = make_splits(load_variant(variant, SEED), protocol, SEED)
    scores = [
        run_fit(
            paper, job, seed=SEED, splits=splits, cache=tmp_path / "c", version="v1"
        )[0]
        for job in fit_jobs(paper)
    ]
    write_table(tmp_path / "scores.csv.gz", pd.concat(scores).astype(object))
    return Record(paper, PublishedFolder(tmp_path), {"seed": SEED})


def rewritten(record, change):
    """Return a record with other scores, as text."""
    scores = pd.read_csv(record.folder.scores, dtype=str, keep_default_na=False)
    write_table(record.folder.scores, change(scores))
    return replace(record)


def check(record, seconds=300.0):
    """Compute all cells of a record, as far as there is time."""
    until = time.monotonic() + seconds
    cells = sorted(record.cells)
    return dict(verify.computed_cells([record], cells, until=until, cores=1))


def outcomes(results):
    return Counter(each["outcome"] for each in results.values())


def test_a_record_of_this_code_is_equal_and_its_receipt_says_what_is_left(record):
    results = check(record)
    assert outcomes(results) == {"equal": 2}
    cells = sorted(record.cells)
    done = {cells[0]: results[cells[0]]}
    document = verify.receipt([record], "7", cells, done)
    assert (document["seed"], document["counts"]["equal"]) == ("7", 1)
    assert [each["repeat"] for each in document["cells"]] == [0]
    assert [each["repeat"] for each in document["no_time"]] == [1]


def test_cells_of_fewer_tasks_are_computed_by_themselves(config, request):
    entry = {"method": "ridge", "n_tasks": [5, 10]}
    config["experiments"]["digits"]["methods"] = [entry]
    record = request.getfixturevalue("record")
    assert outcomes(check(record)) == {"equal": 4}


def test_without_time_nothing_is_computed_and_no_process_left(record):
    before = multiprocessing.active_children()
    assert check(record, seconds=0.0) == {}
    assert {*multiprocessing.active_children()} <= {*before}


def test_what_the_record_says_wrongly_is_found_and_named(record):
    def change(scores):
        of_other = scores.assign(experiment="gone"), scores.assign(train_size="99")
        scores.loc[scores["repeat"] == "0", "value"] = "0.125"
        scores.loc[scores["repeat"] == "1", "params"] = '{"gamma": 7.0}'
        return pd.concat([scores, *of_other])

    results = check(rewritten(record, change))
    assert outcomes(results) == {"differs": 6}
    first = {
        (cell.experiment, cell.train_size == 99, cell.repeat): each["scores"][0]
        for cell, each in results.items()
    }
    value = first["digits", False, 0]
    assert (value["what"], value["published"]) == ("misclassified", "0.125")
    assert float(value["here"]) >= 1.0
    assert first["digits", False, 1]["what"] == "misclassified params"
    assert first["digits", True, 0]["here"].startswith("ValueError: protocol")
    assert first["gone", False, 0]["here"] == "'gone' is not in the configuration"


ROWS = pd.DataFrame(
    {
        "subset": "0", "fold": "0", "setting": "", "task": ["all", "one", "two"],
        "metric": "mse", "value": ["0.5", "0.25", ""], "params": ["{}", "", ""],
        "at_grid_edge": "", "data_digest": "d",
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("column", "published", "here", "outcome"),
    [
        ("value", "0.25", "0.25", "equal"),
        ("value", "0.25", "0.2500000001", "rounding"),
        ("value", "0.25", "0.25000001", "differs"),
        ("value", "0.25", "", "differs"),
        ("value", "1e-17", "-3e-16", "rounding"),
        ("value", "1e-9", "2e-9", "differs"),
        ("data_digest", "0", "1", "differs"),
        ("params", '{"C": 1.0}', '{"C": 1.0000000000000002}', "differs"),
    ],
)
def test_rounding_is_of_numbers_alone(column, published, here, outcome):
    old, new = ROWS.copy(), ROWS.copy()
    old.loc[1, column], new.loc[1, column] = published, here
    found = compare(old, new)
    assert found["outcome"] == outcome
    assert found["n_different"] == (outcome != "equal")
    if outcome != "equal":
        first = found["scores"][0]
        assert (first["published"], first["here"]) == (published, here)
        assert first["what"] == f"one mse {column}".removesuffix(" value")


def test_values_that_are_missing_or_new_are_counted():
    found = compare(ROWS, ROWS.iloc[:2])
    assert found["outcome"] == "differs"
    assert found["scores"][0]["here"] == "1 values are missing and 0 are new"
    assert compare(ROWS.iloc[:1], ROWS)["scores"][0]["here"].endswith("2 are new")


SECONDS = {
    Cell(paper, "main", "e", "d", "m", 1, 1, repeat): 10.0 ** (repeat % 3)
    for paper, n in (("large", 1900), ("small", 100))
    for repeat in range(n)
} | {Cell("small", "main", "long", "d", "m", 1, 1, 0): 1e5}


def test_a_draw_has_its_share_of_each_paper_and_of_long_fits():
    cells = draw(SECONDS, 300, "c0ffee")
    assert cells == draw(SECONDS, 300, "c0ffee") != draw(SECONDS, 300, "4")
    assert len(set(cells)) == 300
    assert sum(cell.paper == "small" for cell in cells) in range(14, 20)
    assert any(cell.experiment == "long" for cell in cells)
    assert sorted(draw(SECONDS, 10**6, "0")) == sorted(SECONDS)
    assert draw({}, 10, "0") == []


def test_short_fits_on_small_data_come_first():
    times = {("digits", 2.0): 1, ("digits", 0.5): 0, ("flowers17", 0.1): 2}
    seconds = {
        Cell("p", "main", "e", name, "m", 1, 1, k): s for (name, s), k in times.items()
    }
    order = verify.shortest_first(seconds, seconds)
    assert [cell.repeat for cell in order] == [0, 1, 2]


def test_the_rate_that_a_sample_excludes():
    assert excluded_rate(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert excluded_rate(0, 300) < 0.01 < excluded_rate(1, 300)
    assert excluded_rate(2, 2) == 1.0
    # At the bound, so few differing cells have a probability of 5 %.
    assert binom.cdf(4, 100, excluded_rate(4, 100)) == pytest.approx(0.05)
