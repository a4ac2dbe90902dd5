"""Sentences of a paper in words: their verdicts, and the tests in each setting."""

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from mtmkl_suite.judge.claims import DECIDED, over_tasks_in_words
from mtmkl_suite.judge.reach import CLAIMS
from mtmkl_suite.report.names import number_of
from mtmkl_suite.report.published_reach import read_reach
from mtmkl_suite.report.record import Record
from mtmkl_suite.report.text import (
    DASH,
    TextTable,
    are_shares,
    few_digits,
    interval,
    metrics_in_words,
    p_equals,
)

_SIGNED = ("difference", "slope", "worst step")

HEADER = (
    "sentence of the paper", "on these data (plain test)",
    "on other samples (corrected test)", "effect (interval)", "printed", "evidence",
)  # fmt: skip

Row = dict[Hashable, Any]


def sentences(
    claims: pd.DataFrame, settings: pd.DataFrame, reach: Mapping[str, str]
) -> list[Row]:
    """Return the sentences with their verdicts, effects and settings in words."""
    of = dict(list(settings.groupby("id", sort=False)))
    return [
        {
            **row,
            "own": _verdict(row, "own"),
            "new": _verdict(row, "new"),
            "effect_text": _effect(row),
            "shown_by": [
                (name, number_of(name) or name.replace("_", ": ", 1).replace("_", " "))
                for name in str(row["evidence"]).split()
            ],
            "reach": reach.get(row["id"], ""),
            "tests": [
                {**each, "results": list(_results(each))}
                for each in of[row["id"]].to_dict("records")
            ],
        }
        for row in claims.to_dict("records")
    ]


def judged_rows(record: Record) -> list[Row]:
    """Return the sentences of a record, with their verdicts by other readings."""
    reach = read_reach(record.config, CLAIMS)
    texts = {name: found.text() for (name, _), found in reach.items()}
    return sentences(record.claims, record.claim_settings, texts)


def sentence_table(rows: list[Row]) -> TextTable:
    """Return the sentences as a table of the page that shows their artefacts."""
    lines = [
        [
            f"“{row['quote']}” (l. {row['line']})\nTested: {row['tested']}",
            row["own"],
            row["new"],
            row["effect_text"],
            row["printed"] or DASH,
            ", ".join(f"[{text}](#{name})" for name, text in row["shown_by"]) or DASH,
        ]
        for row in rows
    ]
    return TextTable(HEADER, lines)


def _verdict(row: Row, whose: str) -> str:
    """Return the verdict of one test, with the settings in which the sentence holds."""
    if row["verdict"] not in DECIDED:
        return str(row["verdict"])
    verdict, n, holds = row[f"{whose}_verdict"], row["settings"], row[f"{whose}_holds"]
    if n == 1:
        return str(verdict)
    found = f"in {holds:.0f} of {n:.0f} settings"
    return f"holds ({found})" if verdict == "holds" else f"{verdict} (holds {found})"


def _effect(row: Row) -> str:
    """Return the effect, the median over settings, and its interval."""
    if row["verdict"] not in DECIDED or math.isnan(row["effect"]):
        return DASH
    is_signed, names = row["measure"] in _SIGNED, row["metric"]
    in_points = is_signed and are_shares(names)
    in_percent = in_points or row["measure"] == "share of best"
    effect, low, high = (
        row[end] * (100 if in_percent else 1)
        for end in ("effect", "effect_low", "effect_high")
    )
    text = few_digits(effect) if is_signed else f"{effect:.3g}"
    text += " %" if in_percent and not in_points else ""
    text += "" if math.isnan(low) else f" ({interval(low, high)})"
    metric = ("points of " if in_points else "") + metrics_in_words(names)
    return f"{text}, {' in '.join(filter(None, (row['measure'], metric)))}"


def _results(row: Row) -> Iterator[str]:
    """Yield the result of the plain test, and that corrected for shared samples."""
    has_statistic = not math.isnan(row["statistic"])
    parts = [f"statistic {row['statistic']:.3g}"] if has_statistic else []
    parts += _p_and_interval(row["p"], row["interval_low"], row["interval_high"])
    if parts:
        yield ", ".join(parts)
    if not math.isnan(row["rho"]):
        ends = row["corrected_low"], row["corrected_high"]
        found = ", ".join(_p_and_interval(row["p_corrected"], *ends))
        found = found or "nothing can be tested"
        yield f"corrected for shared samples (ρ = {row['rho']:.3g}): {found}"
    if over_tasks := over_tasks_in_words(row):
        yield over_tasks


def _p_and_interval(p: float, low: float, high: float) -> Iterator[str]:
    if not math.isnan(p):
        yield f"p {p_equals(p)}"
    if not math.isnan(low):
        yield f"interval {interval(low, high)}"
