import pandas as pd
import pytest

from mtmkl_suite.judge.claims import COLUMNS, SETTING_COLUMNS
from mtmkl_suite.report.pages.claims import sentence_table, sentences

ROW = {
    "id": "best", "section": "4", "line": 12, "quote": "it is best",
    "printed": "by 2 %", "tested": "It is.", "evidence": "figure_1 table_heart",
    "quantifier": "all",
    "verdict": "undecided", "own_verdict": "holds", "new_verdict": "undecided",
    "settings": 3, "own_holds": 3, "new_holds": 1, "effect": 0.0205,
    "effect_low": -0.001, "effect_high": 0.04, "measure": "difference", "metric": "auc",
}  # fmt: skip


def shown(**changes):
    claims = pd.DataFrame([dict.fromkeys(COLUMNS) | ROW | changes])
    numbers = {
        "verdict": "undecided", "own_verdict": "holds", "note": "10 repeats",
        "statistic": 2.5, "p": 0.0001, "interval_low": 0.1, "interval_high": 0.2,
        "rho": 0.5, "tasks_n": 29.0, "tasks_of": "fields", "tasks_p": 0.0031,
        "tasks_verdict": "holds",
    }  # fmt: skip
    row = dict.fromkeys(SETTING_COLUMNS, float("nan")) | numbers
    settings = pd.DataFrame([row | {"id": "best", "setting": "A"}])
    return sentences(claims, settings, {"best": "never"})


def test_both_verdicts_stand_beside_each_other():
    table = sentence_table(shown())
    assert table.rows == [
        [
            "“it is best” (l. 12)\nTested: It is.",
            "holds (in 3 of 3 settings)",
            "undecided (holds in 1 of 3 settings)",
            "+2.1 (−0.1 to 4), difference in points of AUC",
            "by 2 %",
            "[Figure 1](#figure_1), [table: heart](#table_heart)",
        ]
    ]
    assert len(table.header) == len(table.rows[0])


@pytest.mark.parametrize(
    ("changes", "own", "effect"),
    [
        ({"settings": 1}, "holds", "+2.1 (−0.1 to 4), difference in points of AUC"),
        ({"effect_low": float("nan"), "metric": "", "measure": "ratio"},
         "holds (in 3 of 3 settings)", "0.0205, ratio"),
        ({"metric": "auc, true_positive_rate_0.1", "settings": 1}, "holds",
         "+2.1 (−0.1 to 4), difference in points of AUC, true positive rate 0.1"),
        ({"metric": "mse", "settings": 1, "measure": "slope"}, "holds",
         "+0.021 (−0.001 to 0.04), slope in mean squared error"),
        ({"effect": 1, "effect_low": 0.7, "effect_high": 1, "settings": 1,
          "measure": "share of best"},
         "holds", "100 % (70 to 100), share of best in AUC"),
        ({"verdict": "no data", "own_verdict": None}, "no data", "–"),
    ],
)  # fmt: skip
def test_one_setting_is_not_counted_and_gaps_have_no_effect(changes, own, effect):
    (row,) = shown(**changes)
    assert (row["own"], row["effect_text"]) == (own, effect)


def test_settings_have_their_results():
    (row,) = shown()
    (tested,) = row["tests"]
    assert row["reach"] == "never"
    assert (tested["setting"], tested["own_verdict"]) == ("A", "holds")
    assert tested["results"] == [
        "statistic 2.5, p < 0.001, interval 0.1 to 0.2",
        "corrected for shared samples (ρ = 0.5): nothing can be tested",
        "over 29 fields, a statement about fields like these: holds (p = 0.0031)",
    ]
