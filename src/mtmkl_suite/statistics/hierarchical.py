r"""Two methods on several data sets with repeats: one posterior from all of them.

The model of Corani, Benavoli et al. (2017). The differences of n repeats of data set i
have mean δ_i, standard deviation σ_i and, each with each, the correlation ρ_i, because
repeats share samples; the data sets are a sample:

.. math:: x_i \sim N(1 δ_i, σ_i^2 R(ρ_i)), \qquad δ_i \sim t(δ_0, σ_0, ν).

The priors are the paper's: σ_i and σ_0 uniform (σ_0 up to 1,000 times the spread of the
data sets' means), δ_0 uniform within the largest difference, ν − 1 ~ Gamma(α, β) with
α uniform in [0.5, 5] and β in [0.05, 0.15].

Nothing is sampled. The uniform σ_i integrates to a Student t of n − 2 degrees of
freedom around the mean, with c = ρ / (1 − ρ):

.. math:: p(x_i | δ_i) \propto t_{n-2}(δ_i;\ \bar x_i, s_i), \qquad
          s_i^2 = \frac{\sum_j (x_{ij} - \bar x_i)^2}{n - 2}
                  \left(\frac{1}{n} + c_i\right).

Its overlap with t(δ_0, σ_0, ν) is tabulated once for all data sets with n repeats, in
units of s_i; what is left are three parameters, on a grid whose nodes lie where the
data sets do. Without data set i its factor is left out of the product, so that all
posteriors with one data set left out cost no more than the one with all.

References
----------
G. Corani, A. Benavoli, J. Demšar, F. Mangili and M. Zaffalon, Statistical comparison of
classifiers through Bayesian hierarchical modelling, Machine Learning 106, 1817–1837,
2017.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from mtmkl.typing import FloatArray
from mtmkl_suite.statistics.ties import ROUNDING, differences, scale_of

MIN_REPEATS = 3
"""Fewer repeats do not tell the spread of a data set."""

CERTAIN = 0.99
"""Probability above which a conclusion counts as shown."""

POSTERIOR_COLUMNS = (
    "first", "second", "n_datasets", "n_repeats", "p_first_better", "p_equivalent",
    "p_second_better", "conclusion", "probability", "weakest_without",
    "probability_without", "reversed_without", "change_by_half_the_nodes",
)  # fmt: skip
"""Columns of :func:`compare_all_repeats`, one row per pair of methods."""

_OUTCOMES = ("first better", "equivalent", "second better")

_ALPHA, _BETA = (0.5, 5.0), (0.05, 0.15)
# The prior's bound of σ_0 in spreads of the means.
_WIDEST = 1000.0
_LEAST_SPREAD = 1e-4
_DEGREES = 12
_SIGMA_STEP = 0.15
_DELTA_STEP = 0.5
_TABLE_STEP, _TABLE_SIZE = 0.2, (101, 76)
_LEAST_TAU = 0.01
_OVERLAP_NODES = 40
_FAR = 1e4
_NODE_PRECISION = 1e-6
_MAX_ITERATIONS = 60


@dataclass(frozen=True)
class HierarchicalPosterior:
    """Comparison of two methods on data sets like these."""

    probabilities: FloatArray
    """Posterior probability that on a further data set "first better", "equivalent" or
    "second better" is the most probable of the three; ``nan`` for the second if there
    is no region of equivalence."""
    without: FloatArray
    """The same with each data set left out, (n_datasets, 3)."""
    error: float
    """By how much these change on a grid of half as many nodes; about four times as
    much as they are off."""


def hierarchical_posterior(
    gains: Sequence[FloatArray],
    variance_ratios: Sequence[float],
    *,
    rope: float = 0.0,
) -> HierarchicalPosterior:
    """Compare two methods by the repeats of several data sets.

    A gain is positive where the first method is better; each data set has at least
    :data:`MIN_REPEATS`, and a variance ratio ρ / (1 − ρ) of them: 0 for independent
    ones, for random splits of the same samples the number for testing over that of the
    others. ``rope`` is half the width of the region of practical equivalence, fixed in
    advance; 0 for none.

    A data set whose repeats all differ by the same amount has no spread to judge it by;
    it gets that of a uniform distribution over the region of equivalence or, without a
    region, the mean spread of the others.
    """
    if len(gains) < 2 or min(map(len, gains)) < MIN_REPEATS:
        raise ValueError(f"wanted two data sets of {MIN_REPEATS} repeats or more")
    largest = max(float(np.abs(values).max()) for values in gains)
    if largest == 0:
        same = np.array([0.5, math.nan, 0.5] if rope == 0 else [0.0, 1.0, 0.0])
        return HierarchicalPosterior(same, np.tile(same, (len(gains), 1)), 0.0)
    mean = np.array([values.mean() for values in gains])
    spread = _spreads(gains, largest, rope)
    sizes = np.array([len(values) for values in gains])
    scale = spread * np.sqrt(1 / sizes + np.asarray(variance_ratios))
    sigma, delta, log_weight, place_of = _grid(mean, scale, largest)
    degrees, weights = _degrees()
    log_overlap = [
        _log_overlap(int(n) - 2, (delta - centre) / width, sigma[:, None] / width)
        for n, centre, width in zip(sizes, mean, scale, strict=True)
    ]
    total = np.sum(log_overlap, axis=0) + log_weight + np.log(weights)[:, None, None]
    border = _borders(sigma, degrees, rope)
    low, high = place_of(-border), place_of(border)
    found = _probabilities(total, low, high)
    # Every second node of one parameter, then of the other.
    coarse = (
        _probabilities(total[:, ::2], low[:, ::2], high[:, ::2]),
        _probabilities(total[:, :, ::2], low / 2, high / 2),
    )
    error = max(float(np.abs(each - found).max()) for each in coarse)
    without = np.array(
        [_probabilities(total - each, low, high) for each in log_overlap]
    )
    if rope == 0:
        found[1] = without[:, 1] = math.nan
    return HierarchicalPosterior(found, without, error)


def compare_all_repeats(
    repeats: Mapping[str, pd.DataFrame],
    variance_ratios: Mapping[str, float],
    *,
    higher_better: bool,
    rope: float = 0.0,
) -> pd.DataFrame:
    """Compare all pairs of methods by :func:`hierarchical_posterior`, in their order.

    ``repeats`` has by data set a table of repeats and methods without gaps. Ties of
    repeats are those of :mod:`mtmkl_suite.statistics.ties`.

    Numbers have ten decimals. The conclusion is the most probable of the three
    outcomes, and ``probability_without`` the least that it has if one data set is left
    out, ``weakest_without``. ``reversed_without`` names the data sets without which
    another outcome is the most probable.
    """
    names = list(repeats)
    ratios = [variance_ratios[name] for name in names]
    sign = 1 if higher_better else -1
    scale = scale_of(*(table.to_numpy() for table in repeats.values()))
    rows = []
    for first, second in itertools.combinations(next(iter(repeats.values())), 2):
        gains = [
            sign * differences(table[first], table[second], scale=scale)[0]
            for table in repeats.values()
        ]
        found = hierarchical_posterior(gains, ratios, rope=rope)
        most = int(np.nanargmax(found.probabilities))
        least = int(found.without[:, most].argmin())
        is_reversed = np.nanargmax(found.without, axis=1) != most
        rows.append(
            (
                first, second, len(names), sum(map(len, gains)), *found.probabilities,
                _OUTCOMES[most], found.probabilities[most], names[least],
                found.without[least, most],
                ", ".join(itertools.compress(names, is_reversed)), found.error,
            )
        )  # fmt: skip
    # What is left of a difference from one is rounding, another on each processor.
    return pd.DataFrame(rows, columns=list(POSTERIOR_COLUMNS)).round(10)


def in_words(row: Mapping[Any, Any]) -> str:
    """Return a row of :func:`compare_all_repeats` as a sentence without a full stop."""
    first, second = row["first"], row["second"]
    if row["conclusion"] == "second better":
        first, second = second, first
    said = f"{first} beats {second}"
    if row["conclusion"] == "equivalent":
        said = f"{first} and {second} are equivalent"
    text = (
        f"{said} with probability {_share(row['probability'])} ({row['n_datasets']} "
        f"data sets, {row['n_repeats']} repeats); if {row['weakest_without']} is left "
        f"out, {_share(row['probability_without'])}"
    )
    if row["reversed_without"]:
        text += f". Reversed without {row['reversed_without']}"
    return text


def _share(probability: float) -> str:
    """Return a probability with two decimals, and never 1 for less than that."""
    return "more than 0.99" if probability > 0.995 else f"{probability:.2f}"


def _spreads(gains: Sequence[FloatArray], largest: float, rope: float) -> FloatArray:
    """Return √(S / (n − 2)) of each data set, S the sum of squares around its mean."""
    spread = np.array([values.std() for values in gains])
    has_none = spread <= ROUNDING * largest
    spread *= np.sqrt([len(values) / (len(values) - 2) for values in gains])
    if has_none.any():
        others = spread[~has_none].mean() if not has_none.all() else 0.0
        spread[has_none] = rope / math.sqrt(3) if rope > 0 else others
    # The grid need not follow what is known this well.
    return np.maximum(spread, _LEAST_SPREAD * largest)


def _grid(
    mean: FloatArray, scale: FloatArray, largest: float
) -> tuple[FloatArray, FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
    """Return σ_0 (J,), δ_0 and log weights (J, K), and what finds a δ_0 among nodes.

    The trapezoidal rule is in asinh(σ_0 / b), in which the overlap is even, and for
    each σ_0 in Σ asinh((δ_0 − x_i) / w_i), which puts nodes where the data sets are.
    """
    root = math.sqrt(len(mean))
    unit = float(np.mean(scale**-4.0)) ** -0.25
    # The posterior falls with σ_0^(2 − n): about 1e-4 of it lies beyond the grid.
    widest = min(_WIDEST, 3 * 1e4 ** (1 / max(len(mean) - 3, 1)))
    end = math.asinh(widest * math.hypot(mean.std() / unit, 1))
    angle = np.linspace(0, end, _odd(end / min(_SIGMA_STEP, 0.5 / root)))
    sigma = unit * np.sinh(angle)
    weight = np.cosh(angle)
    weight[[0, -1]] /= 2
    width = np.hypot(scale, sigma[:, None])
    low, high = (_stretched(np.array([[x]]), mean, width) for x in (-largest, largest))
    size = _odd(float((high - low).max()) / (_DELTA_STEP * root))
    delta, step = _nodes(mean, width, largest, size)

    def place_of(values: FloatArray) -> FloatArray:
        inside = np.clip(values, -largest, largest).T
        share = (_stretched(inside, mean, width) - low) / (high - low)
        return (share * (size - 1)).T

    return sigma, delta, np.log(weight[:, None] * step), place_of


def _odd(steps: float) -> int:
    """Return an odd number of nodes, so that every second has the first and last."""
    return 2 * math.ceil(max(steps, 8) / 2) + 1


def _stretched(values: FloatArray, centre: FloatArray, width: FloatArray) -> FloatArray:
    """Return Σ asinh((value − centre) / width), each row with its own widths."""
    ratio = (values[..., None] - centre) / width[:, None, :]
    return np.arcsinh(ratio).sum(axis=-1)


def _nodes(
    centre: FloatArray, width: FloatArray, largest: float, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return nodes within ± largest with equal steps of :func:`_stretched`, and theirs.

    Newton's method, and bisection where it leaves the bracket.
    """
    unit = width.min(axis=1)[:, None]
    high = np.arcsinh(largest / unit)
    first, last = (_stretched(unit * np.sinh(u), centre, width) for u in (-high, high))
    share = np.linspace(0, 1, size)
    goal = first + (last - first) * share
    low, u = -high, high * (2 * share - 1)
    for _ in range(_MAX_ITERATIONS):
        value = unit * np.sinh(u)
        excess = _stretched(value, centre, width) - goal
        distance = np.hypot(value[..., None] - centre, width[:, None, :])
        slope = (1 / distance).sum(axis=-1)
        if np.abs(excess).max() < _NODE_PRECISION:
            break
        low, high = np.where(excess < 0, u, low), np.where(excess > 0, u, high)
        u = u - excess / (slope * unit * np.cosh(u))
        u = np.where((u < low) | (u > high), (low + high) / 2, u)
    return value, (last - first) / (size - 1) / slope


