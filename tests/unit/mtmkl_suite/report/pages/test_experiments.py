import json
import math

import numpy as np
import pandas as pd
import pytest
from configured import changed, paper_of

from mtmkl.methods import REGISTRY
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Variant
from mtmkl_suite.evaluation.cells import COLUMNS
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.report.figures.drawing import equation_image
from mtmkl_suite.report.pages.experiments import (
    _in_section,
    data_sentences,
    data_uses,
    method_uses,
    options_in_words,
    problem_in_words,
    title_of,
    totals,
    variant_in_words,
)
from mtmkl_suite.report.pages.verdicts import with_labels
from mtmkl_suite.report.record.record import read_published_record

CONFIG = paper_of(
    {
        "paper": {"id": "p"},
        "experiments": {
            "a": {"title": "First", "datasets": {"name": "school"}},
            "b": {
                "title": "Second",
                "datasets": {"name": "digits", "vary": {"n_per_class": [10, 20]}},
            },
            "c": {"title": "Third", "datasets": {"name": "school"}},
        },
    }
)
FULL = changed(
    CONFIG,
    {
        "experiments": {
            "a": CONFIG.experiments["a"],
            "d": {"title": "Fourth", "datasets": {"name": "landmine"}},
        },
    },
)
INFOS = {
    "school": {"status": "ok", "title": "School", "digest": "aa"},
    "digits[n_per_class=10]": {"status": "ok", "title": "Digits", "digest": "bb"},
    "digits[n_per_class=20]": {"status": "missing", "title": "Digits", "reason": "no"},
}
PUBLISHED = {"school": {"digest": "aa"}, "digits[n_per_class=10]": {"digest": "cc"},
             "landmine": {"digest": "dd"}}  # fmt: skip


def test_a_data_set_has_its_experiments_and_hashes():
    uses = data_uses(CONFIG, "P 2000", INFOS, published=PUBLISHED, full=FULL)
    school, ten, twenty, landmine = uses
    assert school.experiments == ["First", "Third"]
    assert school.hash_in_words == "aa, as in the published record"
    assert ten.variant.id == "digits[n_per_class=10]"
    assert ten.hash_in_words == "bb; published record: cc"
    assert (twenty.is_here, twenty.hash_in_words) == (False, "")
    # Of the full protocols alone: what the registry knows of it.
    assert (landmine.is_of_run, landmine.experiments) == (False, ["Fourth"])
    assert landmine.hash_in_words == "dd (published record)"
    assert landmine.info["licence"]
    assert title_of([twenty]) == "Digits"


def test_without_a_record_there_are_only_those_of_the_run():
    uses = data_uses(CONFIG, "P 2000", INFOS, published={}, full=None)
    assert [use.is_of_run for use in uses] == [True] * 3
    assert uses[0].hash_in_words == "aa"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ""),
        ({"bias": True}, "bias: yes"),
        ({"ignore": [], "n_tasks": 3}, "ignore: none; 3 tasks"),
        ({"ignore": ["score", "age"]}, "ignore: score, age"),
        ({"inputs": "unit_range"}, "inputs: unit range"),
        ({"n_per_class": 20, "n_test": 5}, "20 examples per class; 5 for testing"),
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


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        ("5.2, Fig. 1", " (sec. 5.2, Fig. 1)"),
        ("classification", ""),
        ("none (ours)", ""),
    ],
)
def test_only_sections_of_a_paper_are_named(section, shown):
    assert _in_section(section) == shown


WITH_GRID = paper_of({
    "paper": {"id": "p"},
    "protocols": {},
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
        for use in method_uses(WITH_GRID, "P 2000", scores, "this run")
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
    assert (choice["parameter"], choice["n"]) == ("gamma", 4)
    assert choice["chosen"].startswith("0.1 (2), ")
    assert choice["at_low_end"] == 0.5
    assert choice["at_high_end"] == 0.25


def test_kernels_are_chosen_in_words(uses):
    (choice,) = uses["The first", "Kernels"].choices
    assert choice["chosen"] == "gaussian (width 2) (1)"
    assert math.isnan(choice["at_low_end"])


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
        assert text
        if kind == "text":
            assert ":class:" not in text
            assert "`" not in text
            assert "Parameters" not in text


def test_equations_stay_as_typed():
    blocks = problem_in_words("MultiTaskFeatureLearningRegressor")
    equations = [text for kind, text in blocks if kind == "equation"]
    assert "Σ_t ||y_t − X_t U a_t||² + γ ||A||²_{2,1}," in equations
    (tex,) = (
        text
        for k, text in problem_in_words("GroupFeatureSharingClassifier")
        if k == "tex"
    )
    assert tex.startswith(r"\min_{\theta, w, b} \sum_t \Bigl(")


def test_equations_in_tex_are_drawn():
    blocks = (block for name in REGISTRY for block in problem_in_words(name))
    drawn = [equation_image(text) for kind, text in blocks if kind == "tex"]
    assert len(drawn) > 5
    assert all(each.startswith("data:image/svg+xml;base64,") for each in drawn)


def test_data_sets_are_told_by_numbers_and_choices_at_ends():
    config = load_paper("yousefi2015", "paper")
    record = read_published_record(config)
    scores = read_scores(record.scores)
    verdicts = with_labels(record.verdicts, config)
    told = data_sentences(config, scores, verdicts)
    numbers, worst, *ends = next(
        texts for title, texts in told if title.startswith("MNIST")
    )
    mine = record.verdicts[record.verdicts["row"].str.startswith("MNIST, ")]
    within = mine["verdict"].isin(["reproduced", "close"]).sum()
    assert numbers == f"Of {len(mine)} numbers, {within} are reproduced or close"
    assert worst.startswith("The largest difference is MeTaG, MNIST, ")
    places = {"experiment": "mnist", "method": "metag", "metric": "accuracy"}
    chosen = scores[(scores[list(places)] == pd.Series(places)).all(axis=1)]
    chosen = chosen[chosen["task"].eq("all") & chosen["setting"].eq("")]
    values = [json.loads(text)["lam"] for text in chosen["params"]]
    times = values.count(min(config.methods["metag"].grid["lam"]))
    assert times > len(values) / 2
    (low,) = (text for text in ends if "at the low end" in text)
    assert f"MeTaG's λ ({times} of {len(values)})" in low


def test_data_sets_without_printed_numbers_are_not_told():
    config = load_paper("widmer2015", "paper")
    record = read_published_record(config)
    assert data_sentences(config, read_scores(record.scores), record.verdicts) == []
