import json

import numpy as np
import pytest
from made_scores import made_context, made_row
from scipy import stats

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.papers.jebara2011 import steps

REPEATS = 6


@pytest.fixture(scope="module")
def of():
    paper = load_paper("jebara2011", "paper")
    blank = made_row("", "", "", 0)
    return lambda rows: made_context(paper, [blank | row for row in rows])


def test_both_aucs_of_heart(of):
    rng = np.random.default_rng(0)
    values = rng.random((3, 2, REPEATS))
    sides = [
        ("pooled_cubic", ""),
        ("independent_cubic", ""),
        ("adaptive_pooling", json.dumps({"alpha": 1e5})),
    ]
    rows = [
        {"experiment": "heart_pooling", "method": method, "setting": setting,
         "metric": metric, "repeat": r, "value": values[k, m, r]}
        for k, (method, setting) in enumerate(sides)
        for m, metric in enumerate(("auc", "auc_pooled"))
        for r in range(REPEATS)
    ]  # fmt: skip
    table = steps.heart_aucs(of([*rows, rows[0] | {"method": "floor", "value": 0.5}]))
    assert list(table["method"]) == [
        "Independent SVMs (cubic)",
        "Pooled SVM (cubic)",
        "MED adaptive pooling, log(1 + α) = 11.5",
    ]
    last = table.iloc[-1]
    assert last["AUC of all patients"] == pytest.approx(values[2, 1].mean())
    reference = stats.ttest_rel(values[2, 1], values[0, 1]).pvalue
    assert last["p, AUC of all patients"] == pytest.approx(reference)
    assert last["n"] == REPEATS


def test_sweeps_are_timed_as_a_whole_and_counted_one_by_one(of):
    rows = []
    for size in (20, 40, 60):
        at = {"experiment": "run_time", "metric": "auc", "train_size": size}
        svm = {"method": "independent_features_1", "fit_seconds": 0.5, "n_iter": 1}
        rows.append(at | svm)
        for alpha, seconds, n_iter in ((0.0, size, 1), (0.3, 1.0, 4), (1.0, 0.0, size)):
            setting = json.dumps({"relative_alpha": alpha})
            sweep = {"fit_seconds": seconds, "n_iter": n_iter, "setting": setting}
            rows.append(at | sweep | {"method": "algorithm_1_features_1"})
    (row,) = steps.sweeps_over_alpha(of(rows)).to_dict("records")
    assert (row["data"], row["C"], row["ϖ"]) == ("Dermatology", 1.0, 1e-3)
    assert row["n"] == 3
    assert row["iterations, fewest"] == 4
    assert row["iterations, most"] == 60
    assert row[steps.WITHIN] == 0.3
    # Without the 20 samples whose first fit loads compiled code.
    assert row["times the SVMs, median"] == pytest.approx((82 + 122) / 2)
    assert row["times the SVMs, most"] == pytest.approx(122)
