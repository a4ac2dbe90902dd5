"""Comparisons of methods: on one data set by pairs, over several data sets by ranks.

On one data set the units are repeats or tasks (:func:`compare_pair`,
:func:`pairwise_table`). Over several data sets the blocks are data sets, one number a
method each (:func:`dataset_matrix`); tasks or repeats of one data set are never blocks,
because they are not independent.
"""

import itertools
import math
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mtmkl.statistics.sample import average, higher_is_better, select
from mtmkl.statistics.verdicts import Tolerance
from mtmkl.typing import FloatArray

LEVEL = 0.05

MIN_UNITS = 5
"""Fewer units than these have no interval, effect size, test or posterior.

Two or three repeats can differ by nearly the same amount by chance, and then look
precise.
"""

FEW_UNITS = "fewer than five units"
"""The same in words, for readers of a report."""

_BOOTSTRAP_SAMPLES = 9999
_POSTERIOR_SAMPLES = 5000
_MAX_EXACT_WILCOXON = 50

# Differences below this share of the values are rounding, not effects.
_ROUNDING = 1e-12
_OVERLAPPING = ("random", "published", "halves", "thirds", "fractions")


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """Two methods on the same units; a difference is first − second.

    With fewer than :data:`MIN_UNITS` units only the means, their difference and wins,
    ties and losses are given; all else is ``nan``, the posterior "".

    Attributes
    ----------
    n : int
        Units.
    mean_first, mean_second, mean_difference : float
    interval_low, interval_high : float
        95 % bootstrap interval (percentiles) of the mean difference.
    effect_size : float
        Cohen's d_z, the mean difference over its standard deviation; ``nan``, as the
        t-tests are, where all units differ by the same amount other than zero.
    wins, ties, losses : int
        Units where the first method is better, equal, worse.
    t, p_t : float
        Paired t-test, two-sided; p is 1 where no unit differs.
    rho, t_divided_by, t_corrected, p_corrected : float
        Corrected resampled t-test of Nadeau and Bengio (2003) for overlapping splits:
        ρ = n_test / (n_test + n_train), t divided by √(1 + n ρ / (1 − ρ)); ``nan`` for
        independent units. It was not meant for small training parts: at 10 % training
        and 10 splits it divides t by 9.5.
    p_wilcoxon : float
        Wilcoxon signed-rank test, two-sided, exact for n <= 50 without ties.
    posterior : str
        "signed-rank" (Benavoli et al. 2014) or, for overlapping splits, "correlated t"
        (Corani and Benavoli 2015).
    rope : float
        Half width of the region of practical equivalence, 0 for none.
    p_first_better, p_equivalent, p_second_better : float
        Posterior probabilities.
    """

    n: int
    mean_first: float
    mean_second: float
    mean_difference: float
    interval_low: float = math.nan
    interval_high: float = math.nan
    effect_size: float = math.nan
    wins: int
    ties: int
    losses: int
    t: float = math.nan
    p_t: float = math.nan
    rho: float = math.nan
    t_divided_by: float = math.nan
    t_corrected: float = math.nan
    p_corrected: float = math.nan
    p_wilcoxon: float = math.nan
    posterior: str = ""
    rope: float = math.nan
    p_first_better: float = math.nan
    p_equivalent: float = math.nan
    p_second_better: float = math.nan


PAIR_COLUMNS = (
    "experiment", "metric", "unit", "first", "second",
    *(field.name for field in fields(PairComparison)),
    "p_printed", "p_wilcoxon_holm", "can_reject",
)  # fmt: skip
"""Columns of ``statistics.csv``, one row per pair of methods."""


