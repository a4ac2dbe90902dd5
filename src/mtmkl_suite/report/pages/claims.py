"""Claims in words: their results, and the tests behind them."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from mtmkl_suite.config.models import Paper, Ranking, Table
from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.pages.answers import counts
from mtmkl_suite.report.text import (
    few_digits,
    metric_words,
    number,
    p_equals,
)

_EFFECTS = {
    "paired_difference": "difference",
    "paired_difference_chosen": "difference",
    "equivalence": "difference",
    "trend": "slope",
    "within_range": "mean",
}
"""Estimates that are the middle of the interval of a claim, by its test."""


class _Unit(NamedTuple):
    """Unit of a metric in a paper's tables, with its scale and decimals."""

    name: str
    scale: float
    decimals: int


Claim = dict[Hashable, Any]
"""A row of ``claims.csv`` with its results in words."""


def claims_in_words(
    claims: pd.DataFrame, reach: Mapping[str, str], config: Paper
) -> dict[str, list[Claim]]:
    """Return claims with their results, by the section that makes them."""
    ours = set(claim_tests.by_author(claims)["claims of ours"]["id"])
    metrics = {claim.id: str(claim.args.get("metric", "")) for claim in config.claims}
    units = _units(config)
    found: dict[str, list[Claim]] = {}
    for row in claims.to_dict("records"):
        view = _in_words(row, reach, metrics.get(row["id"], ""), units)
        view["is_ours"] = row["id"] in ours
        found.setdefault(str(row["section"]), []).append(view)
    return found


def counts_by_test(claims: Iterable[pd.DataFrame]) -> dict[str, dict[str, int]]:
    """Count the verdicts on the claims of several papers that each test decides."""
    used = pd.concat([each[["test", "verdict"]] for each in claims])
    return {
        name.replace("_", " "): counts(
            used.loc[used["test"] == name, "verdict"], claim_tests.VERDICTS
        )
        for name in TESTS
    }


def _units(config: Paper) -> dict[str, _Unit]:
    """Return the units of the metrics that a paper's tables show."""
    found: dict[str, _Unit] = {}
    for table in config.artefacts.values():
        metrics: list[Any]
        if isinstance(table, Ranking):
            scale = table.comparison.scale
            metrics = [row.metric for row in table.comparison.rows.values()]
        elif isinstance(table, Table):
            scale = table.scale
            parts = table.rows, table.columns, table.extra_rows, table.extra_columns
            metrics = [s.get("metric") for part in parts for s in part.values()]
        else:
            continue
        unit = _Unit(table.unit, scale, table.decimals)
        found |= {metric: unit for metric in metrics if isinstance(metric, str)}
    return found


def _amount(value: float, unit: _Unit | None, sign: str = "") -> str:
    """Return a value as a table shows it; of no table, to few digits."""
    if unit is None:
        return few_digits(value) if sign else f"{value:.3g}"
    return number(value * unit.scale, f"{sign}z.{unit.decimals}f")


def _in_words(
    row: Claim, reach: Mapping[str, str], metric: str, units: Mapping[str, _Unit]
) -> Claim:
    """Return a claim with its results, and the paper's own verdict if another."""
    own = row["own_verdict"]
    size = estimate = ""
    effect = _EFFECTS.get(row["test"], "")
    # A slope is by another unit still, that of its axis.
    unit = units.get(metric) if effect in ("difference", "mean") else None
    if unit and unit.name == "%" and effect == "difference":
        unit = unit._replace(name="points")
    if effect and not math.isnan(row["interval_low"]):
        middle = (row["interval_low"] + row["interval_high"]) / 2
        size = _amount(middle, unit, "" if effect == "mean" else "+")
        shown_in = f"in {unit.name}" if unit and unit.name else ""
        estimate = ", ".join(filter(None, (effect, metric_words(metric), shown_in)))
    return {
        **row,
        "test": row["test"].replace("_", " "),
        "size": size,
        "estimate": estimate,
        "note": row["note"] if isinstance(row["note"], str) else "",
        "reach": reach.get(row["id"], ""),
        "own_verdict": own if isinstance(own, str) and own != row["verdict"] else "",
        "results": list(_results(row, unit)),
    }


def _results(row: Claim, unit: _Unit | None) -> Iterator[str]:
    """Yield the result of the own test, and that corrected for shared examples."""
    has_statistic = not math.isnan(row["statistic"])
    parts = [f"statistic {row['statistic']:.3g}"] if has_statistic else []
    ends = row["interval_low"], row["interval_high"]
    parts += _p_and_interval(row["p"], *ends, unit)
    if parts:
        yield ", ".join(parts)
    if not math.isnan(row["rho"]):
        ends = row["corrected_low"], row["corrected_high"]
        found = ", ".join(_p_and_interval(row["p_corrected"], *ends, unit))
        found = found or "nothing can be tested"
        yield f"corrected for shared examples (ρ = {row['rho']:.3g}): {found}"
    over_tasks = claim_tests.over_tasks_in_words(row)
    if over_tasks:
        yield over_tasks


def _p_and_interval(
    p: float, low: float, high: float, unit: _Unit | None
) -> Iterator[str]:
    if not math.isnan(p):
        yield f"p {p_equals(p)}"
    if not math.isnan(low):
        ends = f"{_amount(low, unit)} to {_amount(high, unit)}"
        yield f"interval {ends} {unit.name if unit else ''}".rstrip()
