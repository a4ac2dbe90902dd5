"""The published record: files that other programs read, see docs/verdicts.md."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Paper, Run
from mtmkl_suite.config.names import NAMES
from mtmkl_suite.data import default_registry
from mtmkl_suite.files import read_json, read_table, write_json, write_table
from mtmkl_suite.judge.claims import COLUMNS, evaluate_claims
from mtmkl_suite.judge.comparison import (
    compare_experiments,
    compare_rankings,
    practical_equivalence,
)
from mtmkl_suite.judge.verdicts import NOT_JUDGED
from mtmkl_suite.report.context import NO_SCORES, Context, load_context, overlaps_table
from mtmkl_suite.report.tables.text import TextTable
from mtmkl_suite.run.fits import collect_scores
from mtmkl_suite.run.folders import DERIVED_DIGITS, PaperFolder, record_folder
from mtmkl_suite.run.provenance import commit_date, provenance

RUN, RECORD = "this run", "published record"
"""Values of the column ``source``: where a verdict comes from."""

NO_DATA = "no data"

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


@dataclass(frozen=True)
class Written:
    """Parts of an artefact that record and report show.

    ``tables`` has the numbers that the paper quotes in its text last; ``verdicts`` are
    :data:`VERDICT_COLUMNS`, in the order of the table.
    """

    tables: list[TextTable]
    verdicts: pd.DataFrame


def write_written(folder: PaperFolder, name: str, written: Written) -> None:
    """Write it next to the artefact, as JSON."""
    rows = written.verdicts.astype(object)
    document = {
        "tables": [asdict(table) for table in written.tables],
        "verdicts": rows.where(rows.notna(), None).to_dict("records"),
    }
    write_json(folder.artefact(name, "json"), document)


def read_written(folder: PaperFolder, name: str) -> Written:
    """Return what :func:`write_written` has written."""
    document = read_json(folder.artefact(name, "json"))
    verdicts = pd.DataFrame(document["verdicts"], columns=list(VERDICT_COLUMNS))
    tables = [TextTable(**table) for table in document["tables"]]
    # Results of before there was this column have no such numbers.
    verdicts["derived"] = verdicts["derived"].eq(True)
    return Written(tables, verdicts.astype(_TYPES))


def verdict_table(config: Paper, folder: PaperFolder) -> pd.DataFrame:
    """Return the verdict on every published number of a paper's artefacts."""
    parts = [read_written(folder, name).verdicts for name in config.artefacts]
    filled = [part for part in parts if len(part)]
    if not filled:
        return pd.DataFrame(columns=list(VERDICT_COLUMNS))
    return pd.concat(filled, ignore_index=True)


def claims_table(context: Context) -> pd.DataFrame:
    """Return the verdict on every claim; ``no data`` says why."""
    config, registry = context.config, default_registry()
    table = evaluate_claims(
        config.claims,
        context.scores,
        config.methods,
        overlaps=context.overlaps,
        steps=context.steps,
        full_protocol=context.is_judged,
        sample_of={name: registry[name].sample_of for name in registry},
    )
    notes = [
        _note_with_reason(context, claim.args, str(row["note"]))
        if row["verdict"] == "no data"
        else row["note"]
        for claim, row in zip(config.claims, table.to_dict("records"), strict=True)
    ]
    return table.assign(note=notes)


_WORDS = ("claim", "section", "basis")


def published_claims(context: Context, published: PaperFolder) -> pd.DataFrame:
    """Return the verdict on every claim; those on steps that are not kept stay.

    Their words and their basis are those of today.
    """
    before = {row["id"]: row for row in read_table(published.claims).to_dict("records")}
    found = claims_table(context).to_dict("records")
    steps = [claim.args.get("step") for claim in context.config.claims]
    rows = [
        row
        if step is None or step in context.steps
        else {**before.get(row["id"], row), **{key: row[key] for key in _WORDS}}
        for row, step in zip(found, steps, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def write_claims(folder: PaperFolder, claims: pd.DataFrame) -> None:
    """Write the verdict on every claim; those without data make no float of an n."""
    whole = claims.astype({"n": "Int64"})
    write_table(folder.claims, whole, digits=DERIVED_DIGITS)


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
            config, context.scores, overlaps=context.overlaps, ropes=ropes, seed=seed
        ),
        compare_rankings(config, context.scores, ropes=ropes, seed=seed),
    ]
    filled = [table for table in tables if len(table)] or tables[:1]
    return pd.concat(filled, ignore_index=True)