@lru_cache(maxsize=1)
def _degrees() -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights for ν under its prior, uniform in its distribution."""
    from scipy import special

    nodes, weights = np.polynomial.legendre.leggauss(16)
    alpha, beta = (
        sum(ends) / 2 + (ends[1] - ends[0]) / 2 * nodes for ends in (_ALPHA, _BETA)
    )
    log_excess = np.linspace(-30, 8, 2000)
    below = special.gammainc(alpha[:, None, None], beta[:, None] * np.exp(log_excess))
    distribution = np.einsum("a,b,abx->x", weights, weights, below) / 4
    nodes, weights = np.polynomial.legendre.leggauss(_DEGREES)
    excess = np.exp(np.interp((nodes + 1) / 2, distribution, log_excess))
    return 1 + excess, weights / 2


def _log_t(values: FloatArray, degrees: float) -> FloatArray:
    """Return the logarithm of Student's density."""
    constant = (
        math.lgamma((degrees + 1) / 2)
        - math.lgamma(degrees / 2)
        - math.log(degrees * math.pi) / 2
    )
    return constant - (degrees + 1) / 2 * np.log1p(values**2 / degrees)


@lru_cache(maxsize=64)
def _overlap_table(n: int) -> FloatArray:
    """Return log ∫ t_n(x) t_ν((x − z) / τ) / τ dx as coefficients of a cubic spline.

    The axes are asinh(100 τ) and asinh(z / √(1 + τ²)), in which it is even, with one
    coefficient more on each side, and ν.
    """
    from scipy import ndimage, special

    rows, columns = (np.sinh(_TABLE_STEP * np.arange(size)) for size in _TABLE_SIZE)
    degrees, _ = _degrees()
    table = np.empty((degrees.size, *_TABLE_SIZE))
    table[:, 0] = _log_t(columns, n)
    nodes, weights = np.polynomial.legendre.leggauss(_OVERLAP_NODES)
    for row, tau in enumerate(_LEAST_TAU * rows[1:], start=1):
        far = columns[:, None] * math.hypot(1, tau)
        unit = min(1.0, tau)
        # From each centre half way to the other, and from each outwards.
        half = np.arcsinh(np.stack([far / 2, far + _FAR * (1 + tau)]) / unit) / 2
        inside, outside = away = unit * np.sinh(half * (nodes + 1))
        step_in, step_out = half * weights * np.hypot(unit, away)
        from_first = np.hstack([-outside, inside, far - inside, far + outside])
        from_second = np.hstack([-outside - far, inside - far, -inside, outside])
        step = np.hstack([step_out, step_in, step_in, step_out]) / tau
        log_first = _log_t(from_first, n)
        for k, degree in enumerate(degrees):
            log_product = log_first + _log_t(from_second / tau, degree)
            table[k, row] = special.logsumexp(log_product, b=step, axis=1)
    filtered = [ndimage.spline_filter(each, mode="mirror") for each in table]
    return np.stack([np.pad(each, 1, mode="reflect") for each in filtered], axis=-1)


