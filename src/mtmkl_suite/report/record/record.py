"""The published record: files that other programs read, see ``docs/verdicts.md``."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mtmkl.files import read_table, write_json, write_table
from mtmkl_suite.judge.claims import COLUMNS, evaluate_claims
from mtmkl_suite.judge.comparison import (
    compare_experiments,
    compare_rankings,
    practical_equivalence,
)
from mtmkl_suite.report.pages.context import NO_SCORES, Context, load_context
from mtmkl_suite.report.record import written
from mtmkl_suite.report.record.overlaps import overlaps_table
from mtmkl_suite.run.fits import collect_scores
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.provenance import provenance


def verdict_table(config: Mapping[str, Any], folder: PaperFolder) -> pd.DataFrame:
    """Return the verdict on every published number of a paper's artefacts."""
    parts = [written.read(folder, name).verdicts for name in config["artefacts"]]
    filled = [part for part in parts if len(part)]
    if not filled:
        return pd.DataFrame(columns=list(written.VERDICT_COLUMNS))
    return pd.concat(filled, ignore_index=True)


def claims_table(context: Context) -> pd.DataFrame:
    """Return the verdict on every claim; ``no data`` says why."""
    config = context.config
    table = evaluate_claims(
        config["claims"],
        context.scores,
        config["methods"],
        overlaps=context.overlaps,
        steps=context.steps,
        full_protocol=context.is_judged,
    )
    notes = [
        _note_with_reason(context, claim["args"], str(row["note"]))
        if row["verdict"] == "no data"
        else row["note"]
        for claim, row in zip(config["claims"], table.to_dict("records"), strict=True)
    ]
    return table.assign(note=notes)


def published_claims(context: Context, published: PaperFolder) -> pd.DataFrame:
    """Return the verdict on every claim; those on steps that are not kept stay."""
    before = {row["id"]: row for row in read_table(published.claims).to_dict("records")}
    found = claims_table(context).to_dict("records")
    steps = [claim["args"].get("step") for claim in context.config["claims"]]
    rows = [
        row if step is None or step in context.steps else before.get(row["id"], row)
        for row, step in zip(found, steps, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _note_with_reason(context: Context, args: Mapping[str, Any], note: str) -> str:
    """Add why a side has no scores, for the first side of which that is known."""
    sides = [value for value in args.values() if isinstance(value, Mapping)]
    for side in sides:
        reason = context.missing_reason(args["experiment"], side.get("method"))
        if reason != NO_SCORES:
            return f"{note}: {reason}"
    return note


def statistics_table(context: Context, *, seed: int) -> pd.DataFrame:
    """Return the comparisons of all pairs of methods, by repeats and by data sets."""
    config = context.config
    ropes = practical_equivalence(config, context.published)
    tables = [
        compare_experiments(
            config,
            context.scores,
            overlaps=context.overlaps,
            ropes=ropes,
            seed=seed,
        ),
        compare_rankings(config, context.scores, ropes=ropes, seed=seed),
    ]
    filled = [table for table in tables if len(table)] or tables[:1]
    return pd.concat(filled, ignore_index=True)


def write_record(
    config: Mapping[str, Any], folder: PaperFolder, run: Mapping[str, Any]
) -> None:
    """Write the files of :data:`mtmkl_suite.run.folders.RECORD`."""
    collect_scores(config, folder)
    write_what_follows(config, folder, run)


def write_what_follows(
    config: Mapping[str, Any], folder: PaperFolder, run: Mapping[str, Any]
) -> None:
    """Write the files of the record that follow from its table of scores."""
    context = load_context(config, folder)
    write_table(folder.verdicts, verdict_table(config, folder))
    write_table(folder.claims, claims_table(context))
    statistics = statistics_table(context, seed=run["seed"])
    write_table(folder.statistics, statistics)
    write_table(folder.overlaps, overlaps_table(context.overlaps or {}))
    write_json(
        folder.provenance,
        provenance(config, run, context.data_info.values(), folder.job_seconds()),
    )
