import json
import math

import pandas as pd
import pytest
from configured import paper_of
from made_scores import made_context, made_row

from mtmkl_suite.config.models import Variant
from mtmkl_suite.evaluation.cells import COLUMNS
from mtmkl_suite.report.pages.experiments import (
    data_uses,
    experiment_facts,
    gaps_of,
    method_uses,
    options_in_words,
    title_of,
    variant_in_words,
)

DIGITS = {"name": "digits", "vary": {"n_per_class": [10, 20]}}
CONFIG = paper_of({
    "experiments": {
        "a": {"title": "First", "datasets": {"name": "school"}},
        "b": {"title": "Second", "datasets": DIGITS},
        "c": {"title": "Third", "datasets": {"name": "school"}},
    },
})  # fmt: skip
INFOS = {
    "school": {"status": "ok", "title": "School", "digest": "aa"},
    "digits[n_per_class=10]": {"status": "ok", "n": 5},
}


def test_a_data_set_has_its_experiments():
    school, ten, twenty = data_uses(made_context(CONFIG, data_info=INFOS), "P 2000")
    assert school.experiments == ["First", "Third"]
    assert school.info["digest"] == "aa"
    assert ten.variant.id == "digits[n_per_class=10]"
    # A record has sizes alone: the registry knows the rest.
    assert (ten.info["n"], ten.info["status"]) == (5, "ok")
    assert ten.info["licence"]
    assert twenty.info["status"] == "missing"
    assert "digits" in title_of([twenty])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ""),
        ({"bias": True}, "bias: yes"),
        ({"ignore": [], "n_tasks": 3}, "ignore: none; 3 tasks"),
        ({"ignore": ["score", "age"]}, "ignore: score, age"),
        ({"inputs": "unit_range"}, "inputs: unit range"),
        ({"n_per_class": 20, "n_test": 5}, "20 samples per class; 5 for testing"),
    ],
)
def test_options_are_words(options, words):
    assert options_in_words(options) == words


def test_a_file_of_ones_own_is_named_without_its_folder():
    variant = Variant("/home/me/my.csv", {"task": "school", "ignore": ["score"]})
    info = {"title": "my.csv"}
    words = "my.csv (task: school; ignore: score)"
    assert variant_in_words(variant, info) == words
    assert variant_in_words(variant, {}) == words


WITH_GRID = paper_of({
    "protocols": {
        "split": {"kind": "random", "folds": 3, "train_samples": [10, 20]},
    },
    "methods": {
        "feat": {
            "label": "Features",
            "class": "MultiTaskFeatureLearningRegressor",
            "params": {"tol": 1e-3},
            "grid": {"gamma": [0.1, 1.0, 10.0]},
            "selection": "common",
        },
        "kernels": {
            "label": "Kernels",
            "class": "IndependentSVMClassifier",
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
            "protocol": "split",
            "datasets": {"name": "digits"},
            "methods": [{"method": "feat"}],
        },
    },
})  # fmt: skip


def row(experiment, method, repeat, params, gap, seconds, **more):
    cell = made_row(
        experiment, method, "accuracy", 0.5, dataset="digits", repeat=repeat, gap=gap,
        params=json.dumps(params) if params else "", fit_seconds=seconds, train_size=10,
    )  # fmt: skip
    return cell | more


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        ("5.2, Fig. 1", " (sec. 5.2, Fig. 1)"),
        ("classification", ""),
        ("none (ours)", ""),
    ],
)
def test_only_sections_of_a_paper_are_named(section, shown):
    two = WITH_GRID.experiments["two"].model_copy(update={"section": section})
    config = WITH_GRID.model_copy(update={"experiments": {"two": two}})
    rows = [row("two", "feat", repeat, {}, 1e-4, 50.0) for repeat in range(3)]
    facts = experiment_facts(made_context(config, rows), "two")
    assert facts["title"] == "The second" + shown
    assert facts["protocol"] == (
        "split: random, trained on 10, 20 samples, repeats 1, folds 3"
    )
    assert facts["time"] == "3 fits, 2 min 30 s of fitting"
    assert facts["certificates"] == (
        "3 fits with a certificate, largest relative gap 1.0e-04"
    )


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
        for use in method_uses(WITH_GRID, "P 2000", scores)
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
    floor = uses["The first", "Floor"]
    assert all(map(math.isnan, (floor.share_within, floor.worst_gap, floor.tolerance)))
    assert floor.choices == []


def test_choices_are_in_words_and_added_up_over_train_sizes(uses):
    (choice,) = uses["The first", "Features"].choices
    assert (choice["parameter"], choice["n"]) == ("gamma", 4)
    assert choice["chosen"].startswith("0.1 (2), ")
    assert (choice["at_low_end"], choice["at_high_end"]) == (0.5, 0.25)
    (choice,) = uses["The first", "Kernels"].choices
    assert choice["chosen"] == "gaussian (width 2) (1)"
    assert math.isnan(choice["at_low_end"])


def test_what_has_no_scores_is_listed_with_its_reason():
    rows = [
        row("one", "feat", 0, {"reason": "no step is short enough"}, math.nan, 0.0,
            metric="failed"),
        row("one", "floor", 0, {"reason": "two labels only"}, math.nan, 0.0,
            metric="unsupported"),
    ]  # fmt: skip
    assert gaps_of(made_context(WITH_GRID, [*rows, rows[0]])) == [
        ("The first", "Features", "failed", "no step is short enough"),
        ("The first", "Floor", "does not apply", "two labels only"),
    ]
