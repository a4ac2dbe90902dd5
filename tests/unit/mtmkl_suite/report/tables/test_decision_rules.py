import pandas as pd
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.tables.decision_rules import claim_tests_of, number_rules
from mtmkl_suite.run.folders import record_folder


def test_tables_and_quoted_numbers_have_their_tolerances():
    config = load_paper("argyriou2008", "paper")
    verdicts = pd.read_csv(record_folder(config) / "verdicts.csv")
    rules = {rule.artefact: rule for rule in number_rules(config, "A", verdicts)}
    assert rules["Table 3"].tolerance == "1 pairs"
    assert rules["Table 1"].tolerance == "5% of the published value"
    assert rules["Figure 3, in the text"].tolerance == "5% of the published value"
    assert sum(rule.n for rule in rules.values()) == len(verdicts)


def test_every_test_of_claims_is_described_and_counted():
    claims = pd.DataFrame(
        {
            "test": ["trend", "trend", "ratio"],
            "verdict": ["holds", "undecided", "holds"],
        }
    )
    tests = {test.name: test for test in claim_tests_of([claims, claims.iloc[:1]])}
    assert list(tests) == [name.replace("_", " ") for name in TESTS]
    assert (
        "the rows that “choose” names" in tests["paired difference chosen"].decides[1]
    )
    assert tests["trend"].found["holds"] == 2
    assert tests["trend"].found["undecided"] == 1
    assert sum(tests["equivalence"].found.values()) == 0
    for test in tests.values():
        assert test.decides
        assert not [text for text in test.decides if "`" in text or "*" in text]


@pytest.mark.parametrize("tables", [[], [pd.DataFrame({"test": [], "verdict": []})]])
def test_without_claims_nothing_is_counted(tables):
    assert all(sum(t.found.values()) == 0 for t in claim_tests_of(tables))
