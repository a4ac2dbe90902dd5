import pandas as pd
from configured import paper_of
from made_scores import made_context

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.report.pages.answers import answer, answers_of, with_labels


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
    own = ["reproduced", "close", "different", "lost in our copy"]
    own = verdicts(*own, "did not run in the paper")
    numbers = pd.concat([own, verdicts("different", "different", derived=True)])
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
        "1 of 1 published numbers is reproduced or close, on stand-in data."
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
    assert empty.sentence.startswith("Not judged: no number and")
    quick = answer(verdicts("not judged (quick)"), claims("not judged (quick)"))
    assert quick.sentence.startswith("Not judged")
    assert answer(verdicts("no data"), claims()).sentence == "No data."


def test_ranked_methods_have_one_name():
    config = load_paper("yousefi2015", "paper")
    places = [("table_1", "Our Method"), ("table_1", "STL"), ("table_2", "Our Method")]
    cells = pd.DataFrame(places, columns=["artefact", "column"])
    names = list(with_labels(cells, config)["column"])
    assert names == ["Group-specific sharing", "STL", "Group-specific sharing"]


def test_each_artefact_has_an_answer():
    numbers = verdicts("close", "different").assign(artefact=["table_1", "figure_2"])
    of_claims = claims("holds", "does not hold").assign(evidence=["figure_2", ""])
    names = ("table_1", "figure_2", "table_9")
    config = paper_of({"artefacts": {key: {"kind": "figure"} for key in names}})
    table, figure, other = answers_of(made_context(config), numbers, of_claims).values()
    assert table.sentence.startswith("1 of 1 published numbers")
    assert figure.claims["holds"] == figure.numbers["different"] == 1
    assert not other.is_tested
