"""The plan of a comparison, which the configuration fixes: methods, data, sizes.

On one data set the units are repeats or tasks (:func:`pairwise_table`), over several
data sets the data sets (:func:`compare_rankings`).
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from mtmkl_suite.config.models import (
    Comparison,
    ComparisonRow,
    MethodTable,
    Paper,
    Ranking,
    Table,
)
from mtmkl_suite.judge.observations import NoDataError, Observations
from mtmkl_suite.judge.overlap import Overlaps
from mtmkl_suite.judge.sample import average, higher_is_better, select
from mtmkl_suite.statistics.pairs import PAIR_COLUMNS, compare_all
from mtmkl_suite.statistics.ties import scale_of, without_rounding


def compare_experiments(
    config: Paper,
    scores: pd.DataFrame,
    *,
    overlaps: Overlaps | None,
    ropes: Mapping[tuple[str, str], float],
    seed: int = 0,
) -> pd.DataFrame:
    """Compare all pairs of methods where hyper-parameters are selected."""
    tables = []
    for name, experiment in config.experiments.items():
        if experiment.mode != "select":
            continue
        kind = config.protocols[experiment.protocol].kind
        metric = experiment.metrics[0]
        methods = [
            entry.method
            for entry in experiment.methods
            if not config.methods[entry.method].is_control
        ]
        tables.append(
            pairwise_table(
                scores,
                name,
                metric,
                methods=methods,
                unit="task" if kind == "first_rows" else "repeat",
                overlaps=overlaps,
                rope=ropes.get((name, metric), 0.0),
                seed=seed,
            )
        )
    return joined(tables, PAIR_COLUMNS)


def pairwise_table(
    scores: pd.DataFrame,
    experiment: str,
    metric: str,
    *,
    methods: Sequence[str],
    unit: str = "repeat",
    overlaps: Overlaps | None = None,
    rope: float = 0.0,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare all pairs of methods of an experiment.

    Each method is represented by its largest number of tasks learned together; values
    are averaged over variants of the data set within a unit.
    """
    where = {"experiment": experiment, "metric": metric, "setting": ""}
    rows = select(scores, where, unit=unit)
    largest = rows.groupby("method")["n_tasks"].transform("max")
    rows = rows[rows["n_tasks"] == largest]
    # A metric that overflows has no difference either.
    rows = rows[np.isfinite(rows["value"])]
    of = Observations(rows, experiment, metric, unit, overlaps)
    paired, ratios = {}, {}
    for first, second in itertools.combinations(methods, 2):
        try:
            sides = of.pair({"method": first}, {"method": second})
        except NoDataError:
            continue
        paired[first, second] = np.column_stack([sides.first, sides.second])
        ratios[first, second] = sides.variance_ratio
    return compare_all(
        paired,
        experiment=experiment,
        metric=metric,
        unit=unit,
        seed=seed,
        higher_better=higher_is_better(metric),
        scale=scale_of(*paired.values()),
        ratios=ratios,
        rope=rope,
    )


def compare_rankings(
    config: Paper,
    scores: pd.DataFrame,
    *,
    ropes: Mapping[tuple[str, str], float],
    seed: int = 0,
) -> pd.DataFrame:
    """Compare all pairs of methods over the data sets of every configured ranking.

    The region of practical equivalence is the largest of the rows'. Data sets without a
    value for every method, or for every one of the comparison's ``pairs``, are left
    out.
    """
    tables = []
    for name, artefact in config.artefacts.items():
        if not isinstance(artefact, Ranking | MethodTable):
            continue
        if artefact.layout not in ("ranking", "method_pairs"):
            continue
        comparison = artefact.comparison
        keys = [(row.experiment, row.metric) for row in comparison.rows.values()]
        for block in comparison.blocks:
            values = ranking_matrix(scores, comparison, block) / comparison.scale
            if comparison.pairs:
                values = values_in_pairs(values, comparison.pairs)
            else:
                names = {name: method for name, (method,) in comparison.methods.items()}
                values = values.dropna().rename(columns=names)
            tables.append(
                compare_all(
                    {
                        pair: values[list(pair)].to_numpy()
                        for pair in itertools.combinations(values.columns, 2)
                    },
                    experiment=f"{name}, {block}",
                    metric=", ".join(dict.fromkeys(metric for _, metric in keys)),
                    unit="data set",
                    seed=seed,
                    higher_better=True,
                    scale=scale_of(values.to_numpy()),
                    rope=max(ropes.get(key, 0.0) for key in keys),
                )
            )
    return joined(tables, PAIR_COLUMNS)


