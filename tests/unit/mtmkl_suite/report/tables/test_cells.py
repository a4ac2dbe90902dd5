from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from configured import artefact_of, of, paper_of
from made_scores import made_context, made_row

from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import AnyTable, Quoted, StepTable, Tolerance
from mtmkl_suite.config.runs import with_method
from mtmkl_suite.evaluation.cells import COLUMNS
from mtmkl_suite.report.artefacts import build
from mtmkl_suite.report.context import load_context
from mtmkl_suite.report.tables.cells import (
    CELL_COLUMNS,
    build_quoted,
    build_table,
    mean_sd,
    tolerance_text,
)
from mtmkl_suite.run.folders import PaperFolder

METHODS = {
    "alone": {"label": "Alone_1", "class": "A"},
    "joint": {"label": "Joint", "class": "B"},
    "late": {"label": "Late", "class": "C"},
}
SPEC = artefact_of(
    {
        "kind": "table",
        "title": "A table",
        "experiment": "school",
        "file": "t.csv",
        "corner": "Method",
        "unit": "%",
        "scale": 100,
        "decimals": 1,
        "tolerance": {"absolute": 0.5},
        "columns": {"EV": {"metric": "explained_variance"}},
        "rows": {"Alone & co": {"method": "alone"}, "Joint": {"method": "joint"}},
        "extra_rows": {"Late, γ": {"method": "late"}},
        "extra_columns": {"EV of tasks": {"metric": "task_mean"}},
    }
)


def printed(**changes):
    columns = {
        "row": ["Alone & co", "Joint"], "column": "EV", "value": [22.7, 26.7],
        "sd": [1.3, np.nan], "n": 10, "unit": "%", "status": "legible",
        "alternative": np.nan, "source": "here",
    }  # fmt: skip
    return pd.DataFrame(columns | changes)


def make(*, values, reason="", tier="paper", **published):
    at = {"dataset": "school", "n_tasks": 139}
    rows = [
        made_row("school", method, metric, value, repeat=repeat, **at)
        for method, metric, series in values
        for repeat, value in enumerate(series)
    ]
    info = {"status": "missing", "reason": reason} if reason else {
        "status": "ok", "origin": "original"
    }  # fmt: skip
    experiment = {
        "datasets": {"name": "school"},
        "methods": [{"method": "alone"}, {"method": "joint"}],
    }
    config = {"tier": tier, "methods": METHODS, "experiments": {"school": experiment}}
    return made_context(
        paper_of(config),
        rows,
        data_info={"school": {"id": "school", **info}},
        published={"t.csv": printed(**published)},
    )


VALUES = [
    ("alone", "explained_variance", [0.226, 0.230]),
    ("joint", "explained_variance", [0.20, 0.21]),
    ("alone", "task_mean", [0.1, 0.2]),
]


@pytest.fixture
def table():
    return build_table(make(values=VALUES), SPEC)


def test_cells_hold_both_numbers_in_the_papers_unit(table):
    cell = table.cells.set_index(["row", "column"]).loc["Alone & co", "EV"]
    assert cell["published"] == 22.7
    assert cell["published_sd"] == 1.3
    assert cell["reproduced"] == pytest.approx(22.8)
    assert cell["reproduced_sd"] == pytest.approx(np.std([22.6, 23.0], ddof=1))
    assert cell["n"] == 2
    assert cell["verdict"] == "reproduced"
    assert cell["data"] == "original"
    assert tuple(table.cells.columns) == CELL_COLUMNS
    # A spread that is not printed stays empty.
    cell = table.cells.set_index(["row", "column"]).loc["Joint", "EV"]
    assert np.isnan(cell["published_sd"])
    assert cell["verdict"] == "different"


def test_markdown_shows_paper_beside_ours(table):
    text = table.markdown()
    assert "| Alone & co | 22.7 ± 1.3<br>22.8 ± 0.3 ✓ |" in text
    assert "| Joint | 26.7<br>20.5 ± 0.7 ✗ |" in text
    assert "Late, γ †" in text
    assert "EV of tasks † (%)" in text
    assert "not in the paper" in text
    # The rule and what else it accepts: neither is 20.5 near 22.7 ± 1.3, nor 22.8 near
    # 26.7.
    assert "tol = 0.5 points" in text
    assert "of 2 pairs" in text
    assert "0 (0%) reproduced" in text


def test_the_quick_tier_shows_both_numbers_without_a_verdict():
    table = build_table(make(values=VALUES, tier="quick"), SPEC)
    text = table.markdown()
    assert "| Alone & co | 22.7 ± 1.3<br>22.8 ± 0.3 | 15.0 ± 7.1" in text
    assert "different" not in text
    assert "tol" not in text
    assert "Not judged (quick): repeats, grid or data are reduced" in text
    judged = table.cells[table.cells["in_paper"]]
    assert set(judged["verdict"]) == {"not judged (quick)"}


def test_repeats_are_told_once_or_in_every_cell(table):
    assert table.notes[0] == "Numbers are mean ± standard deviation over 2 repeats."
    more = [*VALUES[:2], ("alone", "task_mean", [0.1, 0.2, 0.3])]
    table = build_table(make(values=more), SPEC)
    assert table.notes[0].endswith("over repeats (number of repeats).")
    assert table.body[0][1:] == [
        "22.7 ± 1.3\n22.8 ± 0.3 (n = 2) ✓",
        "20.0 ± 10.0 (n = 3)",
    ]


