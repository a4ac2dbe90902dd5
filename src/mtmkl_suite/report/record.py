"""The published record: files that other programs read, see docs/verdicts.md."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Paper, Run
from mtmkl_suite.config.names import NAMES
from mtmkl_suite.data import default_registry
from mtmkl_suite.files import read_json, write_json, write_table
from mtmkl_suite.judge.claims import (
    SETTING_COLUMNS,
    evaluate_settings,
    judged_sentences,
)
from mtmkl_suite.judge.comparison import (
    compare_experiments,
    compare_rankings,
    joined,
    practical_equivalence,
)
from mtmkl_suite.report.context import (
    NO_SCORES,
    Context,
    load_context,
    overlaps_table,
    recorded_context,
)
from mtmkl_suite.run.folders import (
    DERIVED_DIGITS,
    PaperFolder,
    PublishedFolder,
    record_folder,
)
from mtmkl_suite.run.provenance import commit_date, provenance
from mtmkl_suite.statistics.pairs import PAIR_COLUMNS

VERDICT_COLUMNS = (
    "artefact", "row", "column", "unit", "published", "published_sd", "status",
    "reproduced", "reproduced_sd", "n", "verdict", "verdict_with_spread", "data",
    "rule", "derived",
)  # fmt: skip
"""Columns of ``verdicts.csv``: one line for each published number.

``derived`` says whether it follows from other numbers of the paper.
"""

_TYPES = {
    **dict.fromkeys(
        ("published", "published_sd", "reproduced", "reproduced_sd"), "float64"
    ),
    "n": "Int64",
}


def write_verdicts(folder: PaperFolder, name: str, verdicts: pd.DataFrame) -> None:
    """Write the verdicts on an artefact's numbers, as JSON."""
    rows = verdicts.astype(object)
    records = rows.where(rows.notna(), None).to_dict("records")
    write_json(folder.artefact(name, "json"), records)


def read_verdicts(folder: PaperFolder, name: str) -> pd.DataFrame:
    """Return the verdicts that :func:`write_verdicts` has written."""
    records = read_json(folder.artefact(name, "json"))
    return pd.DataFrame(records, columns=list(VERDICT_COLUMNS)).astype(_TYPES)


def verdict_table(config: Paper, folder: PaperFolder) -> pd.DataFrame:
    """Return the verdict on every published number of a paper's artefacts."""
    parts = (read_verdicts(folder, name) for name in config.artefacts)
    return joined(parts, VERDICT_COLUMNS)