def compare_pair(
    first: ArrayLike,
    second: ArrayLike,
    *,
    higher_better: bool,
    test_train_ratio: float | None = None,
    rope: float = 0.0,
    seed: int = 0,
) -> PairComparison:
    """Compare two methods on the same units.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Values of the two methods, n >= 2.
    higher_better : bool
        Direction of the metric.
    test_train_ratio : float or None
        n_test / n_train if the units are overlapping random splits of one data set;
        None if they are independent.
    rope : float
        Differences up to this size are practically none; fixed in advance.
    seed : int
        Of the bootstrap and the posterior samples.

    Raises
    ------
    ValueError
        If the shapes differ, there are fewer than two units, or a value is not finite.
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
    difference = _without_rounding(one, two)
    gain = difference if higher_better else -difference
    mean = float(difference.mean())
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
    if _is_constant(difference, one, two):
        # Without a spread there is nothing to test a difference against.
        t = low = high = effect_size = math.nan if mean else 0.0
    else:
        t = float(stats.ttest_1samp(difference, 0.0).statistic)
        effect_size = mean / float(difference.std(ddof=1))
        low, high = stats.bootstrap(
            (difference,),
            np.mean,
            n_resamples=_BOOTSTRAP_SAMPLES,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    rho = shrink = t_corrected = p_corrected = math.nan
    if test_train_ratio is not None:
        rho = test_train_ratio / (1 + test_train_ratio)
        shrink = math.sqrt(1 + n * test_train_ratio)
        t_corrected = t / shrink
        p_corrected = float(2 * stats.t.sf(abs(t_corrected), n - 1))
    posterior: tuple[float, float, float]
    if test_train_ratio is not None and math.isnan(t):
        posterior = (math.nan,) * 3
    else:
        posterior = _posterior(gain, test_train_ratio, rope, seed)
    return replace(
        described,
        interval_low=float(low),
        interval_high=float(high),
        effect_size=effect_size,
        t=t,
        p_t=float(2 * stats.t.sf(abs(t), n - 1)),
        rho=rho,
        t_divided_by=shrink,
        t_corrected=t_corrected,
        p_corrected=p_corrected,
        p_wilcoxon=wilcoxon_p(difference),
        posterior="signed-rank" if test_train_ratio is None else "correlated t",
        rope=rope,
        p_first_better=posterior[0],
        p_equivalent=posterior[1],
        p_second_better=posterior[2],
    )


def wilcoxon_p(difference: ArrayLike) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test; 1 if all are zero.

    Raises
    ------
    ValueError
        If a difference is NaN or infinite.
    """
    from scipy import stats

    values = np.asarray(difference, dtype=float)
    _check_finite(values, "difference {}")
    if not values.any():
        return 1.0
    with warnings.catch_warnings():
        # Ties make the exact distribution unavailable; the normal one is then used.
        warnings.simplefilter("ignore", UserWarning)
        return float(stats.wilcoxon(values).pvalue)


def smallest_wilcoxon_p(n: int) -> float:
    """Return the smallest two-sided p that n untied differences can reach."""
    return wilcoxon_p(np.arange(1.0, n + 1.0)) if n else 1.0