def test_missing_numbers_say_why(table):
    body = {line[0]: line for line in table.body}
    assert body["Late, γ †"][1] == "no data: not run in this tier"
    assert body["Joint"][-1] == "no data: no scores"


def test_long_reasons_go_below_the_table():
    reason = "data set 'school' is not available: give the folder of a mirror"
    table = build_table(make(values=[], reason=reason), SPEC)
    assert table.cells["reproduced"].isna().all()
    assert set(table.cells.loc[table.cells["in_paper"], "verdict"]) == {"no data"}
    assert table.body[0][1] == "22.7 ± 1.3\nno data (see below)"
    assert f"No data: {reason}" in table.notes
    assert set(table.cells.loc[table.cells["in_paper"], "rule"]) == {reason}
    assert set(table.cells["data"]) == {""}


def test_latex_is_escaped(table):
    text = table.latex()
    assert r"Alone \& co & \makecell[l]{22.7 $\pm$ 1.3 \\ 22.8" in text
    assert r"(\%)" in text
    assert r"Late, $\gamma$ $^\dagger$" in text
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    columns = {line.replace(r"\&", "").count("&") for line in body}
    assert columns == {len(table.header) - 1}


@pytest.mark.parametrize("paper_id", load_run_config().papers)
def test_configured_tables_are_plain_latex(paper_id, tmp_path):
    config = load_paper(paper_id, "paper")
    folder = PaperFolder(tmp_path)
    pd.DataFrame(columns=list(COLUMNS)).to_csv(folder.scores)
    context = load_context(config, folder)
    raw = {}
    for name, artefact in config.artefacts.items():
        if isinstance(artefact, AnyTable) and not isinstance(artefact, StepTable):
            lines = build(context, artefact).latex().splitlines()
            shown = "".join(line for line in lines if not line.startswith("%"))
            raw[name] = {char for char in shown if not char.isascii()}
    assert not any(raw.values()), raw


def test_a_selector_that_matches_several_levels_is_refused():
    context = make(values=VALUES)
    twice = context.scores.assign(n_tasks=10)
    both = pd.concat([context.scores, twice])
    with pytest.raises(ValueError, match=r"n_tasks.*139.*10"):
        build_table(replace(context, scores=both), SPEC)


def test_a_cell_without_a_published_number_is_refused():
    rows = SPEC.rows | {"Nobody": {"method": "joint"}}
    spec = SPEC.model_copy(update={"rows": rows})
    with pytest.raises(KeyError, match="Nobody"):
        build_table(make(values=VALUES), spec)


LOST = "lost in our copy"


def test_lost_and_ambiguous_numbers_are_marked():
    unsure = {"value": [np.nan, 26.7], "status": [LOST, "ambiguous"]}
    unsure["alternative"] = [np.nan, 20.5]
    body = build_table(make(values=VALUES, **unsure), SPEC).body
    assert body[0][1] == "lost\n22.8 ± 0.3"
    assert body[1][1] == "26.7 (ambiguous)\n20.5 ± 0.7 ✗"


def test_quoted_numbers_carry_their_whole_selector():
    quoted = of(Quoted, {
        "file": "t.csv", "unit": "%", "scale": 100, "tolerance": {"relative": 0.05},
        "cells": [
            {"row": "Joint", "column": "EV",
             "where": {"experiment": "school", "method": "joint",
                       "metric": "explained_variance"}},
        ],
    })  # fmt: skip
    cells, acceptance = build_quoted(make(values=VALUES), quoted)
    assert cells.loc[0, "reproduced"] == pytest.approx(20.5)
    assert cells.loc[0, "verdict"] == "different"
    assert acceptance == "no other cell to test the rule on"


def test_mean_sd_has_no_spread_of_one_observation_and_few_decimals_if_large():
    assert mean_sd(1.234, 0.5, 3, 2) == "1.23 ± 0.50 (n = 3)"
    texts = [mean_sd(mean, 0.0, 1) for mean in (9.99, -9.99, 10.0, -12.0)]
    assert texts == [f"{each} (n = 1)" for each in ("9.990", "-9.990", "10.0", "-12.0")]


@pytest.mark.parametrize(
    ("tolerance", "unit", "text"),
    [
        ({"absolute": 0.5}, "%", "0.5 points"),
        ({"absolute": 1}, "%", "1 point"),
        ({"absolute": 1}, "s", "1 s"),
        ({"absolute": 1}, "", "1"),
        ({"relative": 0.05}, "%", "5% of the published value"),
    ],
)
def test_a_tolerance_in_words(tolerance, unit, text):
    assert tolerance_text(Tolerance(**tolerance), unit) == text


def test_an_added_method_joins_the_table_marked_as_untuned(paper, results):
    config = with_method(paper, "survey", "package.module:Mine")
    table = build_table(load_context(config, results), config.artefacts["table_1"])
    assert "Mine (untuned)" in set(table.cells["row"])
