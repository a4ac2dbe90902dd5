import itertools
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from made_scores import made_context, made_row
from scipy import stats

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.papers.jebara2011 import steps
from mtmkl_suite.report.artefacts import drawn

MEASURED = [
    "figure_1", "figure_2", "figure_3", "figure_4", "figure_c_grid",
    "figure_ising_sizes",
]  # fmt: skip
COMPUTED = ["figure_5", "figure_6"]
PANELS = dict(zip([*MEASURED, *COMPUTED], [1, 2, 2, 3, 2, 2, 1, 2], strict=True))
SIZES, REPEATS = (20, 40), 5
ALPHAS = (0.0, 1.0, math.exp(5), 1e5)


@pytest.fixture(scope="module")
def paper():
    return load_paper("jebara2011", "quick")


def noise(*key):
    return 0.01 * np.random.default_rng(list(key)).random()


def by_size(experiment, method, level):
    """Chosen fits, and a path on which larger C is better on validation rows."""
    rows = []
    for size, repeat in itertools.product(SIZES, range(REPEATS)):
        at = {"repeat": repeat, "train_size": size}
        value = level + size / 1000 + noise(size, repeat)
        rows.append(made_row(experiment, method, "auc", value, **at))
        for C in (0.1, 1.0, 10.0):
            point = {"C": C} | ({"relative_alpha": 1.0} if "med" in method else {})
            at["setting"] = json.dumps(point)
            rows += [
                made_row(experiment, method, "validation_auc", 0.5 + C / 100, **at),
                made_row(experiment, method, "auc", value - 0.1 / C, **at),
            ]
    return rows


def heart():
    rows = []
    for repeat in range(REPEATS):
        row = partial(made_row, "heart_pooling", repeat=repeat)
        for k, alpha in enumerate(ALPHAS):
            at = {"setting": json.dumps({"alpha": alpha})}
            test, validation = 0.7 + 0.02 * k, 0.8 - 0.02 * abs(k - 2)
            for metric, value in (("auc", test), ("validation_auc", validation)):
                value += noise(k, repeat)
                rows.append(row("adaptive_pooling", metric, value, **at))
        rows.append(row("pooled_cubic", "auc", 0.72))
        rows.append(row("independent_cubic", "auc", 0.65))
    return rows


def ising(experiment="ising_5", dataset="made up"):
    """Setting B is the best on the graphs shown, setting A on the others."""
    rows = []
    for repeat, n in itertools.product(range(6), range(2)):
        is_best = (n == 1) == (repeat < 3)
        value = 0.6 + 0.2 * is_best + noise(repeat, n)
        l1 = {"alpha": 0.1 + n}
        for method, gain, setting in (
            ("med_graph", 0.1, {"C": 1.0, "relative_alpha": 1.0 + n}),
            ("l1_and", 0.0, l1), ("l1_or", 0.0, l1),
        ):  # fmt: skip
            at = {"repeat": repeat, "setting": json.dumps(setting), "dataset": dataset}
            rows.append(made_row(experiment, method, "edge_auc", value + gain, **at))
    return rows


@pytest.fixture(scope="module")
def context(paper):
    rows = [*heart(), *ising()]
    for n_nodes in (10, 5):
        rows += ising("ising_sizes", f"ising_graphs[n_nodes={n_nodes}]")
    for experiment, name in (
        ("dermatology_features", "features"), ("landmine_18", "18"),
        ("landmine_22", "22"),
    ):  # fmt: skip
        rows += by_size(experiment, f"med_{name}", 0.8)
        rows += by_size(experiment, f"independent_{name}", 0.7)
    return of(paper, rows)


def of(paper, rows):
    # The quick tier leaves a figure out.
    whole = load_paper("jebara2011", "paper").artefacts
    paper = paper.model_copy(update={"artefacts": whole})
    return made_context(paper, rows)


def draw(name, context):
    names = context.config.artefacts[name].steps
    computed = {step: getattr(steps, step)(context) for step in names}
    context = replace(context, steps=computed)
    return drawn(name, context)


@pytest.mark.parametrize("name", [*MEASURED, *COMPUTED])
def test_every_figure_is_drawn_with_labels_and_numbers(name, context):
    figure, numbers = draw(name, context)
    assert len(figure.axes) == PANELS[name]
    assert all(axis.get_xlabel() and axis.lines for axis in figure.axes)
    assert not numbers.empty
    assert "no data" not in numbers


def test_means_by_size_leave_the_recorded_path_out(context):
    numbers = draw("figure_1", context)[1]
    line = numbers[numbers["series"] == "MED feature selection"].set_index("x")
    for size in SIZES:
        values = [0.8 + size / 1000 + noise(size, r) for r in range(REPEATS)]
        assert line.loc[size, "mean"] == pytest.approx(np.mean(values))
        assert line.loc[size, "sd"] == pytest.approx(np.std(values, ddof=1))
        assert line.loc[size, "n"] == REPEATS