def bayesian_signed_rank(
    gain: ArrayLike, rope: float = 0.0, *, seed: int = 0
) -> tuple[float, float, float]:
    """Return P(first better), P(practically equal), P(second better).

    Parameters
    ----------
    gain : array-like of shape (n,)
        Positive where the first method is better, over independent units.
    rope : float
        Half width of the region of practical equivalence; 0 leaves its part ``nan``.
    seed : int

    Raises
    ------
    ValueError
        If a gain is NaN or infinite.
    """
    import baycomp

    values = np.asarray(gain, dtype=float)
    _check_finite(values, "gain {}")
    if rope == 0 and not values.any():
        # baycomp's samples then differ from each other by rounding alone.
        return 0.5, math.nan, 0.5
    # baycomp's second argument minus its first: left is then "second better".
    probabilities = baycomp.SignedRankTest.probs(
        np.zeros_like(values),
        values,
        rope=rope,
        nsamples=_POSTERIOR_SAMPLES,
        random_state=seed,
    )
    return _ordered(probabilities)


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's test over data sets, and Iman and Davenport's refinement.

    Attributes
    ----------
    ranks : Series
        Mean rank of each method; 1 is best.
    n_blocks : int
        Data sets.
    chi2, p : float
        Friedman's χ² (ties corrected) and its p.
    f, p_iman_davenport : float
        (N − 1) χ² / (N (k − 1) − χ²), against F with k − 1 and (k − 1)(N − 1)
        degrees of freedom. Where all data sets rank the methods alike F is infinite,
        and its p would be 0 even for two of them: p is then the chance m^(1 − N) of
        that, with m the number of distinct orders of the ranks.
    """

    ranks: pd.Series
    n_blocks: int
    chi2: float
    p: float
    f: float
    p_iman_davenport: float


def dataset_matrix(
    scores: pd.DataFrame, metric: str, *, methods: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return one mean per data set and method, the blocks of rank tests.

    Parameters
    ----------
    scores : DataFrame
        Restricted to the experiments (and train size) to compare.
    metric : str
    methods : sequence of str or None
        Columns, in this order; None takes all in the order of the scores.

    Returns
    -------
    DataFrame of shape (data sets, methods)
        Data sets with a value for every method.

    Raises
    ------
    ValueError
        If two blocks would come from one data set (its variants are not independent).
    """
    rows = select(scores, {"metric": metric})
    names = rows["dataset"].drop_duplicates()
    _check_independent(list(names))
    columns = list(rows["method"].drop_duplicates()) if methods is None else methods
    matrix = average(rows, ["dataset", "method"]).unstack("method")
    return matrix.reindex(index=list(names), columns=list(columns)).dropna(axis=0)


def ranking_matrix(
    scores: pd.DataFrame, comparison: Mapping[str, Any], block: str
) -> pd.DataFrame:
    """Return the block of a configured comparison: one mean per data set and method.

    Parameters
    ----------
    scores : DataFrame
    comparison : mapping
        ``columns``: printed name -> method; ``rows``: printed name -> ``experiment``,
        ``metric`` and, unless it is in all blocks, ``blocks``; ``blocks``: label ->
        what columns of the scores must be; ``scale``.
    block : str
        A label.

    Returns
    -------
    DataFrame of shape (rows in the block, columns)
        Means over repeats of what was chosen (no points of a path), times the scale;
        ``nan`` where there are none.

    Raises
    ------
    ValueError
        If two rows would come from one data set (its variants are not independent), or
        a smaller value of a metric is better.
    """
    methods = comparison["columns"]
    matrix = {}
    datasets: list[str] = []
    for name, row in comparison["rows"].items():
        if block not in row.get("blocks", comparison["blocks"]):
            continue
        if not higher_is_better(row["metric"]):
            raise ValueError(f"{name}: a smaller {row['metric']} is better: no ranking")
        where = {"method": list(methods.values()), "setting": ""}
        found = select(
            scores,
            {**comparison["blocks"][block], **where},
            experiment=row["experiment"],
            metric=row["metric"],
        )
        datasets += found["dataset"].unique().tolist()
        means = average(found, ["method"]) * comparison["scale"]
        matrix[name] = means.reindex(list(methods.values())).to_numpy()
    _check_independent(datasets)
    return pd.DataFrame.from_dict(matrix, orient="index", columns=list(methods))


