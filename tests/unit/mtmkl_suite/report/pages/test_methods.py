import json
import math

import numpy as np
import pandas as pd
import pytest
from configured import paper_of

from mtmkl.methods import REGISTRY
from mtmkl_suite.evaluation.cells import COLUMNS
from mtmkl_suite.report.pages.methods import method_uses, problem_in_words, totals

CONFIG = paper_of({
    "paper": {"id": "p"},
    "protocols": {},
    "methods": {
        "feat": {
            "label": "Features",
            "class": "MultiTaskFeatureLearning",
            "params": {"tol": 1e-3},
            "grid": {"gamma": [0.1, 1.0, 10.0]},
            "selection": "common",
        },
        "kernels": {
            "label": "Kernels",
            "class": "IndependentSVM",
            "grid": {"kernels": [[{"name": "linear"}],
                                 [{"name": "gaussian", "width": 2.0}]]},
            "selection": "common",
        },
        "floor": {"label": "Floor", "class": "TaskMeanControl", "selection": "none"},
    },
    "experiments": {
        "one": {
            "title": "The first",
            "datasets": {"name": "digits"},
            "methods": [{"method": "feat"}, {"method": "kernels"}, {"method": "floor"}],
        },
        "two": {
            "title": "The second",
            "datasets": {"name": "digits"},
            "methods": [{"method": "feat"}],
        },
    },
})  # fmt: skip


def row(experiment, method, repeat, params, gap, seconds, **more):
    cell = dict.fromkeys(COLUMNS, 0) | {
        "experiment": experiment, "dataset": "digits", "method": method,
        "repeat": repeat, "setting": "", "task": "all", "metric": "accuracy",
        "value": 0.5, "params": json.dumps(params) if params else "", "gap": gap,
        "fit_seconds": seconds, "train_size": 10,
    }  # fmt: skip
    return cell | more


@pytest.fixture(scope="module")
def uses():
    gaussian = {"kernels": [{"name": "gaussian", "width": 2.0}]}
    rows = [
        row("one", "feat", 0, {"gamma": 0.1}, 1e-4, 1.0),
        # Of the same fit: another metric, and a single task.
        row("one", "feat", 0, {"gamma": 0.1}, 1e-4, 1.0, metric="auc"),
        row("one", "feat", 0, {"gamma": 0.1}, 1e-4, 1.0, task="3"),
        row("one", "feat", 1, {"gamma": 0.1}, 1e-2, 4.0),
        row("one", "feat", 2, {"gamma": 10.0}, 1e-3, 2.0),
        row("one", "feat", 3, {"gamma": 1.0}, 0.0, 3.0, train_size=20),
        row("one", "feat", 4, {}, math.nan, 0.0, metric="failed"),
        row("one", "kernels", 0, gaussian, 1e-5, 1.0),
        row("one", "floor", 0, {}, math.nan, 0.5),
        row("two", "feat", 0, {"gamma": 1.0}, 0.5, 7.0),
    ]
    scores = pd.DataFrame(rows, columns=list(COLUMNS))
    return {
        (use.experiment, use.label): use
        for use in method_uses(paper_of(CONFIG), "P 2000", scores, "this run")
    }


def test_certificates_and_seconds_are_counted_by_fit(uses):
    use = uses["The first", "Features"]
    assert use.n_fits == 4
    assert use.tolerance == 1e-3
    # 1e-4, 1e-3 and 0 are within it, 1e-2 is not.
    assert use.share_within == 0.75
    assert use.worst_gap == 1e-2
    assert use.median_seconds == 2.5
    assert use.total_seconds == 10.0


def test_what_has_no_certificate_says_nothing_of_one(uses):
    floor = uses["The first", "Floor"]
    assert math.isnan(floor.share_within)
    assert math.isnan(floor.worst_gap)
    assert math.isnan(floor.tolerance)
    assert floor.choices == []


def test_choices_are_added_up_over_train_sizes(uses):
    (choice,) = uses["The first", "Features"].choices
    assert (choice.parameter, choice.n) == ("gamma", 4)
    assert choice.chosen.startswith("0.1 (2), ")
    assert choice.at_low_end == 0.5
    assert choice.at_high_end == 0.25


def test_kernels_are_chosen_in_words(uses):
    (choice,) = uses["The first", "Kernels"].choices
    assert choice.chosen == "gaussian (width 2) (1)"
    assert math.isnan(choice.at_low_end)


def test_totals_are_those_of_all_fits(uses):
    mine = [uses["The first", "Features"], uses["The second", "Features"]]
    (total,) = totals(mine)
    assert (total.source, total.n_fits, total.gaps.size) == ("this run", 5, 5)
    assert np.isclose(total.share_within, 3 / 5)
    assert total.worst_gap == 0.5
    assert total.median_seconds == 3.0
    assert total.total_seconds == 17.0


@pytest.mark.parametrize("name", REGISTRY)
def test_every_method_says_what_its_problem_is(name):
    blocks = problem_in_words(name)
    assert blocks[0][0] == "text"
    assert {kind for kind, _ in blocks} <= {"text", "equation", "tex"}
    for kind, text in blocks:
        assert (kind == "tex") == (text == "")
        if kind == "text":
            assert ":class:" not in text
            assert "`" not in text
            assert "Parameters" not in text


def test_equations_stay_as_typed():
    blocks = problem_in_words("MultiTaskFeatureLearning")
    equations = [text for kind, text in blocks if kind == "equation"]
    assert "Σ_t ||y_t − X_t U a_t||² + γ ||A||²_{2,1}," in equations
    assert ("tex", "") in problem_in_words("GroupFeatureSharing")
