import math
from dataclasses import replace

import pandas as pd
import pytest
from compared_methods import UNPUBLISHED as COMPARED
from configured import artefact_of
from ranked_tables import RANKING, TESTS, context

from mtmkl.documents import plain, validated
from mtmkl_suite.config.models import ArtefactsFile
from mtmkl_suite.report.tables.layouts import LAYOUTS, build

OF_A_STEP = artefact_of(
    {
    "kind": "table", "layout": "step", "title": "Audited", "experiments": [],
    "steps": ["audit"], "notes": ["Numbers as printed."],
},
)  # fmt: skip


def test_layouts_are_those_of_the_models():
    compared = {table.layout: table for table in COMPARED}
    tables = {"table_1": RANKING, "table_2": TESTS, "table_audit": OF_A_STEP}
    document = {"artefacts": plain(tables | compared)}
    validated(ArtefactsFile, document, source="here")
    assert set(LAYOUTS) == {"cells", "ranking", "rank_tests", "step", *compared}


@pytest.mark.parametrize("artefact", [RANKING, TESTS])
def test_the_quick_tier_shows_both_numbers_without_a_verdict(artefact):
    table = build(context(tier="quick"), artefact)
    full = build(context(), artefact)
    printed = table.cells[table.cells["in_paper"]]
    assert set(printed["verdict"]) == {"not judged (quick)"}
    assert not printed["rule"].str.contains("readings").any()
    judged = ["verdict", "verdict_with_spread", "rule"]
    pd.testing.assert_frame_equal(
        table.cells.drop(columns=judged), full.cells.drop(columns=judged)
    )
    assert [line for line in full.body if line[2] != "verdict"] == list(table.body)
    notes = " ".join(table.notes)
    assert "Not judged (quick): repeats, grid or data are reduced" in notes
    assert "tol" not in notes
    assert "weaker" not in notes
    assert notes.count("what the printed number measures is uncertain") == (
        artefact is RANKING
    )


def test_a_step_is_shown_as_it_is():
    numbers = pd.DataFrame({"method": ["a", "b"], "printed": [4.71, math.nan]})
    table = build(replace(context(), steps={"audit": numbers}), OF_A_STEP)
    assert list(table.header) == ["method", "printed"]
    assert list(table.body) == [["a", "4.71"], ["b", "–"]]
    assert table.notes == ["Numbers as printed."]


@pytest.mark.parametrize("artefact", [RANKING, TESTS])
def test_files_in_every_format(artefact):
    table = build(context(), artefact)
    assert "| published | " in table.markdown()
    assert table.latex().count(r"\\") == len(table.body) + 1
