"""Two methods on the same units: differences, tests and posterior probabilities."""

import math
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mtmkl.typing import FloatArray
from mtmkl_suite.statistics.ties import differences, scale_of

LEVEL = 0.05
"""Of every test, and of what is corrected for several."""

MIN_UNITS = 5
"""Fewer units than these have no interval, effect size, test or posterior.

Two or three repeats can differ by nearly the same amount by chance, and then look
precise.
"""

FEW_UNITS = "fewer than five units"
"""The same in words, for readers of a report."""

_BOOTSTRAP_SAMPLES = 9999
_POSTERIOR_SAMPLES = 5000
_MAX_ENUMERATED = 13


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """Two methods on the same units: columns of ``statistics.csv``.

    ``docs/verdicts.md`` says what each is. With fewer than :data:`MIN_UNITS` units only
    the means, their difference and wins, ties and losses are given; all else is
    ``nan``, the posterior "".
    """

    n: int
    mean_first: float
    mean_second: float
    mean_difference: float
    interval_low: float = math.nan
    interval_high: float = math.nan
    effect_size: float = math.nan
    """``nan``, as the t-tests are, where all units differ by the same amount other than
    zero."""
    wins: int
    ties: int
    losses: int
    t: float = math.nan
    p_t: float = math.nan
    """1 where no unit differs."""
    rho: float = math.nan
    t_divided_by: float = math.nan
    t_corrected: float = math.nan
    p_corrected: float = math.nan
    p_wilcoxon: float = math.nan
    """Two-sided, exact for n <= 50 without ties."""
    posterior: str = ""
    """"signed-rank" (Benavoli et al. 2014) or, for units that share samples,
    "correlated t" (Corani and Benavoli 2015)."""
    rope: float = math.nan
    p_first_better: float = math.nan
    p_equivalent: float = math.nan
    p_second_better: float = math.nan


def compare_pair(
    first: ArrayLike,
    second: ArrayLike,
    *,
    higher_better: bool,
    scale: float = 0.0,
    variance_ratio: float = 0.0,
    rope: float = 0.0,
    seed: int = 0,
) -> PairComparison:
    """Compare two methods on the same two or more units.

    Ties are those of :mod:`mtmkl_suite.statistics.ties`; ``scale`` is the largest
    absolute score of the comparison that the pair is part of, 0 if it is the whole. The
    variance ratio is ρ / (1 − ρ) of units that share samples, see
    :func:`mtmkl_suite.judge.overlap.variance_ratio`. Differences up to ``rope``, fixed
    in advance, are practically none. The seed is that of the bootstrap and the
    posterior samples.
    """
    from scipy import stats

    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.shape != two.shape or one.ndim != 1:
        raise ValueError(f"units of shapes {one.shape} and {two.shape} are not paired")
    n = one.size
    if n < 2:
        raise ValueError(f"{n} unit: a comparison needs at least two")
    for side, values in (("first", one), ("second", two)):
        _check_finite(values, f"unit {{}} of the {side} method")
    difference, rounding = differences(one, two, scale=max(scale, scale_of(one, two)))
    gain = difference if higher_better else -difference
    mean = float(difference.mean())
    if abs(mean) < rounding.mean():
        mean = 0.0
    described = PairComparison(
        n=n,
        mean_first=float(one.mean()),
        mean_second=float(two.mean()),
        mean_difference=mean,
        wins=int((gain > 0).sum()),
        ties=int((gain == 0).sum()),
        losses=int((gain < 0).sum()),
    )
    if n < MIN_UNITS:
        return described
    if np.ptp(difference) == 0:
        # Without a spread there is nothing to test a difference against.
        t = low = high = effect_size = math.nan if mean else 0.0
    else:
        effect_size = mean / float(difference.std(ddof=1))
        t = effect_size * math.sqrt(n)
        low, high = _interval(difference, variance_ratio, seed)
    rho = shrink = t_corrected = p_corrected = math.nan
    if variance_ratio > 0:
        rho = 1 - 1 / (1 + variance_ratio)
        shrink = math.sqrt(1 + n * variance_ratio)
        t_corrected = t / shrink
        p_corrected = float(2 * stats.t.sf(abs(t_corrected), n - 1))
    posterior = _posterior(gain, rounding, variance_ratio, rope, seed)
    return replace(
        described,
        interval_low=low,
        interval_high=high,
        effect_size=effect_size,
        t=t,
        p_t=float(2 * stats.t.sf(abs(t), n - 1)),
        rho=rho,
        t_divided_by=shrink,
        t_corrected=t_corrected,
        p_corrected=p_corrected,
        p_wilcoxon=wilcoxon_p(difference),
        posterior="correlated t" if variance_ratio > 0 else "signed-rank",
        rope=rope,
        p_first_better=posterior[0],
        p_equivalent=posterior[1],
        p_second_better=posterior[2],
    )


