from dataclasses import replace

import numpy as np
import pytest
from configured import of, paper_of
from made_scores import made_context, made_row
from scipy import stats

from mtmkl_suite.config.models import Record
from mtmkl_suite.judge.comparison import compare_experiments
from mtmkl_suite.judge.overlap import Overlap
from mtmkl_suite.report.tables.standing import standings
from mtmkl_suite.report.text import p_text

LEVELS = {"own": 0.80, "good": 0.90, "bad": 0.70, "floor": 0.50}


def scores(experiment, metric="accuracy", repeats=8, levels=LEVELS):
    rng = np.random.default_rng(len(experiment))
    return [
        made_row(
            experiment, method, metric, level + 0.001 * rng.random(), dataset="toy",
            repeat=repeat, fit_seconds=seconds + 100 * (repeat == 0),
        )
        for seconds, (method, level) in enumerate(levels.items(), start=1)
        for repeat in range(repeats)
    ]  # fmt: skip


def context(rows, own=("own",), metrics=None, datasets=None):
    metrics = metrics or {"first": "accuracy"}
    methods = {
        name: {"label": name.capitalize(), "class": "IndependentSVMClassifier"}
        for name in LEVELS
        if name != "floor"
    }
    methods["floor"] = {"label": "Floor", "class": "TaskMeanControl"}
    config = paper_of(
        {
            "tier": "paper",
            "own": list(own),
            "methods": methods,
            "protocols": {"split": {"kind": "thirds"}},
            "experiments": {
                name: {
                    "title": name.capitalize(),
                    "protocol": "split",
                    "datasets": {"name": (datasets or {}).get(name, "digits")},
                    "metrics": [metric],
                    "methods": [{"method": method} for method in methods],
                }
                for name, metric in metrics.items()
            },
        }
    )
    return made_context(config, rows)


def shown(found):
    statistics = compare_experiments(
        found.config, found.scores, overlaps=None, ropes={}, seed=0
    )
    return standings(found, statistics)


def column(table, name):
    place = list(table.header).index(name)
    return [row[place] for row in table.rows]


def by_method(table, name):
    return dict(zip(column(table, "method"), column(table, name), strict=True))


def test_rank_with_and_without_and_the_sentence():
    (standing,) = shown(context(scores("first")))
    table = standing.table
    assert column(table, "method") == ["Good", "Own (joined)", "Bad", "Floor"]
    assert column(table, "rank") == ["1", "2", "3", "–"]
    assert column(table, "rank among the baselines") == ["1", "–", "2", "–"]
    (sentence,) = standing.sentences
    assert sentence.startswith("Own: rank 2 of 3 by accuracy, 0.80")
    assert "it is better than Bad; worse than Good." in sentence
    assert "A fit takes 1 s (median); of the others 2 to 3 s." in sentence


def test_differences_have_the_sign_of_own_minus_other_and_holm():
    found = context(scores("first"))
    (standing,) = shown(found)
    differences = by_method(standing.table, "Own − method")
    assert differences["Good"].startswith("−0.1")
    assert differences["Bad"].startswith("+0.1")
    statistics = compare_experiments(
        found.config, found.scores, overlaps=None, ropes={}
    ).set_index(["first", "second"])
    smallest = statistics.loc[("own", "bad"), "p_wilcoxon"]
    assert by_method(standing.table, "p after Holm")["Bad"] == f"{2 * smallest:.3f}"


@pytest.mark.parametrize("repeats", [3, 5])
def test_so_few_repeats_that_no_test_could_reject_are_not_tested(repeats):
    (standing,) = shown(context(scores("first", repeats=repeats), own=()))
    assert standing.sentences[0].endswith("Differences are not tested.")
    assert set(column(standing.table, "p after Holm")) == {"–"}
    assert "Too few repeats: differences are described, not tested." in (
        standing.table.notes
    )
    (standing,) = shown(context(scores("first", repeats=repeats)))
    assert set(column(standing.table, "p after Holm")) == {"–"}
    assert "At 0.05" not in standing.sentences[0]


def test_a_smaller_error_ranks_first():
    rows = scores("first", metric="rmse", levels=LEVELS | {"floor": 1.0})
    (standing,) = shown(context(rows, metrics={"first": "rmse"}))
    assert column(standing.table, "rank") == ["1", "2", "3", "–"]
    assert column(standing.table, "method")[0] == "Bad"
    assert "better than Good; worse than Bad" in standing.sentences[0]
    assert "root mean squared error, mean ± sd" in standing.table.header