def _log_overlap(n: int, distance: FloatArray, tau: FloatArray) -> FloatArray:
    """Return :func:`_overlap_table` of n at distances (J, K) and τ (J, 1), by ν."""
    from scipy.interpolate import NdBSpline

    row, column = tau / _LEAST_TAU, np.abs(distance) / np.hypot(1, tau)
    places = np.arcsinh(np.stack(np.broadcast_arrays(row, column), axis=-1))
    places = np.minimum(places / _TABLE_STEP, np.subtract(_TABLE_SIZE, 1))
    knots = tuple(np.arange(-3.0, size + 3) for size in _TABLE_SIZE)
    found: FloatArray = NdBSpline(knots, _overlap_table(n), 3)(places)
    return np.ascontiguousarray(np.moveaxis(found, -1, 0))


def _borders(sigma: FloatArray, degrees: FloatArray, rope: float) -> FloatArray:
    """Return by ν and σ_0 the δ_0 above which "first better" is the most probable.

    Below minus this it is "second better", between them "equivalent"; 0 where the
    region is too narrow for σ_0 to be ever the most probable.
    """
    from scipy import special
    from scipy.optimize.elementwise import find_root

    border = np.full((degrees.size, sigma.size), rope)
    if rope == 0:
        return border
    nu, unit = np.broadcast_arrays(degrees[:, None], sigma[sigma > 0] / rope)

    def excess(at: FloatArray, nu: FloatArray, unit: FloatArray) -> FloatArray:
        near, far = (at - 1) / unit, (at + 1) / unit
        return 2 * special.stdtr(nu, near) + special.stdtr(nu, -far) - 1

    ends, tolerances = (np.zeros_like(unit), np.ones_like(unit)), {"xatol": ROUNDING}
    found = find_root(excess, ends, args=(nu, unit), tolerances=tolerances)
    # The bracket is wrong where "first better" is the more probable in the middle, too.
    border[:, sigma > 0] = rope * np.where(found.status == -1, 0.0, found.x)
    return border


def _probabilities(
    log_density: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return P(first), P(equivalent), P(second) from ν × σ_0 × δ_0.

    Below places ``low`` among the δ_0 the second method is better, above ``high`` the
    first. Within a step the integral is Hermite's cubic.
    """
    density = np.exp(log_density - log_density.max())
    change = np.gradient(density, axis=-1)
    steps = (density[..., 1:] + density[..., :-1]) / 2 - np.diff(change) / 12
    until = np.concatenate(
        [np.zeros_like(steps[..., :1]), steps.cumsum(axis=-1)], axis=-1
    )

    def below(place: FloatArray) -> float:
        left = np.minimum(place.astype(int), steps.shape[-1] - 1)[..., None]
        t = place[..., None] - left
        here, there = (np.take_along_axis(until, left + i, -1) for i in (0, 1))
        rise, later = (np.take_along_axis(density, left + i, -1) for i in (0, 1))
        part = t**2 * (3 - 2 * t)
        hermite = here * (1 - part) + there * part
        hermite += t * (1 - t) * ((1 - t) * rise - t * later)
        return float(hermite.sum())

    whole = float(until[..., -1].sum())
    first, second = 1 - below(high) / whole, below(low) / whole
    return np.clip([first, 1 - first - second, second], 0, 1)
