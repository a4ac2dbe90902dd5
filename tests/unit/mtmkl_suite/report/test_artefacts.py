import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from compared_methods import UNPUBLISHED as COMPARED
from configured import artefact_of
from matplotlib.figure import Figure
from ranked_tables import RANKING, TESTS, context

from mtmkl_suite.config.models import ArtefactsFile
from mtmkl_suite.documents import validated
from mtmkl_suite.report.artefacts import (
    LAYOUTS,
    build,
    write_figure_files,
)
from mtmkl_suite.report.figures.drawing import figure_style
from mtmkl_suite.run.folders import PaperFolder


def draw():
    with figure_style():
        figure = Figure(figsize=(3, 2))
        left, right = figure.subplots(1, 2)
        left.plot([0, 1], [1, 0], label="γ")
        left.fill_between([0, 1], [0, 0], [1, 1])
        left.legend()
        right.imshow(np.eye(3))
    return figure


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    numbers = pd.DataFrame({"x": [0.1, 1.0]})
    for name in ("one", "two"):
        write_figure_files(PaperFolder(tmp_path / name), "figure_1", draw(), numbers)
    for ending in ("svg", "pdf", "csv"):
        one, two = (
            PaperFolder(tmp_path / name).artefact("figure_1", ending).read_bytes()
            for name in ("one", "two")
        )
        assert one == two, ending
    pdf = PaperFolder(tmp_path / "one").artefact("figure_1", "pdf")
    assert b"CreationDate" not in pdf.read_bytes()


def test_svg_is_self_contained(tmp_path):
    folder = PaperFolder(tmp_path)
    write_figure_files(folder, "f", draw(), pd.DataFrame(), png_note="quick tier")
    assert folder.artefact("f", "png").read_bytes()[1:4] == b"PNG"
    svg = folder.artefact("f", "svg").read_text()
    assert "<text" not in svg  # glyphs are outlines: no font is needed
    assert 'href="http' not in svg
    assert "<dc:date>" not in svg


OF_A_STEP = artefact_of({
    "kind": "table", "layout": "step", "title": "Audited", "experiments": [],
    "steps": ["audit"], "notes": ["Numbers as printed."],
})  # fmt: skip


def test_layouts_are_those_of_the_models():
    compared = {table.layout: table for table in COMPARED}
    tables = {"table_1": RANKING, "table_2": TESTS, "table_audit": OF_A_STEP}
    document = {"artefacts": {k: v.given() for k, v in (tables | compared).items()}}
    validated(ArtefactsFile, document, source="here")
    layouts = {"cells", "ranking", "rank_tests", "step", "reach", "bounds", *compared}
    assert set(LAYOUTS) == layouts


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
    unmarked = [[re.sub(" [✓≈✗]", "", text) for text in row] for row in full.body]
    assert unmarked == table.body
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
