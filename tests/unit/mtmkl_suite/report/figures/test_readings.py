import numpy as np
import pandas as pd
import pytest
from made_scores import made_context, published_numbers

from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.papers.argyriou2008.figures import figure_4_oracle, prior_scale
from mtmkl_suite.papers.jebara2011.figures import figure_2_switches
from mtmkl_suite.report.tables.reach import main_context

GAINS = 0.01 * np.arange(1, 6)  # of each repeat
LEVELS = {"scale_0_01": 0.01, "scale_0_1": 0.1, "scale_10": 10.0, "scale_100": 100.0}


def contexts(paper, tier, factors):
    config = load_readings(paper, tier, factors)
    published = published_numbers(config)
    main = main_context(made_context(config, published=published))
    # Splits are those of the main protocol.
    overlaps = {
        (name, dataset, size): overlap
        for (of, dataset, size), overlap in main.overlaps.items()
        for name, origin in config.readings.experiments.items()
        if origin.of == of
    }
    return main, lambda scores: made_context(
        config, scores, published=published, overlaps=overlaps
    )


def moved(main, experiment, method, reading, by):
    """Scores of a method under a reading: lower than in the main run."""
    scores = main.scores
    rows = scores[(scores["experiment"] == experiment) & (scores["method"] == method)]
    value = rows["value"] - by(rows["repeat"])
    return rows.assign(experiment=f"{experiment}@{reading}", value=value)


@pytest.fixture(scope="module")
def switches():
    """The main results, and those of MED with switches of each task, lower by GAINS."""
    main, context_of = contexts("jebara2011", "paper", ["sharing"])
    rows = moved(main, "landmine_18", "med_18", "sharing=own", lambda r: GAINS[r])
    figure, numbers = figure_2_switches(context_of(rows))
    return main, figure, numbers


def test_a_reading_is_one_more_curve(switches):
    main, figure, numbers = switches
    curves = numbers[numbers["panel"] == "18 kernels"].set_index(["series", "x"])
    assert list(curves.index.unique("series")) == ["MED", "MED, own switches", "SVM"]
    own = main.by_repeat(
        "landmine_18", "auc", {"method": "independent_18", "setting": ""}
    )
    assert curves.loc["SVM"]["mean"].mean() == pytest.approx(own.mean())
    gain = curves.loc["MED"]["mean"] - curves.loc["MED, own switches"]["mean"]
    assert gain.to_numpy() == pytest.approx(GAINS.mean())
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["MED", "MED, own switches", "SVM"]


def test_the_first_curve_is_tested_against_the_others(switches):
    _, figure, numbers = switches
    tests = numbers[numbers["panel"] == "18 kernels: difference"]
    assert set(tests["series"]) == {"MED − MED, own switches", "MED − SVM"}
    tests = tests[tests["series"] == "MED − MED, own switches"]
    sizes = numbers.loc[numbers["series"] == "SVM", "x"].unique()
    assert tests["x"].tolist()[:-1] == sorted(sizes)
    over_all = tests.iloc[-1]
    assert np.isnan(over_all["x"])
    assert tests["mean"].to_numpy() == pytest.approx(GAINS.mean())
    # Splits of one data set share samples.
    assert (tests["p"] < tests["p_corrected"]).all()
    assert tests["verdict"].isin(["holds", "undecided"]).all()
    assert over_all["interval_low"] < GAINS.mean() < over_all["interval_high"]
    title = figure.axes[0].get_title()
    assert f"own switches: +0.03, p = {over_all['p_corrected']:.2g}" in title


def test_an_ordered_factor_is_an_axis():
    main, context_of = contexts("argyriou2008", "paper", ["prior"])
    rows = [
        moved(main, "survey", "hierarchical_bayes", f"prior={level}", lambda r, x=x: x)
        for level, x in LEVELS.items()
    ]
    figure, numbers = prior_scale(context_of(pd.concat(rows)))
    curve = numbers.dropna(subset=["x"]).set_index("x")["mean"]
    assert curve.index.tolist() == [0.01, 0.1, 1.0, 10.0, 100.0]
    fall = curve[1.0] - curve
    assert fall.to_numpy() == pytest.approx([0.01, 0.1, 0.0, 10.0, 100.0])
    printed = numbers.loc[numbers["series"] == "printed", "mean"]
    assert printed.tolist() == [1.90]
    assert figure.axes[0].get_xscale() == "log"


def test_a_reduced_run_draws_what_the_readings_have_and_tests_nothing():
    main, context_of = contexts("argyriou2008", "quick", ["penalties"])
    method = "independent_quadratic_linear"
    rows = moved(main, "nonlinear_synthetic", method, "penalties=oracle", lambda r: 0.1)
    figure, numbers = figure_4_oracle(context_of(rows))
    assert set(numbers["series"]) == {"independent, by test rows"}
    assert sorted(numbers["x"]) == [5, 6, 7, 8, 9, 10]
    assert "p = " not in figure.axes[0].get_title()


def test_without_scores_the_figure_says_so():
    _, context_of = contexts("argyriou2008", "quick", ["prior"])
    main = main_context(context_of(pd.DataFrame()))
    figure, numbers = prior_scale(context_of(main.scores[:0]))
    assert "no data" in numbers
    assert "no data" in figure.axes[0].texts[0].get_text()
