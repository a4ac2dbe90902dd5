from types import SimpleNamespace

import pandas as pd

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.report.pages.answers import (
    answer,
    answers_of,
    with_labels,
)


def verdicts(*names, derived=False, status="legible"):
    return pd.DataFrame(
        {
            "verdict": names, "derived": derived, "status": status,
            "row": [f"row {k}" for k in range(len(names))], "column": "error",
            "unit": "%",
            "published": 2.0, "reproduced": [2.0 + k for k in range(len(names))],
        }
    )  # fmt: skip


def claims(*names):
    return pd.DataFrame(
        {
            "verdict": pd.Series(names, dtype=str),
            "quote": [f"{name} {k}." for k, name in enumerate(names)],
        }
    )  # fmt: skip


def test_the_sentence_has_both():
    numbers = pd.concat(
        [
            verdicts("reproduced", "close", "different"),
            verdicts("lost in our copy"),
            verdicts("different", "different", derived=True),
        ]
    )
    numbers = pd.concat([numbers, verdicts("did not run in the paper")])
    found = answer(numbers, claims("holds", "undecided", "does not hold", "holds"))
    assert found.sentence == (
        "2 of 3 published numbers are reproduced or close, 1 lost in our copy, 1 did "
        "not run in the paper; sentences of the paper: 2 hold, 1 undecided, 1 does "
        "not hold."
    )
    assert found.numbers["different"] == 1


def test_what_is_not_on_the_papers_data_says_so():
    found = answer(verdicts("close"), claims(), ["stand-in", "original", "stand-in"])
    assert found.sentence == (
        "1 of 1 published numbers are reproduced or close, on stand-in data."
    )


def test_what_can_be_read_in_two_ways_is_left_out_of_differences():
    numbers = verdicts("close", "different", "different")
    numbers.loc[2, "status"] = "ambiguous"
    found = answer(numbers, claims())
    assert found.differences == (
        "Ours − published: median +0.50, from +0.0 to +1.0 points (1 ambiguous left "
        "out)."
    )
    assert answer(numbers[2:], claims()).differences == "Ours − published: +2.0 points."


def test_differences_have_their_unit_and_sign():
    numbers = verdicts("reproduced", "close", "different", "no data")
    assert answer(numbers, claims()).differences == (
        "Ours − published: median +1.0, from +0.0 to +2.0 points."
    )
    below = verdicts("close").assign(reproduced=1.5, unit=float("nan"))
    assert answer(below, claims()).differences == "Ours − published: −0.50."
    assert answer(verdicts("no data"), claims()).differences == ""


def test_without_verdicts_the_sentence_says_why():
    empty = answer(verdicts(), claims())
    assert empty.sentence.startswith("The paper prints no number")
    quick = answer(verdicts("not judged (quick)"), claims("not judged (quick)"))
    assert quick.sentence.startswith("Not judged")
    assert answer(verdicts("no data"), claims()).sentence == "No data."


def test_ranked_methods_have_one_name():
    config = load_paper("yousefi2015", "paper")
    cells = pd.DataFrame(
        {"artefact": ["table_1", "table_1", "table_2"], "column": ["Our Method"] * 3}
    )
    cells.loc[1, "column"] = "STL"
    names = list(with_labels(cells, config)["column"])
    assert names == ["Group-specific sharing", "STL", "Group-specific sharing"]


def test_each_artefact_has_an_answer():
    numbers = verdicts("close", "different").assign(artefact=["table_1", "figure_2"])
    of_claims = claims("holds", "does not hold").assign(evidence=["figure_2", ""])
    artefacts = dict.fromkeys(
        ("table_1", "figure_2", "table_9"), SimpleNamespace(shown=["e"])
    )
    config = SimpleNamespace(artefacts=artefacts)
    context = SimpleNamespace(config=config, origin=lambda experiment: "original")
    found = answers_of(context, numbers, of_claims)
    assert found["table_1"].sentence.startswith("1 of 1 published numbers")
    assert (
        found["figure_2"].claims["holds"] == found["figure_2"].numbers["different"] == 1
    )
    assert not found["table_9"].is_tested
