"""Methods that joined a comparison after its plan was fixed: their notes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mtmkl.statistics.matrix_tests import MatrixTests
from mtmkl_suite.config.models import MethodComparison
from mtmkl_suite.judge.comparison import ranking_matrix
from mtmkl_suite.report.pages.context import Context

_JOINED = "joined the methods of the plan"


def joined_columns(
    config: Mapping[str, Any], comparison: MethodComparison
) -> list[str]:
    """Return the columns of a comparison whose methods have joined."""
    own = set(config.get("own", ()))
    return [
        name
        for name, methods in comparison["columns"].items()
        if ({methods} if isinstance(methods, str) else set(methods)) <= own
    ]


def notes_on_ranks(
    context: Context,
    comparison: MethodComparison,
    found: Mapping[str, MatrixTests | str],
) -> list[str]:
    """Say of each method that joined whether it is ranked, and if not, why."""
    notes = []
    compared = {b: each for b, each in found.items() if not isinstance(each, str)}
    for name in joined_columns(context.config, comparison):
        gaps: dict[tuple[str, ...], list[str]] = {}
        for block, tests in compared.items():
            if name not in tests.methods.index:
                values = ranking_matrix(context.scores, comparison, block)[name]
                missing = values.loc[tests.scores.values.index].isna()
                gaps.setdefault(tuple(missing.index[missing]), []).append(block)
        for datasets, blocks in gaps.items():
            notes.append(
                f"{name} {_JOINED}. It is not ranked ({', '.join(blocks)}): it has no "
                f"scores on {', '.join(datasets)}."
            )
        if compared and not gaps:
            notes.append(f"{name} {_JOINED}; ranks and tests are computed with it.")
    return notes


def notes_on_scores(
    context: Context, comparison: MethodComparison, shown: Sequence[str]
) -> list[str]:
    """Say of each method that joined that it did, and whether it has scores."""
    return [
        f"{name} {_JOINED}."
        if name in shown
        else f"{name} {_JOINED}, and has no scores on these data sets."
        for name in joined_columns(context.config, comparison)
    ]


def notes_on_settings(
    context: Context,
    comparison: MethodComparison,
    decided: Mapping[str, pd.Index],
) -> list[str]:
    """Say of each method that joined where it is not among those that are compared."""
    notes = []
    for name in joined_columns(context.config, comparison) if decided else ():
        left_out = [label for label, methods in decided.items() if name not in methods]
        notes.append(
            f"{name} {_JOINED}. It is left out where it lacks scores on one of the "
            f"data sets: {', '.join(left_out)}."
            if left_out
            else f"{name} {_JOINED}, and is compared with them."
        )
    return notes


def notes_on_pairs(context: Context, comparison: MethodComparison) -> list[str]:
    """Say of each method that joined that it is in no pair."""
    return [
        f"{name} {_JOINED}. It is in no pair: the pairs were fixed before the scores."
        for name in joined_columns(context.config, comparison)
    ]


def notes_on_printed_ranks(context: Context, comparison: MethodComparison) -> list[str]:
    """Say of each method that joined that it has no rank beside printed ones."""
    configured = context.config["experiments"]
    present = {
        entry["method"]
        for row in comparison["rows"].values()
        for entry in configured.get(row["experiment"], {}).get("methods", ())
    }
    return [
        f"{context.label(name)} joined and is not ranked here: the ranks are those of "
        "the methods that the paper printed."
        for name in context.config.get("own", ())
        if name in present
    ]
