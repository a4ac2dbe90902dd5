import pandas as pd
import pytest
from compared_methods import COMPARISON, MEANS, context

from mtmkl_suite.papers.comparison.figures import (
    cost,
    paired_differences,
    pareto_front,
    ranks,
    sizes,
)

FEATURES = [name for name in MEANS if name != "Images"]


@pytest.mark.parametrize("draw", [ranks, paired_differences, cost, sizes])
def test_figures_say_what_is_missing(draw):
    _, numbers = draw(context(()), COMPARISON)
    assert list(numbers) == ["no data"]


def test_ranks_and_critical_difference():
    _, numbers = ranks(context(FEATURES), COMPARISON)
    assert list(numbers["method"]) == ["Ours", "Alone", "Linear"]
    # Demšar 2006, table 5: q = 2.343 for three methods.
    expected = 2.343 * (3 * 4 / (6 * 6)) ** 0.5
    assert numbers["critical_difference"].iloc[0] == pytest.approx(expected, abs=1e-3)


def test_differences_are_of_the_tested_methods_and_of_both_signs():
    _, numbers = paired_differences(context(FEATURES), COMPARISON)
    table = numbers.set_index(["method", "than"])["difference"]
    assert set(table.index) == {("Ours", "Alone"), ("Alone", "Ours")}
    assert table["Ours", "Alone"] == -table["Alone", "Ours"] > 0


def test_cost_is_that_of_all_sizes():
    figure, numbers = cost(context(FEATURES), COMPARISON)
    table = numbers.set_index("method")
    assert dict(table["seconds"]) == {"Alone": 2.0, "Ours": 8.0, "Linear": 0.5}
    assert table["on_front"].all()
    assert figure.axes[0].get_xscale() == "log"


def test_sizes_have_a_rank_each():
    _, numbers = sizes(context(FEATURES), COMPARISON)
    assert sorted(numbers["train_size"].unique()) == [10, 50]
    assert len(numbers) == 2 * 3


def test_pareto_front_leaves_out_what_costs_more_and_is_no_better():
    seconds = pd.Series({"dear": 9.0, "cheap": 1.0, "equal": 2.0, "good": 3.0})
    score = pd.Series({"dear": 80.0, "cheap": 70.0, "equal": 70.0, "good": 80.0})
    assert pareto_front(seconds, score) == ["cheap", "good"]
