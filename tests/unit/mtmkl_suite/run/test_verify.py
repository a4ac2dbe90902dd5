import json
from dataclasses import replace
from multiprocessing import forkserver

import numpy as np
import pandas as pd
import pytest
from configured import of, paper_of
from scipy.stats import binom

from mtmkl_suite.config.models import Figure
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import write_json, write_table
from mtmkl_suite.run.fits import run_fit
from mtmkl_suite.run.pipeline import load_variant
from mtmkl_suite.run.plan import fit_jobs
from mtmkl_suite.run.provenance import machine
from mtmkl_suite.run.verify import (
    CURRENT,
    OLDER,
    VERIFIED,
    Cell,
    Record,
    cells_of,
    compare,
    draw,
    excluded_rate,
    receipt,
    standing,
    standing_of_artefacts,
    standing_text,
    verify,
)

SEED = 1


@pytest.fixture(autouse=True, scope="module")
def server():
    """Fork from a process of these tests' own, with the cache of the first of them."""
    forkserver._forkserver._stop()
    yield
    forkserver._forkserver._stop()


@pytest.fixture
def record(config, tmp_path):
    """The record of a paper of one method and two repeats."""
    from mtmkl_suite.data.splits import make_splits, save_splits

    paper = paper_of(config)
    (variant,) = paper.experiments["digits"].variants
    protocol = paper.protocols["random"].named("random")
    splits = tmp_path / "splits.npz"
    save_splits(splits, make_splits(load_variant(variant, SEED), protocol, SEED))
    scores = [
        run_fit(paper, job, seed=SEED, splits=splits, cache=tmp_path / "c").scores
        for job in fit_jobs(paper)
    ]
    write_table(tmp_path / "scores.csv.gz", pd.concat(scores).astype(object))
    write_json(tmp_path / "provenance.json", {"seed": SEED, "machine": machine()})
    return Record(paper, tmp_path)


def with_scores(record, change):
    """Return the record with other scores."""
    scores = record.scores.copy()
    change(scores)
    write_table(record.folder / "scores.csv.gz", scores)
    return replace(record)


def verified(record, **options):
    """Verify all cells of a record."""
    cells = sorted(record.cells)
    folder = record.folder / "verify"
    return verify([record], cells, folder=folder, seconds=300, **options)


def test_a_record_of_this_code_is_equal_and_resumes(record):
    told = []
    check = verified(record, progress=lambda cell, result: told.append(cell))
    assert check.counts() == {"equal": 2}
    assert sorted(told) == sorted(record.cells)
    # Nothing is left to compute, even without time.
    again = verify([record], told, folder=record.folder / "verify", seconds=0)
    assert again.results == check.results
    document = json.loads(
        json.dumps(receipt([record], check, seed=7, seconds=1.0), allow_nan=False)
    )
    assert sorted(cells_of(document)) == sorted(record.cells)
    assert standing(record, []) == {"digits": {CURRENT: 2}}


def test_what_there_is_no_time_for_is_named(record):
    cells = sorted(record.cells)
    check = verify([record], cells, folder=record.folder / "verify", seconds=0)
    assert (check.results, check.late) == ({}, cells)


@pytest.mark.parametrize(
    ("column", "value", "outcome", "what"),
    [
        ("value", lambda v: str(float(v) + 0.01), "differs", "misclassified value"),
        ("value", lambda v: repr(float(v) * (1 + 1e-12)), "rounding", None),
        ("params", lambda v: '{"gamma": 7.0}', "differs", "misclassified params"),
        ("data_digest", lambda v: "0" * 16, "differs", "misclassified data_digest"),
    ],
)
def test_what_was_changed_is_found_and_named(record, column, value, outcome, what):
    def change(scores):
        scores[column] = [value(scores[column].iloc[0]), *scores[column].iloc[1:]]

    check = verified(with_scores(record, change))
    assert check.counts() == {outcome: 1, "equal": 1}
    (found,) = (r for r in check.results.values() if r["outcome"] == outcome)
    if what:
        assert found["differences"][0]["what"].endswith(what)
        assert found["differences"][0]["here"] != found["differences"][0]["published"]


