import math

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from scipy.stats import qmc

from mtmkl_suite.statistics import hierarchical
from mtmkl_suite.statistics.hierarchical import (
    MIN_REPEATS,
    POSTERIOR_COLUMNS,
    compare_all_repeats,
    hierarchical_posterior,
    in_words,
)


def repeats(rng, effects, spreads, rho, n):
    """Draw repeats that are all correlated with each other."""
    common, own = rng.standard_normal((len(effects), 1)), rng.standard_normal
    noise = math.sqrt(rho) * common + math.sqrt(1 - rho) * own((len(effects), n))
    return [m + s * e for m, s, e in zip(effects, spreads, noise, strict=True)]


def drawn(seed, n_datasets=8, n=10, rho=0.1, centre=0.5, between=1.0, within=1.0):
    rng = np.random.default_rng(seed)
    effects = centre + between * rng.standard_t(3, n_datasets)
    spreads = within * np.exp(rng.normal(0, 0.5, n_datasets))
    return repeats(rng, effects, spreads, rho, n), [rho / (1 - rho)] * n_datasets


def by_importance(gains, ratios, ropes):
    """Return the probabilities from the model as the paper writes it.

    Nothing is integrated by a formula: σ_i and δ_i are on dense grids of their own,
    with the repeats' multivariate normal density; δ_0, σ_0, α, β and ν are quasi-random
    draws of their priors, cut to where the likelihood is.
    """
    largest = max(np.abs(values).max() for values in gains)
    mean = np.array([values.mean() for values in gains])
    delta = np.linspace(-1.2 * largest, 1.2 * largest, 3001)
    draws = qmc.Sobol(5, seed=1).random(2**12)
    side = 2 * draws[:, 0] - 1
    room = largest - np.sign(side) * mean.mean()
    centre = mean.mean() + room * side * np.abs(side)
    widest = 30 * mean.std()
    # Narrower than the grid's step σ_0 cannot be followed.
    spread = 2 * (delta[1] - delta[0]) + widest * draws[:, 1] ** 3
    alpha, beta = 0.5 + 4.5 * draws[:, 2], 0.05 + 0.1 * draws[:, 3]
    nu = 1 + special.gammaincinv(alpha, draws[:, 4]) / beta
    # Student's density but for a factor: far faster than scipy's.
    power = -(nu + 1)[:, None] / 2
    apart = (delta - centre[:, None]) / spread[:, None]
    between = np.exp(power * np.log1p(apart**2 / nu[:, None]))
    between *= (stats.t.pdf(0, nu) / spread)[:, None]
    # Of the uniform δ_0 and σ_0 to those of the draws.
    log_weight = np.log(room * np.abs(side)) + 2 * np.log(draws[:, 1])
    for values, ratio in zip(gains, ratios, strict=True):
        n, rho = len(values), ratio / (1 + ratio)
        correlation = np.full((n, n), rho) + (1 - rho) * np.eye(n)
        off = values - delta[:, None]
        square = (off * np.linalg.solve(correlation, off.T).T).sum(axis=1)
        sigma = np.geomspace(values.std() / 30, values.std() * 1000, 200)
        log_likelihood = -n * np.log(sigma) - square[:, None] / (2 * sigma**2)
        likelihood = np.trapezoid(
            np.exp(log_likelihood - log_likelihood.max()), sigma, axis=1
        )
        log_weight += np.log(between @ likelihood)
    weight = np.exp(log_weight - log_weight.max())
    found = []
    for rope in ropes:
        first = stats.t.sf(rope, nu, centre, spread)
        second = stats.t.cdf(-rope, nu, centre, spread)
        most = np.argmax([first, 1 - first - second, second], axis=0)
        found.append(np.bincount(most, weight, minlength=3) / weight.sum())
    return found