def wilcoxon_p(difference: ArrayLike) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test; 1 if all are zero."""
    from scipy import stats

    values = np.asarray(difference, dtype=float)
    _check_finite(values, "difference {}")
    if not values.any():
        return 1.0
    ranks = stats.rankdata(np.abs(values[values != 0]))
    is_tied = np.unique(ranks).size < values.size
    if is_tied and values.size <= _MAX_ENUMERATED:
        # Of all signs, as scipy does it one by one.
        sums = np.zeros(1)
        for rank in ranks:
            sums = np.concatenate([sums, sums + rank])
        found = ranks[values[values != 0] > 0].sum()
        tails = np.mean(sums >= found), np.mean(sums <= found)
        return float(min(1.0, 2 * min(tails)))
    with warnings.catch_warnings():
        # Ties make the exact distribution unavailable; the normal one is then used.
        warnings.simplefilter("ignore", UserWarning)
        return float(stats.wilcoxon(values).pvalue)


def holm(p: ArrayLike) -> FloatArray:
    """Return p-values after Holm's correction."""
    values = np.asarray(p, dtype=float)
    order = np.argsort(values)
    raised = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def smallest_wilcoxon_p(n: int) -> float:
    """Return the smallest two-sided p that n untied differences can reach."""
    return wilcoxon_p(np.arange(1.0, n + 1.0)) if n else 1.0


def can_reject(n: int, comparisons: int) -> bool:
    """Tell whether Wilcoxon's test of n units can reject after Holm's correction."""
    return n >= MIN_UNITS and smallest_wilcoxon_p(n) * comparisons < LEVEL


def bayesian_signed_rank(
    gain: ArrayLike, rope: float = 0.0, *, rounding: ArrayLike = 0.0, seed: int = 0
) -> tuple[float, float, float]:
    """Return P(first better), P(practically equal), P(second better).

    Gains of independent units are positive where the first method is better; a ``rope``
    of 0 leaves the middle part ``nan``. What is less than its ``rounding`` beyond an
    end of the region, as :func:`~mtmkl_suite.statistics.ties.differences` returns it,
    lies on it.
    """
    values = np.asarray(gain, dtype=float)
    _check_finite(values, "gain {}")
    if rope == 0 and not values.any():
        # Samples then differ from each other by rounding alone.
        return 0.5, math.nan, 0.5
    # Benavoli et al.: 0 is one more unit, of half the weight.
    units = np.concatenate([[0.0], values])
    weights = np.where(np.arange(units.size) == 0, 0.5, 1.0)
    drawn = np.random.RandomState(seed).dirichlet(weights, _POSTERIOR_SAMPLES)
    limit = np.concatenate([[0.0], np.broadcast_to(rounding, values.shape)])
    limit = np.maximum(limit[:, None], limit)

    def beyond(gains: FloatArray) -> FloatArray:
        """Return of each sample how much of the sums of two units lies beyond."""
        excess = gains[:, None] + gains - 2 * rope
        excess[np.abs(excess) < limit] = 0.0
        shares: FloatArray = np.einsum(
            "si,si->s", drawn @ np.heaviside(excess, 0.5), drawn
        )
        return shares

    first = beyond(units)
    if rope == 0:
        return float(np.mean(first > 0.5)), math.nan, float(np.mean(first <= 0.5))
    second = beyond(-units)
    most = np.argmax(np.column_stack([second, 1 - first - second, first]), axis=1)
    p_second, p_equal, p_first = np.bincount(most, minlength=3) / _POSTERIOR_SAMPLES
    return float(p_first), float(p_equal), float(p_second)