def test_stars_stand_at_significant_sizes_only(paper):
    rows = by_size("dermatology_features", "independent_features", 0.7)
    for size, repeat in itertools.product(SIZES, range(REPEATS)):
        gain = 0.1 if size == 40 else (-1) ** repeat * 0.1
        value = 0.7 + size / 1000 + noise(size, repeat) + gain + noise(1, repeat)
        rows.append(made_row("dermatology_features", "med_features", "auc", value,
                        repeat=repeat, train_size=size))  # fmt: skip
    figure, numbers = draw("figure_1", of(paper, rows))
    stars = [line for line in figure.axes[0].lines if line.get_marker() == "*"]
    assert [list(star.get_xdata()) for star in stars] == [[40]]
    p = numbers.dropna(subset="p").set_index("x")["p"]
    assert p[40] < 0.05 < p[20]


def test_alpha_is_chosen_on_validation_rows(context):
    numbers = draw("figure_3", context)[1].query("panel.str.startswith('against')")
    at = numbers.groupby("series")["x"].first()
    assert at["best on validation data of all repeats"] == pytest.approx(
        math.log1p(math.exp(5))
    )
    assert at["best on test data (optimistic)"] == pytest.approx(math.log1p(1e5))
    assert at["α = e⁵"] == at["best on validation data of all repeats"]
    assert at["α = 10⁵"] == at["best on test data (optimistic)"]


def test_comparisons_on_heart_are_paired(context):
    numbers = draw("figure_3", context)[1]
    pooled = numbers[numbers["panel"] == "against Pooled SVM (cubic)"]
    values = [0.7 + 0.04 + noise(2, r) for r in range(REPEATS)]
    found = pooled.set_index("series").loc["best on validation data of all repeats"]
    assert found["mean"] == pytest.approx(np.mean(values) - 0.72)
    assert found["p"] == pytest.approx(stats.ttest_1samp(values, 0.72).pvalue)


def test_each_repeat_may_choose_its_own_alpha(paper, context):
    is_path = context.scores["method"].eq("adaptive_pooling")
    is_path &= context.scores["metric"].isin(["auc", "validation_auc"])
    of_first = context.scores[is_path & context.scores["repeat"].eq(0)]
    setting = of_first.loc[of_first["metric"].eq("validation_auc"), "setting"].iloc[0]
    scores = context.scores.copy()
    best = is_path & scores["repeat"].eq(0) & scores["setting"].eq(setting)
    scores.loc[best & scores["metric"].eq("validation_auc"), "value"] = 1.0
    scores.loc[best & scores["metric"].eq("auc"), "value"] = 0.1
    numbers = draw("figure_3", replace(context, scores=scores))[1]
    pooled = numbers[numbers["panel"] == "against Pooled SVM (cubic)"]
    found = pooled.set_index("series").loc["best on validation data of each repeat"]
    values = [0.7 + 0.04 + noise(2, r) for r in range(REPEATS)]
    expected = np.mean([0.1, *values[1:]]) - 0.72
    assert found["mean"] == pytest.approx(expected)


def test_settings_are_chosen_on_other_graphs(context):
    numbers = draw("figure_4", context)[1].set_index("series")["mean"]
    label = "MED graph structure"
    shown = {n: np.mean([noise(r, n) for r in range(3)]) for n in (0, 1)}
    assert numbers[f"{label}, best"] == pytest.approx(0.9 + shown[1])
    chosen = numbers[f"{label}, chosen on other graphs"]
    assert chosen == pytest.approx(0.7 + shown[0])
    mean = numbers[f"{label}, mean over the grid"]
    assert mean == pytest.approx(0.8 + (shown[0] + shown[1]) / 2)


def test_validation_rows_choose_again(context):
    table = draw("figure_c_grid", context)[1]
    # The largest C is the best on validation rows whatever is allowed.
    assert table["smallest C"].tolist() == [0.1, 1.0, 10.0]
    each = itertools.product(SIZES, range(REPEATS))
    values = [0.79 + size / 1000 + noise(size, repeat) for size, repeat in each]
    np.testing.assert_allclose(table["med"], np.mean(values))
    np.testing.assert_allclose(table["advantage"], 0.1)


def test_a_smaller_c_counts_once_it_is_allowed(context):
    scores = context.scores.copy()
    is_small = scores["setting"] == json.dumps({"C": 0.1})
    scores.loc[is_small & (scores["metric"] == "validation_auc"), "value"] = 0.9
    scores.loc[is_small & (scores["metric"] == "auc"), "value"] = 0.99
    changed = replace(context, scores=scores)
    table = draw("figure_c_grid", changed)[1].set_index("smallest C")
    assert table.loc[0.1, "independent"] == pytest.approx(0.99)
    assert table.loc[0.1, "advantage"] < 0 < table.loc[1.0, "advantage"]


def test_penalties_are_scaled_to_one(context):
    numbers = draw("figure_6", context)[1]
    at_one = numbers[np.isclose(numbers["x"], 1.0) & numbers["h"].notna()]
    assert len(at_one) == 4
    np.testing.assert_allclose(at_one[["h", "primal"]], 1.0)


def test_contours_lie_between_those_of_the_norms(context):
    numbers = draw("figure_6", context)[1]
    radius = {
        name: np.hypot(part["x"], part["y"]).to_numpy()
        for name, part in numbers.groupby("panel")
        if name.startswith("contour")
    }
    inner, outer = radius["contour ℓ₁"], radius["contour ℓ₂"]
    np.testing.assert_allclose(outer, 1.0)
    assert (inner - 1e-9 <= radius["contour MED, α = 2"]).all()
    assert (radius["contour MED, α = 2"] <= outer + 1e-9).all()
