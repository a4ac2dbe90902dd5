import pandas as pd
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.pages.verdicts import answer, claim_tests_of, number_rules
from mtmkl_suite.report.record.published_reach import record_folder
from mtmkl_suite.report.record.record import RECORD, RUN


def verdicts(*names, derived=False, status="legible", source=RUN):
    return pd.DataFrame(
        {"verdict": names, "derived": derived, "status": status, "source": source}
    )


def claims(*names, source=RUN):
    return pd.DataFrame({"verdict": pd.Series(names, dtype=str), "source": source})


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["reproduced", "close"], "Yes"),
        (["reproduced"] * 3 + ["different"], "Mostly"),
        (["reproduced"] * 2 + ["different"] * 2, "Partly"),
        (["reproduced"] + ["different"] * 4, "No"),
        (["no data", "no data"], "–"),
    ],
)
def test_numbers_decide(names, word):
    assert answer(verdicts(*names), claims()).word == word


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["holds", "holds"], "Yes"),
        (["holds", "undecided", "undecided"], "Undecided"),
        (["holds", "undecided"], "Yes but"),
        (["does not hold"], "No"),
    ],
)
def test_claims_decide_without_numbers(names, word):
    expected = "Mostly" if word == "Yes but" else word
    assert answer(verdicts(), claims(*names)).word == expected


def test_the_sentence_has_both():
    numbers = pd.concat(
        [
            verdicts("reproduced", "close", "different"),
            verdicts("no data", status="illegible"),
            verdicts("different", "different", derived=True),
        ]
    )
    found = answer(numbers, claims("holds", "undecided", "does not hold", "holds"))
    assert found.sentence == (
        "2 of 3 published numbers are reproduced or close, 1 more cannot be read in "
        "the paper; 2 of 4 claims hold, 1 is undecided, 1 does not."
    )
    assert found.numbers["different"] == 1


def test_one_of_a_kind_is_in_the_singular():
    found = answer(verdicts("different"), claims("holds"))
    assert found.sentence == (
        "The published number is not reproduced or close; 1 of 1 claim holds."
    )


def test_without_verdicts_the_sentence_says_why():
    empty = answer(verdicts(), claims())
    assert empty.sentence.startswith("The paper prints no number")
    quick = answer(verdicts("not judged (quick)"), claims("not judged (quick)"))
    assert quick.sentence.startswith("Not judged")
    assert answer(verdicts("no data"), claims()).sentence == "No data."


def test_the_source_is_kept():
    assert not answer(verdicts("close"), claims()).is_of_record
    assert answer(verdicts("close"), claims("holds", source=RECORD)).is_of_record


def test_tables_and_quoted_numbers_have_their_tolerances():
    config = load_paper("argyriou2008", "paper")
    verdicts = pd.read_csv(record_folder(config) / "verdicts.csv")
    rules = {rule["artefact"]: rule for rule in number_rules(config, "A", verdicts)}
    assert rules["Table 3"]["tolerance"] == "1 pairs"
    assert rules["Table 1"]["tolerance"] == "5% of the published value"
    assert rules["Figure 3, in the text"]["tolerance"] == "5% of the published value"
    assert sum(rule["n"] for rule in rules.values()) == len(verdicts)


def test_every_test_of_claims_is_described_and_counted():
    claims = pd.DataFrame(
        {
            "test": ["trend", "trend", "ratio"],
            "verdict": ["holds", "undecided", "holds"],
        }
    )
    tests = {test["name"]: test for test in claim_tests_of([claims, claims.iloc[:1]])}
    assert list(tests) == [name.replace("_", " ") for name in TESTS]
    assert (
        "the rows that “choose” names"
        in tests["paired difference chosen"]["decides"][1]
    )
    assert tests["trend"]["found"]["holds"] == 2
    assert tests["trend"]["found"]["undecided"] == 1
    assert sum(tests["equivalence"]["found"].values()) == 0
    for test in tests.values():
        assert test["decides"]
        assert not [text for text in test["decides"] if "`" in text or "*" in text]


@pytest.mark.parametrize("tables", [[], [pd.DataFrame({"test": [], "verdict": []})]])
def test_without_claims_nothing_is_counted(tables):
    assert all(sum(t["found"].values()) == 0 for t in claim_tests_of(tables))