def _interval(difference: FloatArray, ratio: float, seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean, by the test that goes with the ratio."""
    from scipy import stats

    if math.isinf(ratio):
        return math.nan, math.nan
    if ratio > 0:
        n, mean = difference.size, float(difference.mean())
        scale = float(difference.std(ddof=1)) * math.sqrt(1 / n + ratio)
        half_width = float(stats.t.ppf(1 - LEVEL / 2, n - 1)) * scale
        return mean - half_width, mean + half_width
    low, high = stats.bootstrap(
        (difference,),
        np.mean,
        n_resamples=_BOOTSTRAP_SAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(low), float(high)


def _posterior(
    gain: FloatArray, rounding: FloatArray, ratio: float, rope: float, seed: int
) -> tuple[float, float, float]:
    """Return P(first better), P(practically equal), P(second better)."""
    from scipy import stats

    if ratio == 0:
        return bayesian_signed_rank(gain, rope, rounding=rounding, seed=seed)
    if math.isinf(ratio) or (gain.any() and np.ptp(gain) == 0):
        return math.nan, math.nan, math.nan
    if not gain.any():
        return (0.5, math.nan, 0.5) if rope == 0 else (0.0, 1.0, 0.0)
    n = gain.size
    scale = math.sqrt(gain.var(ddof=1) * (1 / n + ratio))
    student = n - 1, gain.mean(), scale
    first = float(1 - stats.t.cdf(rope, *student))
    if rope == 0:
        return first, math.nan, 1 - first
    second = float(stats.t.cdf(-rope, *student))
    return first, 1 - second - first, second


def _check_finite(values: FloatArray, name: str) -> None:
    """Refuse values that are not finite; ``name`` has a place for the position."""
    for position in np.flatnonzero(~np.isfinite(values)):
        raise ValueError(
            f"{name.format(position + 1)} is {values[position]}: give finite numbers"
        )


PAIR_COLUMNS = (
    "experiment", "metric", "unit", "first", "second",
    *(field.name for field in fields(PairComparison)),
    "p_wilcoxon_holm", "can_reject",
)  # fmt: skip
"""Columns of ``statistics.csv``, one row per pair of methods."""


def compare_all(
    paired: Mapping[tuple[str, str], FloatArray],
    *,
    experiment: str,
    metric: str,
    unit: str,
    seed: int,
    ratios: Mapping[tuple[str, str], float] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Compare pairs of methods; Holm's correction is over those that are tested.

    ``paired`` has the units (n, 2) of (first, second); those with fewer than two units
    are left out. ``ratios`` are variance ratios of units that share samples;
    ``options`` those of :func:`compare_pair`. Columns are :data:`PAIR_COLUMNS`.
    """
    labels = {"experiment": experiment, "metric": metric, "unit": unit}
    table = []
    for (first, second), values in paired.items():
        if len(values) < 2:
            continue
        names = "|".join([str(seed), experiment, metric, first, second])
        found = compare_pair(
            *values.T,
            seed=zlib.crc32(names.encode()),
            variance_ratio=0.0 if ratios is None else ratios[first, second],
            **options,
        )
        table.append(labels | {"first": first, "second": second} | asdict(found))
    frame = pd.DataFrame(table, columns=list(PAIR_COLUMNS))
    p = frame["p_wilcoxon"].dropna().astype(float)
    frame["p_wilcoxon_holm"] = pd.Series(holm(p), index=p.index)
    frame["can_reject"] = [can_reject(n, len(p)) for n in frame["n"]]
    return frame