def claims_tables(
    context: Context, published: PaperFolder | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts on sentences, and those in each of their settings.

    Verdicts on the numbers of steps that are not kept stay as ``published``.
    """
    config, registry = context.config, default_registry()
    table = evaluate_settings(
        config.claims,
        context.scores,
        config.methods,
        overlaps=context.overlaps,
        steps=context.steps,
        full_protocol=context.is_judged,
        sample_of={name: registry[name].sample_of for name in registry},
    )
    tested = [each.args for claim in config.claims for each in claim.settings]
    notes = [
        _note_with_reason(context, args, str(row["note"]))
        if row["verdict"] == "no data"
        else row["note"]
        for args, row in zip(tested, table.to_dict("records"), strict=True)
    ]
    table = table.assign(note=notes)
    if published is not None:
        before = {
            (row["id"], row["setting"]): row
            for row in read_claims(published.claim_settings).to_dict("records")
        }
        rows = [
            row
            if args.get("step") in {None, *context.steps}
            else before.get((row["id"], row["setting"]), row)
            for args, row in zip(tested, table.to_dict("records"), strict=True)
        ]
        table = pd.DataFrame(rows, columns=list(SETTING_COLUMNS))
    return judged_sentences(config.claims, table), table


def write_claims(
    folder: PaperFolder, claims: pd.DataFrame, settings: pd.DataFrame
) -> None:
    """Write the verdicts on sentences and in settings; counts stay whole numbers."""
    whole = claims.astype(dict.fromkeys(_COUNTS, "Int64"))
    write_table(folder.claims, whole, digits=DERIVED_DIGITS)
    whole = settings.astype({"n": "Int64"})
    write_table(folder.claim_settings, whole, digits=DERIVED_DIGITS)


_COUNTS = (
    "settings", "own_holds", "own_undecided", "own_does_not_hold", "new_holds",
    "new_undecided", "new_does_not_hold",
)  # fmt: skip


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
    of_repeats = compare_experiments(
        config, context.scores, overlaps=context.overlaps, ropes=ropes, seed=seed
    )
    of_datasets = compare_rankings(config, context.scores, ropes=ropes, seed=seed)
    return joined([of_repeats, of_datasets], PAIR_COLUMNS)


def write_record(config: Paper, folder: PaperFolder, run: Run) -> None:
    """Write the files of the record but its scores."""
    context = load_context(config, folder)
    write_table(folder.verdicts, verdict_table(config, folder), digits=DERIVED_DIGITS)
    write_claims(folder, *claims_tables(context))
    statistics = statistics_table(context, seed=run.seed)
    write_table(folder.statistics, statistics, digits=DERIVED_DIGITS)
    # With all digits: what is judged anew starts from them.
    write_table(folder.overlaps, overlaps_table(context.overlaps or {}))
    write_json(
        folder.provenance,
        provenance(config, run, context.data_info.values(), folder.benchmarks()),
    )


@dataclass(frozen=True)
class Record:
    """Results of a paper, as published or as a run left them.

    ``origin`` is the date and commit of a published one in words, "" for a run's.
    """

    context: Context
    folder: PaperFolder
    verdicts: pd.DataFrame
    claims: pd.DataFrame
    claim_settings: pd.DataFrame
    statistics: pd.DataFrame
    provenance: Mapping[str, Any]
    origin: str = ""

    @property
    def config(self) -> Paper:
        """The configuration behind it."""
        return self.context.config


def read_claims(path: Path) -> pd.DataFrame:
    """Read a table of claims; empty texts stay texts."""
    table = pd.read_csv(path, dtype=NAMES)
    texts = [name for name in _TEXTS if name in table]
    return table.astype(dict.fromkeys(texts, "object")).fillna(dict.fromkeys(texts, ""))


_TEXTS = (
    "setting", "note", "tested", "printed", "evidence", "own_verdict", "new_verdict",
    "measure", "metric", "tasks_of", "tasks_verdict",
)  # fmt: skip


def read_record(context: Context, folder: PaperFolder) -> Record:
    """Return the record in a folder."""
    return Record(
        context=context,
        folder=folder,
        verdicts=pd.read_csv(folder.verdicts, dtype=NAMES),
        claims=read_claims(folder.claims),
        claim_settings=read_claims(folder.claim_settings),
        statistics=pd.read_csv(folder.statistics),
        provenance=read_json(folder.provenance),
    )


def published_record(config: Paper) -> Record | None:
    """Return the published record of a paper, None if there is none, as of own data."""
    folder = PublishedFolder(record_folder(config))
    full = load_paper(config.folder, "paper")
    is_whole = all(path.is_file() for path in folder.record())
    if not is_whole or full.paper.id != config.paper.id:
        return None
    shown = {
        name: each
        for name, each in full.artefacts.items()
        if folder.artefact(name, "csv").is_file()
    }
    full = full.model_copy(update={"artefacts": shown})
    found = read_record(recorded_context(full, folder.path.parent), folder)
    return replace(found, origin=origin_of(found.provenance))


def origin_of(provenance: Mapping[str, Any]) -> str:
    """Return date and commit of scores, the commit alone where git has no date."""
    commit = str(provenance.get("commit") or "unknown")
    return ", ".join(filter(None, [commit_date(commit), f"commit {commit[:7]}"]))
