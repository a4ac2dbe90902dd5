import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from configured import changed
from made_scores import made_context, published_numbers

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.documents import config_dir
from mtmkl_suite.judge.reach import COLUMNS, WHOLE, WITHIN_REACH
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.report.artefacts import printed
from mtmkl_suite.report.published_reach import (
    Marks,
    Reach,
    published_counts,
    read_reach,
)
from mtmkl_suite.run.folders import record_folder

PAPER = "argyriou2008"
ZERO_ONE = "Labels of Dermatology: 0 and 1, cut at ½"
DIFFERENT = "MTL-FEAT (linear)"


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """The published results of a paper, with a folder for its record."""
    top = tmp_path_factory.mktemp("top")
    place = top / "config" / "papers" / PAPER
    shutil.copytree(config_dir() / "papers" / PAPER, place)
    config = changed(load_paper(PAPER, "paper"), {"published": place / "published"})
    scores = record_folder(load_paper(PAPER, "paper")) / "scores.csv.gz"
    folder = record_folder(config)
    folder.mkdir(parents=True)
    assert folder == top / "figures" / PAPER
    return made_context(
        config, read_scores(scores), published=published_numbers(config)
    )


@pytest.fixture
def reach(context):
    """Reach of some numbers and claims, as in a published ``reach.csv``."""
    path = record_folder(context.config) / "reach.csv"
    numbers = [
        ("table_3", DIFFERENT, "Misclassifications", "labels=zero_one", WITHIN_REACH),
        ("table_3", "Independent", "Misclassifications", "", "not tried"),
        ("figure_3", "learned 3", "row norm", "gamma=at_0_03", "with test data only"),
        ("figure_3", "learned 4", "row norm", "renamed=since", WITHIN_REACH),
        ("figure_3", "learned 1", "row norm", "gamma=at_0_01", "out of reach"),
    ]
    rows = [
        dict(zip(("artefact", "row", "column", "nearest", "status"), each, strict=True))
        | {"kind": "number", "published": 1.0, "distance": 0.25}
        | {"others": 4, "others_within": 1}
        for each in numbers
    ]
    claim = {"artefact": "claims", "column": "", "kind": "claim"}
    claim |= dict.fromkeys(("n_readings", "holds", "undecided", "does_not_hold"), 0)
    rows += [
        {**claim, "row": "moved", "note": "holds under a; b"}
        | {"n_readings": 5, "holds": 2, "does_not_hold": 3},
        {**claim, "row": "by_test_data", "note": "holds under c"},
        {**claim, "row": "not_tried", "status": "not tried"},
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table.astype(dict.fromkeys(WHOLE, "Int64")).to_csv(path, index=False)
    yield path
    path.unlink()


def different(context, name):
    cells = printed(context, name)[1]
    return cells.loc[cells["verdict"] == "different", "row"].tolist()


def test_nothing_is_shown_before_readings_are_published(context):
    assert read_reach(context.config, "table_3") == {}
    assert published_counts(record_folder(context.config)) == ""
    table, _ = printed(context, "table_3")
    assert not any("reach" in text for row in table.body for text in row)
    assert not any("eading" in note for note in table.notes)


@pytest.mark.usefixtures("reach")
def test_a_different_number_has_its_reach_beside_it(context):
    assert different(context, "table_3") == [DIFFERENT]
    table, _ = printed(context, "table_3")
    # A number that is not different any more needs none.
    marked = [row[0] for row in table.body if "reach" in " ".join(row)]
    assert marked == [DIFFERENT]
    assert any("✗ within reach (a)" in " ".join(row) for row in table.body)
    assert any(
        f"from our published record; a: {ZERO_ONE}." in note for note in table.notes
    )


@pytest.mark.usefixtures("reach")
def test_numbers_quoted_in_the_text_have_it_too(context):
    shown = different(context, "figure_3")
    assert {"learned 3", "learned 4"} <= set(shown)
    cells = printed(context, "figure_3")[1]
    marks = Marks(read_reach(context.config, "figure_3"), cells)
    beside = dict(zip(cells["row"], marks.texts(cells), strict=True))
    assert beside["learned 1"] == "out of reach by 0.25"
    assert beside["learned 3"] == "with test data only (a)"
    assert beside["learned 4"] == "within reach (b)"
    assert marks.notes()[-1].endswith(
        "; b: renamed=since. The same readings would also bring 3 of 12 (25%) other "
        "numbers printed in the same rows within the rule."
    )


@pytest.mark.usefixtures("reach")
def test_a_reduced_run_shows_none(context):
    quick = replace(context, config=changed(context.config, {"tier": "quick"}))
    table, _ = printed(quick, "table_3")
    assert not any("reach" in text for row in table.body for text in row)


def test_counts_leave_out_claims_and_numbers_that_are_counted_apart(reach):
    artefacts = {"artefact": ["table_3", "figure_3"]}
    verdicts = pd.DataFrame(artefacts | {"derived": [False, True]})
    verdicts.to_csv(reach.parent / "verdicts.csv")
    assert published_counts(reach.parent) == "1 within reach, 1 not tried"


@pytest.mark.usefixtures("reach")
def test_claims_have_their_readings_by_verdict(context):
    found = read_reach(context.config, "claims")
    assert {name: each.text() for (name, _), each in found.items()} == {
        "moved": "holds under 2, does not hold under 3 of 5; holds under a; b",
        "by_test_data": "holds under c",
    }


def test_only_different_numbers_are_marked():
    cells = pd.DataFrame(
        {"row": ["x", "y", "z"], "column": "c"}
        | {"verdict": ["different", "close", "different"]}
    )
    known = {
        ("x", "c"): Reach("not tried"),
        ("y", "c"): Reach(WITHIN_REACH, "a reading", 6, 3),
    }
    marks = Marks(known, cells)
    assert marks.texts(cells) == ["not tried", "", ""]
    assert marks.notes() == ["Other readings, from our published record."]
    assert Marks({}, cells).notes() == []


def test_published_reach_names_readings_that_exist():
    for page in (config_dir().parent / "figures").glob("*/reach.csv"):
        config = load_paper(page.parent.name, "paper")
        assert record_folder(config).samefile(page.parent)
        for artefact in pd.read_csv(page)["artefact"].unique():
            found = read_reach(config, artefact).values()
            # A reading that the configuration lacks keeps its id, factor=alternative.
            ids = [each.reading for each in found if re.search(r"\w=\w", each.reading)]
            assert ids == [], Path(page)


def test_the_page_of_a_paper_quotes_how_much_its_reach_means():
    top = config_dir().parent
    reach = pd.read_csv(top / "figures" / "yousefi2015" / "reach.csv")
    page = (top / "docs" / "papers" / "yousefi2015.md").read_text(encoding="utf-8")
    also, others = (int(reach[name].sum()) for name in ("others_within", "others"))
    share = f"{also / others:.0%}".replace("%", " %")
    assert f"{also} of {others} ({share})" in " ".join(page.split())
