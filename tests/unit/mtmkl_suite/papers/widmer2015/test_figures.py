"""Figures of the paper, drawn from made scores of its experiments."""

import itertools
from functools import cache

import numpy as np
import pytest
from made_scores import made_context, made_row

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import DataSets
from mtmkl_suite.metrics import FALSE_POSITIVE_RATES
from mtmkl_suite.papers.widmer2015.figures import largest_auc
from mtmkl_suite.report.artefacts import drawn
from mtmkl_suite.report.figures.drawing import method_styles

SIZES = {"tss": (2, 10, 60), "landmine_terrain": (20, 160), "robot_pairs": (2, 20)}
LEVELS = {"tss_individual": 0.8, "tss_union": 0.7, "tss_mtl": 0.81, "tss_p2": 0.85}


@cache
def paper():
    return load_paper("widmer2015", "paper")


def methods_of(experiment):
    return [entry.method for entry in paper().experiments[experiment].methods]


def rows(experiment, method, metric, level, **more):
    """Return values of five repeats, which differ alike for all methods."""
    return [
        made_row(
            experiment, method, metric, level + 0.001 * repeat, repeat=repeat, **more
        )
        for repeat in range(5)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def context():
    table = []
    for experiment, sizes in SIZES.items():
        for k, method in enumerate(methods_of(experiment)):
            for size in sizes:
                level = LEVELS.get(method, 0.6 + 0.01 * k) + size / 1000
                at = {"train_size": size}
                table += rows(experiment, method, "auc", level, **at)
                if experiment != "tss":
                    continue
                for task, more in (("E. coli", 0.05), ("H. pylori", -0.05)):
                    # For H. pylori MT-MKL is not the best.
                    own = more - 0.1 * (method == "tss_p2" and task == "H. pylori")
                    area = level + own
                    table += rows(experiment, method, "auc", area, task=task, **at)
    return made_context(paper(), table)


def test_bars_of_figure_4_are_means_at_the_largest_size(context):
    figure, numbers = drawn("figure_4", context)
    assert len(figure.axes) == 2
    bars = numbers[numbers["panel"] == "by organism, 60 %"]
    bars = bars.set_index(["series", "organism"])
    assert bars.loc[("Union", "mean"), "mean"] == pytest.approx(0.762)
    assert bars.loc[("MTL", "H. pylori"), "mean"] == pytest.approx(0.822)
    assert bars.loc[("MT-MKL p = 2", "E. coli"), "best"]
    assert bars.loc[("MTL", "H. pylori"), "best"]
    assert not bars.loc[("MT-MKL p = 2", "H. pylori"), "best"]
    title = figure.axes[0].get_title()
    assert "stand-in data" in title
    assert "MT-MKL p = 2 is highest in 1 of 2 organisms" in title


def test_curves_of_figure_4_have_all_sizes_and_methods(context):
    _, numbers = drawn("figure_4", context)
    curves = numbers[numbers["panel"] == "tss"]
    assert curves["series"].nunique() == 7
    curve = curves[curves["series"] == "Individual"]
    np.testing.assert_allclose(curve["x"], SIZES["tss"])
    np.testing.assert_allclose(curve["mean"], 0.802 + curve["x"] / 1000)


def test_figure_2_leaves_learned_similarities_out(context):
    figure, numbers = drawn("figure_2", context)
    assert numbers["series"].unique().tolist() == ["Individual", "Union", "MTL"]
    assert numbers["panel"].unique().tolist() == ["by organism, 10 %"]
    assert "stand-in data" in figure.axes[0].get_title()


def test_colours_of_a_method_are_the_same_for_all_data(context):
    figure, numbers = drawn("figure_structure", context)
    assert set(numbers["panel"]) == {"landmine_terrain", "robot_pairs"}
    colours = [[line.get_color() for line in axis.lines] for axis in figure.axes]
    assert colours[0] == colours[1]
    styles = method_styles(context.config.methods)
    assert colours[0][0] == styles["individual"]["color"]
    assert figure.axes[0].get_xlabel() == "training samples per task"
    assert figure.axes[1].get_xlabel() == "samples for training, %"


@pytest.fixture(scope="module")
def toys():
    table = []
    for experiment in ("toy_sd", "toy_variance"):
        for k, method in enumerate(methods_of(experiment)):
            table += rows(experiment, method, "auc", 0.6 + 0.01 * k)
            for rate in FALSE_POSITIVE_RATES:
                name = f"true_positive_rate_{rate:g}"
                table += rows(experiment, method, name, 0.9 * rate**0.5)
    return made_context(paper(), table)


def test_matrices_of_figure_3a(toys):
    figure, numbers = drawn("figure_3a", toys)
    assert len(figure.axes) == 3  # with the colour bar
    assert len(numbers) == 32 * 32
    at = numbers.set_index(["task", "other"])
    for s, t in itertools.product((1, 7, 32), repeat=2):
        assert at.loc[(s, t), "similarity"] == at.loc[(t, s), "similarity"]
    assert at.loc[(1, 1), "expected"] == 100.0
    assert at.loc[(1, 2), "expected"] == pytest.approx(81.0)
    assert at.loc[(1, 3), "expected"] == pytest.approx(100 * 0.9**4)
    assert at.loc[(16, 17), "expected"] == pytest.approx(100 * 0.9**10)


def test_panels_and_numbers_of_figure_3b(toys):
    figure, numbers = drawn("figure_3b", toys)
    assert len(figure.axes) == 4
    assert all(axis.get_xlabel() and axis.lines for axis in figure.axes)
    curves = numbers[numbers["panel"] == "variance 20, ROC"]
    assert len(curves) == 6 * len(FALSE_POSITIVE_RATES)
    expected = 0.9 * curves["x"] ** 0.5 + 0.002
    np.testing.assert_allclose(curves["mean"], expected)
    areas = numbers[numbers["panel"] == "standard deviation 20, AUC"]
    areas = areas.set_index("series")["mean"]
    labels = toys.config.methods
    for k, method in enumerate(methods_of("toy_sd")):
        assert areas[labels[method].label] == pytest.approx(0.602 + 0.01 * k)
    assert areas["largest possible"] == pytest.approx(0.638163, abs=1e-6)


def test_largest_area_of_both_readings():
    toys = (paper().experiments[name] for name in ("toy_sd", "toy_variance"))
    areas = [largest_auc(toy.datasets) for toy in toys]
    np.testing.assert_allclose(areas, [0.638163, 0.943077], atol=1e-5)
    tree = DataSets(name="toy_tree")
    assert largest_auc(tree, spread=1e3) == pytest.approx(0.5, abs=0.01)


def swept(experiment, axis, values, level):
    """Return scores of an experiment whose generator varies along an axis."""
    metrics, methods = paper().experiments[experiment].metrics, methods_of(experiment)
    table = []
    for metric, method, value in itertools.product(metrics, methods, values):
        at = {"dataset": f"toy_tree[n_test=250,{axis}={value}]"}
        table += rows(experiment, method, metric, level(method, value), **at)
    return table


def test_differences_of_the_figure_of_spreads_are_paired():
    def level(method, spread):
        return 0.9 - spread / 100 + 0.01 * (method == "p2")

    table = swept("toy_sweep", "spread", [2, 4.5, 20], level)
    figure, numbers = drawn("figure_spread", made_context(paper(), table))
    assert len(figure.axes) == 2
    found = numbers[numbers["panel"] == "difference to Vanilla"]
    found = found.set_index("series")
    np.testing.assert_allclose(found.loc["MT-MKL p = 2", "mean"], 0.01)
    np.testing.assert_allclose(found.loc["MT-MKL p = 3", "mean"], 0.0, atol=1e-12)
    # The repeats differ by as much for both, so that the interval has no width.
    np.testing.assert_allclose(found["half"], 0.0, atol=1e-12)
    ceiling = numbers[numbers["series"] == "largest possible"]
    assert ceiling["x"].min() == pytest.approx(2.0)
    assert ceiling["mean"].is_monotonic_decreasing


def test_both_experiments_make_one_curve_of_recovery():
    def level(method, n_train):
        return 0.5 + n_train / 1000

    table = swept("toy_recovery", "n_train", [5, 10, 20], level)
    table += swept("toy_recovery_large", "n_train", [40, 80], level)
    figure, numbers = drawn("figure_recovery", made_context(paper(), table))
    assert len(figure.axes) == 2
    curve = numbers.query("panel == 'auc' and series == 'MT-MKL p = 2'")
    assert curve["x"].tolist() == [5, 10, 20, 40, 80]
    np.testing.assert_allclose(curve["mean"], 0.502 + curve["x"] / 1000)
    sparse = numbers[numbers["series"] == "MT-MKL p = 1"]
    assert set(sparse["x"]) == {5, 10, 20}
