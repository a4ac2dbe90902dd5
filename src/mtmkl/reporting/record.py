"""The published record: files that other programs read, see ``docs/verdicts.md``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.files import write_table
from mtmkl.reporting.context import NO_SCORES, Context, load_context, split_ratios
from mtmkl.reporting.layouts import build
from mtmkl.reporting.tables import build_quoted
from mtmkl.statistics.claims import evaluate_claims
from mtmkl.statistics.comparison import (
    compare_experiments,
    compare_rankings,
    practical_equivalence,
)

VERDICT_COLUMNS = (
    "artefact", "row", "column", "unit", "published", "published_sd", "status",
    "reproduced", "reproduced_sd", "n", "verdict", "data", "rule",
)  # fmt: skip
"""Columns of ``verdicts.csv``: one line a published number."""


def verdict_table(context: Context) -> pd.DataFrame:
    """Return the verdict on every published number of a paper's artefacts.

    Parameters
    ----------
    context : Context

    Returns
    -------
    DataFrame
        :data:`VERDICT_COLUMNS`, in the order of the configuration.
    """
    parts = []
    for name, artefact in context.config["artefacts"].items():
        cells = []
        if artefact["kind"] == "table":
            cells.append(build(context, artefact).cells)
        if "quoted" in artefact:
            cells.append(build_quoted(context, artefact["quoted"])[0])
        parts += [part[part["in_paper"]].assign(artefact=name) for part in cells]
    if not parts:
        return pd.DataFrame(columns=list(VERDICT_COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(VERDICT_COLUMNS)]


def claims_table(context: Context) -> pd.DataFrame:
    """Return the verdict on every claim; ``no data`` says why."""
    config = context.config
    table = evaluate_claims(
        config["claims"],
        context.scores,
        config["methods"],
        full_protocol=context.is_judged,
    )
    notes = [
        _note_with_reason(context, claim["args"], str(row["note"]))
        if row["verdict"] == "no data"
        else row["note"]
        for claim, row in zip(config["claims"], table.to_dict("records"), strict=True)
    ]
    return table.assign(note=notes)


def _note_with_reason(context: Context, args: Mapping[str, Any], note: str) -> str:
    """Add why a side has no scores, for the first side of which that is known."""
    sides = [value for value in args.values() if isinstance(value, Mapping)]
    for side in sides:
        reason = context.missing_reason(args["experiment"], side.get("method"))
        if reason != NO_SCORES:
            return f"{note}: {reason}"
    return note


def write_record(
    config: Mapping[str, Any], results: Path, *, verdicts: Path, claims: Path
) -> None:
    """Write ``verdicts.csv`` and ``claims.csv`` of a paper.

    Parameters
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    results : Path
        ``results/<tier>/<paper>``, with scores and what is known of the data.
    verdicts, claims : Path
        Written.
    """
    context = load_context(config, results)
    write_table(verdicts, verdict_table(context))
    write_table(claims, claims_table(context))


def write_statistics(
    config: Mapping[str, Any], results: Path, statistics: Path, *, seed: int
) -> None:
    """Write the comparisons of all pairs of methods, by repeats and by data sets.

    Parameters
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    results : Path
        ``results/<tier>/<paper>``, with scores and splits.
    statistics : Path
        Written.
    seed : int
        Root seed of bootstrap and posterior samples.
    """
    context = load_context(config, results)
    ropes = practical_equivalence(config, context.published)
    tables = [
        compare_experiments(
            config,
            context.scores,
            test_train_ratios=split_ratios(config, results),
            ropes=ropes,
            seed=seed,
        ),
        compare_rankings(config, context.scores, ropes=ropes, seed=seed),
    ]
    filled = [table for table in tables if len(table)] or tables[:1]
    write_table(statistics, pd.concat(filled, ignore_index=True))