def friedman(matrix: pd.DataFrame, *, higher_better: bool) -> FriedmanResult:
    """Test whether k >= 3 methods have the same mean rank over N data sets.

    Equal values share the mean of their ranks; if all methods are equal on every data
    set, both statistics are 0 and both p are 1.

    Parameters
    ----------
    matrix : DataFrame of shape (N, k)
        From :func:`dataset_matrix`.
    higher_better : bool
        Direction of the metric.

    Raises
    ------
    ValueError
        If there are fewer than two data sets or three methods, or a value is NaN.
    """
    from scipy import stats

    n, k = matrix.shape
    if n < 2 or k < 3:
        raise ValueError(f"{n} data sets and {k} methods: needs at least 2 and 3")
    _check_complete(matrix)
    ranks = matrix.rank(axis=1, ascending=not higher_better)
    n_orders = _number_of_orders(ranks.iloc[0])
    is_unanimous = bool(ranks.eq(ranks.iloc[0]).all(axis=None))
    if is_unanimous and n_orders == 1:
        return FriedmanResult(ranks.mean(), n, 0.0, 1.0, 0.0, 1.0)
    test = stats.friedmanchisquare(*ranks.to_numpy().T)
    chi2 = float(test.statistic)
    if is_unanimous:
        f, p_iman_davenport = math.inf, float(n_orders) ** (1 - n)
    else:
        f = (n - 1) * chi2 / (n * (k - 1) - chi2)
        p_iman_davenport = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return FriedmanResult(
        ranks=ranks.mean(),
        n_blocks=n,
        chi2=chi2,
        p=float(test.pvalue),
        f=f,
        p_iman_davenport=p_iman_davenport,
    )


def holm_against_control(ranks: pd.Series, n_blocks: int, control: str) -> pd.DataFrame:
    """Compare mean ranks with a control's, Holm-corrected (Demšar 2006, sec. 3.2.2).

    z = (R_i − R_control) / √(k (k + 1) / (6 N)).

    Parameters
    ----------
    ranks : Series
        Mean rank of each of k methods.
    n_blocks : int
        N, the number of data sets.
    control : str
        One of the methods.

    Returns
    -------
    DataFrame
        Index: the other methods; ``z``, ``p`` (two-sided), ``p_holm``.

    Raises
    ------
    ValueError
        If the control is not one of the methods, a rank is NaN, or there is no data
        set.
    """
    from scipy import stats
    from statsmodels.stats.multitest import multipletests

    if control not in ranks.index:
        raise ValueError(f"control {control!r} is not one of {list(ranks.index)}")
    if n_blocks < 1:
        raise ValueError(f"{n_blocks} data sets: a test of mean ranks needs at least 1")
    if ranks.isna().any():
        raise ValueError(f"{ranks.index[ranks.isna()][0]} has no mean rank: it is NaN")
    k = len(ranks)
    others = ranks.drop(control)
    z = (others - ranks[control]) / math.sqrt(k * (k + 1) / (6 * n_blocks))
    p = 2 * stats.norm.sf(np.abs(z))
    holm = multipletests(p, method="holm")[1]
    return pd.DataFrame({"z": z, "p": p, "p_holm": holm}, index=others.index)


def all_pairs_wilcoxon(matrix: pd.DataFrame) -> pd.DataFrame:
    """Compare all pairs of methods over blocks: Wilcoxon's test, Holm's correction.

    Parameters
    ----------
    matrix : DataFrame of shape (N, k)
        One row per block.

    Returns
    -------
    DataFrame
        ``first``, ``second``, ``p``, ``p_holm`` and ``can_reject``: whether so few
        blocks could reject at 5 % after correction at all (7 blocks and 7 comparisons
        never can).

    Raises
    ------
    ValueError
        If a value is NaN.
    """
    from statsmodels.stats.multitest import multipletests

    _check_complete(matrix)
    pairs = list(itertools.combinations(matrix.columns, 2))
    values = {name: matrix[name].to_numpy(dtype=float) for name in matrix.columns}
    p = [wilcoxon_p(_without_rounding(values[a], values[b])) for a, b in pairs]
    table = pd.DataFrame(pairs, columns=["first", "second"])
    table["p"] = p
    table["p_holm"] = multipletests(p, method="holm")[1] if p else []
    table["can_reject"] = _can_reject(len(matrix), len(pairs))
    return table