PROBLEMS = {
    "effects of both signs": drawn(0),
    "few repeats": drawn(1, n=4, rho=0.3),
    "little between data sets": drawn(2, between=0.2, within=2.0),
    "few data sets": drawn(3, n_datasets=4, rho=0.05),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_agrees_with_the_model_as_it_is_written(name):
    gains, ratios = PROBLEMS[name]
    ropes = (0.0, 0.6)
    for rope, reference in zip(ropes, by_importance(gains, ratios, ropes), strict=True):
        found = hierarchical_posterior(gains, ratios, rope=rope).probabilities
        assert math.isnan(found[1]) == (rope == 0)
        np.testing.assert_allclose(np.nan_to_num(found), reference, atol=0.01)


@pytest.fixture(scope="module")
def found():
    return hierarchical_posterior(*PROBLEMS["effects of both signs"], rope=0.6)


def test_the_other_way_round_it_is_mirrored(found):
    gains, ratios = PROBLEMS["effects of both signs"]
    mirrored = hierarchical_posterior([-values for values in gains], ratios, rope=0.6)
    turned = found.probabilities[::-1]
    np.testing.assert_allclose(mirrored.probabilities, turned, atol=1e-9)
    np.testing.assert_allclose(mirrored.without, found.without[:, ::-1], atol=1e-9)


def test_the_unit_of_the_score_does_not_matter(found):
    gains, ratios = PROBLEMS["effects of both signs"]
    smaller = [values / 100 for values in gains]
    scaled = hierarchical_posterior(smaller, ratios, rope=0.006)
    np.testing.assert_allclose(scaled.probabilities, found.probabilities, atol=1e-9)


def test_a_data_set_left_out_is_one_that_was_never_there(found):
    gains, ratios = PROBLEMS["effects of both signs"]
    for i in range(len(gains)):
        rest = hierarchical_posterior(
            gains[:i] + gains[i + 1 :], ratios[:i] + ratios[i + 1 :], rope=0.6
        )
        # Its grid is another one.
        np.testing.assert_allclose(found.without[i], rest.probabilities, atol=0.003)


@pytest.mark.parametrize(
    ("rope", "expected"), [(0.0, [0.5, math.nan, 0.5]), (1.0, [0, 1, 0])]
)
def test_equal_methods_are_equal(rope, expected):
    found = hierarchical_posterior([np.zeros(5)] * 3, [0.1] * 3, rope=rope)
    np.testing.assert_array_equal(found.probabilities, expected)
    np.testing.assert_array_equal(found.without, [expected] * 3)


def test_data_sets_without_a_spread_get_that_of_the_region():
    gains, ratios = PROBLEMS["effects of both signs"]
    tied = [np.zeros(10), np.zeros(10), *gains[2:]]
    # The same sum of squares as a uniform distribution of ± 0.6 would have.
    noise = math.sqrt(0.8) * 0.6 / math.sqrt(3) * np.resize([1.0, -1.0], 10)
    reference = hierarchical_posterior([noise, noise, *gains[2:]], ratios, rope=0.6)
    found = hierarchical_posterior(tied, ratios, rope=0.6)
    np.testing.assert_allclose(found.probabilities, reference.probabilities, atol=1e-9)
    assert hierarchical_posterior(tied, ratios).probabilities[0] > 0.5


def test_half_the_nodes_tell_the_error_of_the_grid(found, monkeypatch):
    gains, ratios = PROBLEMS["effects of both signs"]
    assert 0 < found.error < 0.02
    monkeypatch.setattr(hierarchical, "_SIGMA_STEP", 0.02)
    monkeypatch.setattr(hierarchical, "_DELTA_STEP", 0.1)
    fine = hierarchical_posterior(gains, ratios, rope=0.6)
    assert fine.error < found.error
    assert np.abs(fine.probabilities - found.probabilities).max() <= found.error
    monkeypatch.setattr(hierarchical, "_DELTA_STEP", 4.0)
    assert hierarchical_posterior(gains, ratios, rope=0.6).error > 0.02


@pytest.mark.parametrize("sizes", [[5], [5, MIN_REPEATS - 1]])
def test_a_spread_takes_repeats_and_a_sample_data_sets(sizes):
    with pytest.raises(ValueError, match="two data sets of 3 repeats or more"):
        hierarchical_posterior([np.ones(n) for n in sizes], [0.0] * len(sizes))


@pytest.fixture
def tables():
    """Scores of which a is better than b by far on Far, and else by little."""
    rng = np.random.default_rng(6)
    gains = {"Near": 0.3, "Close": 0.9, "Next": 0.35, "Beside": 0.8, "Far": 4.0}
    found = {}
    for name, gain in gains.items():
        means = {"a": 70 + gain, "b": 70, "c": 60}
        columns = {k: mean + rng.normal(0, 0.3, 10) for k, mean in means.items()}
        found[name] = pd.DataFrame(columns)
    return found


def test_all_pairs_have_the_posterior_of_their_differences(tables):
    ratios = dict(zip(tables, (0.1, 0.2, 0.1, 0.3, 0.1), strict=True))
    found = compare_all_repeats(tables, ratios, higher_better=True, rope=0.5)
    assert tuple(found.columns) == POSTERIOR_COLUMNS
    assert found[["first", "second"]].to_numpy().tolist() == [
        ["a", "b"], ["a", "c"], ["b", "c"],
    ]  # fmt: skip
    gains = [(each["a"] - each["b"]).to_numpy() for each in tables.values()]
    reference = hierarchical_posterior(gains, list(ratios.values()), rope=0.5)
    names = ["p_first_better", "p_equivalent", "p_second_better"]
    row = found.iloc[0]
    assert row[names].tolist() == reference.probabilities.round(10).tolist()
    assert row["probability"] == row["p_first_better"]
    assert row["probability_without"] == reference.without[:, 0].min().round(10)
    assert list(tables)[reference.without[:, 0].argmin()] == "Far"
    assert row["weakest_without"] == "Far"
    turned = compare_all_repeats(tables, ratios, higher_better=False, rope=0.5).iloc[0]
    assert turned["conclusion"] == "second better"
    np.testing.assert_allclose(turned["probability"], row["probability"])


def test_a_conclusion_is_marked_where_one_data_set_reverses_it(tables):
    row = {
        "first": "a", "second": "b", "n_datasets": 5, "n_repeats": 50,
        "conclusion": "second better", "probability": 0.934, "weakest_without": "Far",
        "probability_without": 0.31, "reversed_without": "",
    }  # fmt: skip
    left_out = "if Far is left out, 0.31"
    words = "b beats a with probability 0.93 (5 data sets, 50 repeats)"
    assert in_words(row) == f"{words}; {left_out}"
    near = in_words(row | {"probability": 0.994})
    assert near.startswith("b beats a with probability 0.99 (")
    assert in_words(row | {"reversed_without": "Far"}).endswith("Reversed without Far")
    equal = in_words(row | {"conclusion": "equivalent", "probability": 0.9999})
    assert equal.startswith("a and b are equivalent with probability more than 0.99 (")
    ratios = dict.fromkeys(tables, 0.1)
    first = compare_all_repeats(tables, ratios, higher_better=True, rope=0.7).iloc[0]
    assert first["conclusion"] == "first better"
    assert "Far" in first["reversed_without"]
    rest = {name: tables[name] for name in tables if name != "Far"}
    without = compare_all_repeats(rest, ratios, higher_better=True, rope=0.7).iloc[0]
    assert without["conclusion"] == "equivalent"
    clear = compare_all_repeats(tables, ratios, higher_better=True).iloc[1]
    assert clear["reversed_without"] == ""