def test_a_value_that_is_missing_is_found(record):
    rows = record.rows(next(iter(record.cells)))
    more = pd.concat([rows, rows.assign(metric="other")])
    found = compare(more, rows)
    assert found["outcome"] == "differs"
    assert found["differences"][0]["here"] == "1 values are missing and 0 are new"


def test_cells_of_older_code_count_once_they_are_verified(record):
    older = with_scores(record, lambda scores: scores.insert(0, "x", 0))
    older = with_scores(
        older, lambda scores: scores.__setitem__("code_version", "0" * 12)
    )
    assert standing(older, []) == {"digits": {OLDER: 2}}
    document = receipt([older], verified(older), seed=0, seconds=1.0)
    assert standing(older, [document]) == {"digits": {VERIFIED: 2}}
    document["cells"][0]["outcome"] = "differs"
    assert standing(older, [document]) == {"digits": {OLDER: 2}}


def test_figures_and_tables_stand_to_the_code_like_the_worst_of_their_cells(record):
    figure = of(Figure, {"title": "Errors", "experiments": ["digits"]})
    config = record.config.model_copy(update={"artefacts": {"figure_1": figure}})
    record = replace(record, config=config)
    assert standing_of_artefacts(record, standing(record, [])) == {
        "figure_1": {CURRENT: 2}
    }
    assert "written: 1 computed with the code beside them" in standing_text(record)

    def older(scores):
        is_first = scores["repeat"] == "0"
        scores["code_version"] = scores["code_version"].where(~is_first, "0" * 12)

    mixed = with_scores(record, older)
    assert standing_of_artefacts(mixed, standing(mixed, [])) == {
        "figure_1": {CURRENT: 1, OLDER: 1}
    }
    assert "written: 1 computed with older code;" in standing_text(mixed)
    # A receipt beside it has the same cells with this code.
    document = receipt([mixed], verified(mixed), seed=0, seconds=1.0)
    write_json(record.folder.parent / "receipts" / "one.json", document)
    assert "written: 1 computed with older code, but verified again" in standing_text(
        mixed
    )


def test_a_file_that_is_no_receipt_is_refused():
    with pytest.raises(ConfigError, match="no receipt"):
        cells_of({"cells": []})


SECONDS = {
    Cell(paper, "main", "e", "d", "m", 1, 1, repeat): 10.0 ** (repeat % 3)
    for paper, n in (("large", 1900), ("small", 100))
    for repeat in range(n)
} | {Cell("small", "main", "long", "d", "m", 1, 1, 0): 1e5}


def test_a_draw_has_its_share_of_each_paper_and_of_long_fits():
    cells = draw(SECONDS, 300, seed=3)
    assert cells == draw(SECONDS, 300, seed=3) != draw(SECONDS, 300, seed=4)
    assert len(set(cells)) == 300
    assert sum(cell.paper == "small" for cell in cells) in range(14, 20)
    assert any(cell.experiment == "long" for cell in cells)
    assert sorted(draw(SECONDS, 10**6, seed=0)) == sorted(SECONDS)
    assert draw({}, 10, seed=0) == []


def test_faults_are_drawn_as_often_as_arithmetic_says():
    """One value in a thousand is changed; ten values are in a cell, 300 cells drawn."""
    cells = sorted(SECONDS)
    rng = np.random.default_rng(0)
    tries = 50
    caught = 0
    for seed in range(tries):
        values = rng.random((len(cells), 10)) < 1e-3
        changed = {cells[k] for k in np.flatnonzero(values.any(axis=1))}
        caught += bool(changed & set(draw(SECONDS, 300, seed=seed)))
    chance = 1.0 - (1.0 - 1e-3) ** 3000
    low, high = binom.interval(0.999, tries, chance)
    assert low <= caught <= high


def test_the_rate_that_a_sample_excludes():
    assert excluded_rate(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert excluded_rate(0, 300) < 0.01 < excluded_rate(1, 300)
    assert excluded_rate(2, 2) == 1.0
    # At the bound, so few differing cells have a probability of 5 %.
    bound = excluded_rate(4, 100)
    assert binom.cdf(4, 100, bound) == pytest.approx(0.05)