def pairwise_table(
    scores: pd.DataFrame,
    experiment: str,
    metric: str,
    *,
    methods: Sequence[str],
    unit: str = "repeat",
    test_train_ratio: float | None = None,
    rope: float = 0.0,
    printed_p: Mapping[tuple[str, str], float] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare all pairs of methods of an experiment.

    Each method is represented by its largest number of tasks learned together; values
    are averaged over variants of the data set within a unit.

    Parameters
    ----------
    scores : DataFrame
    experiment, metric : str
    methods : sequence of str
        Those without scores are left out.
    unit : {"repeat", "task"}
    test_train_ratio, rope, seed
        As for :func:`compare_pair`.
    printed_p : mapping of (first, second) to float or None
        p-values that the paper prints for its paired t-test.

    Returns
    -------
    DataFrame
        :data:`PAIR_COLUMNS`, one row per pair of methods with two common units or more;
        ``p_wilcoxon_holm`` and ``can_reject`` are over the tested pairs of this table.
    """
    columns: dict[str, pd.Series] = {}
    for method in methods:
        rows = select(
            scores,
            {"method": method, "setting": ""},
            experiment=experiment,
            metric=metric,
            unit=unit,
        )
        if not rows.empty:
            largest = rows[rows["n_tasks"] == rows["n_tasks"].max()]
            columns[method] = average(largest, [unit, "dataset", "train_size"])
    table = []
    for first, second in itertools.combinations(columns, 2):
        both = pd.concat([columns[first], columns[second]], axis=1)
        # A metric that overflows has no difference either.
        finite = np.isfinite(both.to_numpy()).all(axis=1)
        paired = both.loc[finite].groupby(level=unit).mean().to_numpy()
        if len(paired) < 2:
            continue
        comparison = compare_pair(
            paired[:, 0],
            paired[:, 1],
            higher_better=higher_is_better(metric),
            test_train_ratio=test_train_ratio,
            rope=rope,
            seed=_pair_seed(seed, experiment, metric, first, second),
        )
        labels = {"experiment": experiment, "metric": metric, "unit": unit}
        labels |= {"first": first, "second": second}
        printed = (printed_p or {}).get((first, second), math.nan)
        table.append(labels | asdict(comparison) | {"p_printed": printed})
    return _corrected(table)


def compare_rankings(
    config: Mapping[str, Any],
    scores: pd.DataFrame,
    *,
    ropes: Mapping[tuple[str, str], float],
    seed: int = 0,
) -> pd.DataFrame:
    """Compare all pairs of methods over the data sets of every configured ranking.

    The plan is the configuration's: the rankings among the paper's tables, each of
    their blocks by itself, and the units are data sets; the region of practical
    equivalence is the largest of the rows'. Data sets without a value for every method
    are left out.

    Parameters
    ----------
    config : mapping
        A paper's configuration with its tier resolved.
    scores : DataFrame
    ropes : mapping of (experiment, metric) to float
        Regions of practical equivalence fixed in advance.
    seed : int

    Returns
    -------
    DataFrame
        :data:`PAIR_COLUMNS`; ``experiment`` is the table and the block.
    """
    tables = []
    for name, artefact in config["artefacts"].items():
        if artefact.get("layout") != "ranking":
            continue
        comparison = artefact["comparison"]
        keys = [
            (row["experiment"], row["metric"]) for row in comparison["rows"].values()
        ]
        for block in comparison["blocks"]:
            matrix = ranking_matrix(scores, comparison, block).dropna()
            if len(matrix) < 2:
                continue
            tables.append(
                _pairs_of_columns(
                    matrix.rename(columns=comparison["columns"]) / comparison["scale"],
                    label=f"{name}, {block}",
                    metric=", ".join(dict.fromkeys(metric for _, metric in keys)),
                    rope=max(ropes.get(key, 0.0) for key in keys),
                    seed=seed,
                )
            )
    if not tables:
        return pd.DataFrame(columns=list(PAIR_COLUMNS))
    return pd.concat(tables, ignore_index=True)


def _pairs_of_columns(
    matrix: pd.DataFrame, *, label: str, metric: str, rope: float, seed: int
) -> pd.DataFrame:
    table = []
    for first, second in itertools.combinations(matrix.columns, 2):
        comparison = compare_pair(
            matrix[first],
            matrix[second],
            higher_better=True,
            rope=rope,
            seed=_pair_seed(seed, label, metric, first, second),
        )
        labels = {"experiment": label, "metric": metric, "unit": "data set"}
        labels |= {"first": first, "second": second}
        table.append(labels | asdict(comparison) | {"p_printed": math.nan})
    return _corrected(table)


def _corrected(table: list[dict[str, Any]]) -> pd.DataFrame:
    """Return comparisons with Holm's correction of Wilcoxon's p over those tested."""
    from statsmodels.stats.multitest import multipletests

    frame = pd.DataFrame(table, columns=list(PAIR_COLUMNS))
    p = frame["p_wilcoxon"].dropna().astype(float)
    holm = multipletests(p, method="holm")[1] if len(p) else []
    frame["p_wilcoxon_holm"] = pd.Series(holm, index=p.index, dtype=float)
    frame["can_reject"] = [
        n >= MIN_UNITS and _can_reject(n, len(p)) for n in frame["n"]
    ]
    return frame


def compare_experiments(
    config: Mapping[str, Any],
    scores: pd.DataFrame,
    *,
    test_train_ratios: Mapping[str, float],
    ropes: Mapping[tuple[str, str], float],
    seed: int = 0,
) -> pd.DataFrame:
    """Compare all pairs of methods of every experiment that selects hyper-parameters.

    The plan follows from the configuration: the experiment's first metric; all
    methods but controls; units are tasks where repeats share their training rows
    (protocol kind ``first_rows``), else repeats; the correction for overlapping splits
    where the protocol draws them from one data set (``random``, ``published``,
    ``halves``, ``thirds``, ``fractions``). Points of a recorded path take no part, nor
    methods that are walked along a parameter.

    Parameters
    ----------
    config : mapping
        A paper's configuration with its tier resolved.
    scores : DataFrame
    test_train_ratios : mapping of experiment to float
        n_test / n_train of the splits.
    ropes : mapping of (experiment, metric) to float
        Regions of practical equivalence fixed in advance; 0 where absent.
    seed : int

    Returns
    -------
    DataFrame
        The tables of :func:`pairwise_table`, one under the other.
    """
    tables = []
    for name, experiment in config["experiments"].items():
        if experiment.get("mode", "select") != "select":
            continue
        kind = config["protocols"][experiment["protocol"]]["kind"]
        metric = experiment["metrics"][0]
        methods = [
            entry["method"]
            for entry in experiment["methods"]
            if not is_control(config["methods"][entry["method"]])
        ]
        tables.append(
            pairwise_table(
                scores,
                name,
                metric,
                methods=methods,
                unit="task" if kind == "first_rows" else "repeat",
                test_train_ratio=(
                    test_train_ratios.get(name) if kind in _OVERLAPPING else None
                ),
                rope=ropes.get((name, metric), 0.0),
                seed=seed,
            )
        )
    filled = [table for table in tables if not table.empty]
    if not filled:
        return pd.DataFrame(columns=list(PAIR_COLUMNS))
    return pd.concat(filled, ignore_index=True)


def practical_equivalence(
    config: Mapping[str, Any], published: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str], float]:
    """Return the regions of practical equivalence that a paper's tables fix.

    The half width is the table's tolerance; a relative one is taken at the median of
    its published values.

    Parameters
    ----------
    config : mapping
        A paper's configuration.
    published : mapping of file name to DataFrame
        The paper's published numbers.

    Returns
    -------
    dict of (experiment, metric) to float
        In the metric's own unit.
    """
    ropes: dict[tuple[str, str], float] = {}
    for artefact in config["artefacts"].values():
        if artefact["kind"] != "table" or artefact.get("layout") == "rank_tests":
            continue
        values = published[artefact["file"]]["value"].dropna()
        tolerance = Tolerance(**artefact["tolerance"]).at(float(values.median()))
        if artefact.get("layout") == "ranking":
            comparison = artefact["comparison"]
            rows, scale = comparison["rows"].values(), comparison["scale"]
            keys = [(row["experiment"], row["metric"]) for row in rows]
        else:
            columns, scale = artefact["columns"].values(), artefact["scale"]
            keys = [(artefact["experiment"], column["metric"]) for column in columns]
        ropes |= dict.fromkeys(keys, tolerance / scale)
    return ropes


def is_control(method: Mapping[str, Any]) -> bool:
    """Tell whether a configured method is a control: a floor or ceiling, no rival."""
    return str(method["class"]).endswith("Control")


def _posterior(
    gain: FloatArray, ratio: float | None, rope: float, seed: int
) -> tuple[float, float, float]:
    from baycomp.single import Posterior

    if ratio is None:
        return bayesian_signed_rank(gain, rope, seed=seed)
    n = gain.size
    variance = gain.var(ddof=1) * (1 / n + ratio)
    posterior = Posterior(gain.mean(), variance, n - 1, rope, 0.0, 0.0)
    return _ordered(posterior.probs())


def _ordered(probabilities: tuple[float, ...]) -> tuple[float, float, float]:
    """Turn baycomp's (left, [rope,] right) into (first, equal, second better)."""
    left, *middle, right = (float(p) for p in probabilities)
    return right, (middle[0] if middle else math.nan), left


def _without_rounding(one: FloatArray, two: FloatArray) -> FloatArray:
    """Return the difference, with what is rounding alone set to zero."""
    difference = one - two
    scale = np.maximum(np.abs(one), np.abs(two))
    return np.where(np.abs(difference) <= _ROUNDING * scale, 0.0, difference)


def _is_constant(difference: FloatArray, one: FloatArray, two: FloatArray) -> bool:
    """Tell whether units differ by the same amount, but for rounding."""
    scale = max(np.abs(one).max(), np.abs(two).max())
    return bool(np.ptp(difference) <= _ROUNDING * scale)


def _check_finite(values: FloatArray, name: str) -> None:
    """Refuse values that are not finite; ``name`` has a place for the position."""
    for position in np.flatnonzero(~np.isfinite(values)):
        raise ValueError(
            f"{name.format(position + 1)} is {values[position]}: give finite numbers"
        )


def _check_complete(matrix: pd.DataFrame) -> None:
    for row, column in np.argwhere(matrix.isna().to_numpy()):
        raise ValueError(
            f"{matrix.columns[column]} has no value on {matrix.index[row]} (NaN): "
            "leave out the method or the data set"
        )


def _number_of_orders(ranks: pd.Series) -> int:
    """Return in how many ways ranks, some of them equal, can fall to the methods."""
    repeated = math.prod(math.factorial(count) for count in ranks.value_counts())
    return math.factorial(len(ranks)) // repeated


def _can_reject(n: int, comparisons: int) -> bool:
    # Beyond the exact range any corrected level is within reach.
    if n > _MAX_EXACT_WILCOXON:
        return True
    return smallest_wilcoxon_p(n) * comparisons < LEVEL


def _check_independent(datasets: Sequence[str]) -> None:
    base = [name.partition("[")[0] for name in datasets]
    twice = sorted({name for name in base if base.count(name) > 1})
    if twice:
        raise ValueError(
            f"variants of {', '.join(twice)} cannot be separate blocks: "
            "they are not independent"
        )


def _pair_seed(seed: int, *names: str) -> int:
    return zlib.crc32("|".join([str(seed), *names]).encode())