def values_in_pairs(matrix: pd.DataFrame, pairs: Sequence[str]) -> pd.DataFrame:
    """Return the values of the methods that a comparison tests, without gaps."""
    return matrix[list(pairs)].dropna(axis=1, how="all").dropna()


def joined(tables: Iterable[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """Return the rows of several tables; empty ones would change the columns' types."""
    filled = [table for table in tables if not table.empty]
    if not filled:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(filled, ignore_index=True)


def practical_equivalence(
    config: Paper, published: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str], float]:
    """Return the regions of practical equivalence that a paper's tables fix.

    The half width is that of a comparison's ``rope``, or the table's tolerance; a
    relative one is taken at the median of its published values.
    """
    ropes: dict[tuple[str, str], float] = {}
    for artefact in config.artefacts.values():
        rows = artefact.comparison.rows if artefact.comparison else {}
        keys = [(row.experiment, row.metric) for row in rows.values()]
        if isinstance(artefact, MethodTable):
            tolerance, scale = artefact.comparison.rope, artefact.comparison.scale
        elif isinstance(artefact, Ranking | Table):
            values = published[artefact.file]["value"].dropna()
            tolerance = artefact.tolerance.at(float(values.median()))
            if isinstance(artefact, Ranking):
                scale = artefact.comparison.scale
            else:
                scale = artefact.scale
                columns = artefact.columns.values()
                keys = [(artefact.experiment, column["metric"]) for column in columns]
        else:
            continue
        ropes |= dict.fromkeys(keys, tolerance / scale)
    return ropes


def ranking_matrix(
    scores: pd.DataFrame, comparison: Comparison, block: str
) -> pd.DataFrame:
    """Return the block of a configured comparison: one mean per data set and method."""
    found = {}
    for name, row in rows_of(comparison, block):
        if not higher_is_better(row.metric):
            raise ValueError(f"{name}: a smaller {row.metric} is better: no ranking")
        found[name] = in_columns(scores, comparison, block, row, row.metric)
    _check_independent([d for rows in found.values() for d in rows["dataset"].unique()])
    return without_rounding(comparison.scale * _means(found, comparison))


def seconds_matrix(
    scores: pd.DataFrame, comparison: Comparison, block: str
) -> pd.DataFrame:
    """Return the mean seconds to choose and fit, by row and column."""
    found = {
        name: in_columns(scores, comparison, block, row, "fit_seconds")
        for name, row in rows_of(comparison, block)
    }
    return _means(found, comparison)


def rows_of(comparison: Comparison, block: str) -> Iterator[tuple[str, ComparisonRow]]:
    """Yield the data sets of a block of a comparison, by their printed names."""
    for name, row in comparison.rows.items():
        if block in (row.blocks or comparison.blocks):
            yield name, row


def in_columns(
    scores: pd.DataFrame,
    comparison: Comparison,
    block: str,
    row: ComparisonRow,
    metric: str,
) -> pd.DataFrame:
    """Return the scores of a data set; columns stand in place of methods.

    An experiment has at most one of the methods that share a column.
    """
    of = {
        method: name
        for name, methods in comparison.methods.items()
        for method in methods
    }
    place = {"experiment": row.experiment, "metric": metric, "setting": ""}
    where = place | comparison.blocks[block] | {"method": list(of)}
    rows = select(scores, where)
    return rows.assign(method=rows["method"].map(of))


def _means(found: Mapping[str, pd.DataFrame], comparison: Comparison) -> pd.DataFrame:
    """Return the mean of what was found of each row, by row and column."""
    means = {name: average(rows, ["method"]) for name, rows in found.items()}
    matrix = pd.DataFrame.from_dict(means, orient="index", dtype=float)
    return matrix.reindex(index=list(found), columns=list(comparison.columns))


def _check_independent(datasets: Sequence[str]) -> None:
    base = [name.partition("[")[0] for name in datasets]
    twice = sorted({name for name in base if base.count(name) > 1})
    if twice:
        raise ValueError(
            f"variants of {', '.join(twice)} cannot be separate blocks: "
            "they are not independent"
        )