def write_record(config: Paper, folder: PaperFolder, run: Run) -> None:
    """Write the files of :data:`mtmkl_suite.run.folders.RECORD`."""
    collect_scores(config, folder)
    write_what_follows(config, folder, run)


def write_what_follows(config: Paper, folder: PaperFolder, run: Run) -> None:
    """Write the files of the record that follow from its table of scores."""
    context = load_context(config, folder)
    write_table(folder.verdicts, verdict_table(config, folder), digits=DERIVED_DIGITS)
    write_claims(folder, claims_table(context))
    statistics = statistics_table(context, seed=run.seed)
    write_table(folder.statistics, statistics, digits=DERIVED_DIGITS)
    # With all digits: what is judged anew starts from them.
    write_table(folder.overlaps, overlaps_table(context.overlaps or {}))
    write_json(
        folder.provenance,
        provenance(config, run, context.data_info.values(), folder.job_seconds()),
    )


@dataclass(frozen=True)
class PublishedRecord:
    """Results of a paper below ``figures`` in a checkout.

    ``origin`` is the date and commit of the sources that made its scores, in words;
    ``data`` has digest, origin and size of each data set variant.
    """

    folder: Path
    origin: str
    data: Mapping[str, Mapping[str, Any]]
    verdicts: pd.DataFrame
    claims: pd.DataFrame

    @property
    def scores(self) -> Path:
        """Table of all its scores."""
        return PaperFolder(self.folder).scores

    def artefact(self, name: str, ending: str) -> Path | None:
        """Return a file of a figure or table, None if it is not published."""
        path = self.folder / f"{name}.{ending}"
        return path if path.is_file() else None

    def cells(self, name: str) -> pd.DataFrame:
        """Return the cells of a table as published, none if it is not."""
        path = self.artefact(name, "csv")
        return pd.DataFrame() if path is None else pd.read_csv(path)


def origin_of(provenance: Mapping[str, Any]) -> str:
    """Return date and commit of scores, the commit alone where git has no date."""
    commit = str(provenance.get("commit") or "unknown")
    return ", ".join(filter(None, [commit_date(commit), f"commit {commit[:7]}"]))


def read_published_record(config: Paper) -> PublishedRecord | None:
    """Return a paper's published record, None outside a checkout."""
    folder = PaperFolder(record_folder(config))
    parts = (folder.provenance, folder.verdicts, folder.claims, folder.scores)
    if not all(path.is_file() for path in parts):
        return None
    provenance = read_json(folder.provenance)
    return PublishedRecord(
        folder=folder.path,
        origin=origin_of(provenance),
        data=provenance.get("data", {}),
        verdicts=pd.read_csv(folder.verdicts, dtype=NAMES),
        claims=pd.read_csv(folder.claims, dtype=NAMES),
    )


def with_record(
    table: pd.DataFrame,
    published: pd.DataFrame | None,
    keys: list[str],
    *,
    fill: bool = False,
) -> pd.DataFrame:
    """Return the verdicts of a run, and the published ones where it passed none.

    ``fill``: Whether rows that the run does not have follow from the record. A tier
    without some experiments would else answer for less than the paper.
    """
    marked = table.assign(source=RUN)
    if published is None or table.empty:
        return marked
    before = {tuple(row[k] for k in keys): row for row in published.to_dict("records")}
    rows = []
    for row in marked.to_dict("records"):
        found = before.get(tuple(row[key] for key in keys))
        is_open = row["verdict"] in (NOT_JUDGED, NO_DATA)
        if is_open and found is not None and found["verdict"] != NO_DATA:
            row = {**row, **found, "source": RECORD}
        rows.append(row)
    if fill:
        known = {tuple(row[k] for k in keys) for row in rows}
        others = (row for name, row in before.items() if name not in known)
        rows += [{**row, "source": RECORD} for row in others]
    return pd.DataFrame(rows, columns=list(marked.columns))