def test_without_a_method_of_ones_own_the_best_is_compared():
    (standing,) = shown(context(scores("first"), own=()))
    assert "rank among the baselines" not in standing.table.header
    assert standing.sentences == [
        "Good has the best mean accuracy of 3 methods, and is significantly better "
        "than 2 of them (p < 0.05)."
    ]
    # Three pairs have the same p, the smallest that eight repeats allow.
    assert set(column(standing.table, "p after Holm")) == {"–", f"{3 * 2 / 2**8:.3f}"}


def test_mean_ranks_over_experiments():
    rows = scores("first") + scores("second", metric="rmse")
    metrics = {"first": "accuracy", "second": "rmse"}
    over_all, *each = shown(context(rows, metrics=metrics))
    assert [standing.title for standing in each] == ["First", "Second"]
    assert over_all.sentences == [
        "Own has the mean rank 2.00 over 2 experiments, place 1 of 3."
    ]
    assert column(over_all.table, "mean rank") == ["2.00"] * 3
    without = column(over_all.table, "mean rank among the baselines")
    assert sorted(without) == ["1.50", "1.50", "–"]


def test_methods_that_lack_an_experiment_have_no_mean_rank():
    rows = scores("first") + scores("second", levels={"own": 0.8, "bad": 0.7})
    found = shown(context(rows, metrics={"first": "accuracy", "second": "accuracy"}))
    assert column(found[0].table, "method") == ["Own (joined)", "Bad"]
    assert column(found[0].table, "mean rank") == ["1.00", "2.00"]
    assert found[0].table.notes[1:] == [
        "Left out, for they lack scores somewhere: Good."
    ]


@pytest.mark.parametrize(
    ("datasets", "note"),
    [
        ({}, "several of the experiments are on digits, and those are not independent"),
        ({"second": "school"}, "Mean ranks are described here, not tested"),
    ],
)
def test_only_experiments_on_the_same_data_are_called_dependent(datasets, note):
    metrics = {"first": "accuracy", "second": "accuracy"}
    rows = scores("first") + scores("second")
    found = shown(context(rows, metrics=metrics, datasets=datasets))[0]
    assert note in found.table.notes[0]


def test_a_method_without_scores_says_why():
    found = context([row for row in scores("first") if row["method"] != "own"])
    (standing,) = shown(found)
    assert standing.sentences[0] == "Own: no scores."


def test_a_record_is_named():
    found, note = context(scores("first")), "Scores are those of the record."
    record = of(Record, {"note": note})
    config = found.config.model_copy(update={"record": record})
    (standing,) = shown(replace(found, config=config))
    assert note in standing.table.notes


def test_methods_below_the_control_are_marked():
    levels = LEVELS | {"bad": 0.45}
    (standing,) = shown(context(scores("first", levels=levels), own=()))
    shown_names = ["Good", "Own", "Bad (below the control)", "Floor"]
    assert column(standing.table, "method") == shown_names
    sentence = "Worse than the mean of each task, a control: Bad."
    assert sentence in standing.sentences
    rows = scores("first", metric="rmse", levels=levels | {"good": 0.2, "own": 0.1})
    (standing,) = shown(context(rows, own=(), metrics={"first": "rmse"}))
    assert not any("below" in name for name in column(standing.table, "method")[:3])
    levels["own"] = 0.6
    rows = scores("first", metric="rmse", levels=levels)
    (standing,) = shown(context(rows, own=(), metrics={"first": "rmse"}))
    assert "Own (below the control)" in column(standing.table, "method")
    equal = {"bad", "floor"}
    rows = [r | {"value": 0.5} if r["method"] in equal else r for r in scores("first")]
    (standing,) = shown(context(rows, own=()))
    assert "Bad" in column(standing.table, "method")


def test_the_interval_is_that_of_the_test_beside_it():
    found = context(scores("first"), own=())
    overlap = Overlap(pool_share=1.0, test_share=0.2, train_share=0.6)
    statistics = compare_experiments(
        found.config, found.scores, overlaps={("first", "toy", 0): overlap}, ropes={}
    )
    (standing,) = standings(found, statistics)
    row = statistics[statistics["first"] == "good"].iloc[0]
    half = stats.t.ppf(0.975, 7) * abs(row["mean_difference"] / row["t_corrected"])
    assert row["interval_high"] - row["mean_difference"] == pytest.approx(half)
    assert any("Repeats share samples: interval" in n for n in standing.table.notes)
    mine = statistics[statistics["first"].eq("own") & statistics["second"].eq("good")]
    (p,) = mine["p_corrected"]
    assert p_text(2 * p) != p_text(2 * mine["p_wilcoxon"].iloc[0])
    assert by_method(standing.table, "p after Holm")["Own"] == p_text(2 * p)
    (standing,) = shown(context(scores("first"), own=()))
    assert any("bootstrap interval" in note for note in standing.table.notes)
