import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from mtmkl.documents import config_dir
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.report.pages.build import printed
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.record.explained import (
    Explained,
    Marks,
    explained_counts,
    read_explained,
    record_folder,
)

PAPER = "argyriou2008"
ZERO_ONE = "Labels of Dermatology: 0 and 1, cut at ½"
DIFFERENT = "MTL-FEAT (linear)"


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """The published results of a paper, with explanations of some numbers."""
    top = tmp_path_factory.mktemp("top")
    place = top / "config" / "papers" / PAPER
    shutil.copytree(config_dir() / "papers" / PAPER, place)
    config = {**load_paper(PAPER, "paper"), "published": str(place / "published")}
    scores = record_folder(load_paper(PAPER, "paper")) / "scores.csv.gz"
    folder = record_folder(config)
    folder.mkdir(parents=True)
    assert folder == top / "figures" / PAPER
    published = {p.name: pd.read_csv(p) for p in (place / "published").glob("*.csv")}
    return Context(config, read_scores(scores), {}, {}, published)


@pytest.fixture
def explanations(context):
    path = record_folder(context.config) / "explanations.csv"
    pd.DataFrame(
        [
            ("table_3", DIFFERENT, "Misclassifications", "labels=zero_one", "partly"),
            (
                "table_3",
                "Independent",
                "Misclassifications",
                "",
                "unexplained",
            ),
            ("figure_3", "learned 3", "row norm", "gamma=at_0_03", "explained"),
            ("figure_3", "learned 4", "row norm", "renamed=since", "explained"),
            ("table_2", "Independent", "rank", "", "follows"),
            ("claims", "school_multitask", "", "labels=zero_one", "partly"),
        ],
        columns=["artefact", "row", "column", "reading", "status"],
    ).to_csv(path, index=False)
    yield path
    path.unlink()


def different(context, name):
    cells = printed(context, name)[1].verdicts
    return cells.loc[cells["verdict"] == "different", "row"].tolist()


def test_nothing_is_shown_before_readings_are_published(context):
    assert read_explained(context.config, "table_3") == {}
    assert explained_counts(record_folder(context.config)) == ""
    table, written = printed(context, "table_3")
    assert "other readings" not in table.header
    assert not any("eading" in note for note in written.tables[0].notes)


@pytest.mark.usefixtures("explanations")
def test_a_different_number_has_the_reading_that_explains_it_beside_it(context):
    assert different(context, "table_3") == [DIFFERENT]
    table, written = printed(context, "table_3")
    assert list(written.tables[0].rows) == table.body
    place = table.header.index("other readings")
    assert table.header[place - 1] == "verdict"
    beside = {line[0]: line[place] for line in table.body}
    # A number that is not different any more needs no explanation.
    assert beside == {row: "partly by a" if row == DIFFERENT else "" for row in beside}
    assert any(f"as published; a: {ZERO_ONE}." in note for note in table.notes)


@pytest.mark.usefixtures("explanations")
def test_numbers_quoted_in_the_text_have_it_too(context):
    shown = different(context, "figure_3")
    assert {"learned 3", "learned 4"} <= set(shown)
    (table,) = printed(context, "figure_3")[1].tables
    assert table.header[-1] == "other readings"
    beside = {line[0].rpartition(", ")[2]: line[-1] for line in table.rows}
    assert (beside["learned 3"], beside["learned 4"]) == (
        "explained by a", "explained by b",
    )  # fmt: skip
    assert table.notes[-1].endswith("; b: renamed=since.")


@pytest.mark.usefixtures("explanations")
def test_a_reduced_run_explains_nothing(context):
    quick = replace(context, config={**context.config, "tier": "quick"})
    table, _ = printed(quick, "table_3")
    assert "other readings" not in table.header


def test_counts_leave_out_claims(explanations):
    assert explained_counts(explanations.parent) == (
        "2 explained, 1 partly, 1 unexplained"
    )


@pytest.mark.usefixtures("explanations")
def test_claims_have_the_label_of_their_reading(context):
    found = read_explained(context.config, "claims")["school_multitask", ""]
    assert found.text() == f"partly by {ZERO_ONE}"


def test_only_different_numbers_are_marked():
    cells = pd.DataFrame(
        {"row": ["x", "y", "z"], "column": "c"}
        | {"verdict": ["different", "close", "different"]}
    )
    known = {
        ("x", "c"): Explained("follows"),
        ("y", "c"): Explained("explained", "a reading"),
    }
    marks = Marks(known, cells)
    assert marks.texts(cells) == ["follows from others", "", ""]
    assert "a reading" not in marks.notes()[0]
    assert Marks({}, cells).notes() == []


def test_published_explanations_name_readings_that_exist():
    for page in (config_dir().parent / "figures").glob("*/explanations.csv"):
        config = load_paper(page.parent.name, "paper")
        assert record_folder(config) == page.parent
        for artefact in pd.read_csv(page)["artefact"].unique():
            found = read_explained(config, artefact).values()
            # A reading that the configuration lacks keeps its id, factor=alternative.
            ids = [each.reading for each in found if re.search(r"\w=\w", each.reading)]
            assert ids == [], Path(page)
