"""The published record of a paper, for what a run did not compute or does not judge."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.files import read_json
from mtmkl_suite.judge.verdicts import NOT_JUDGED
from mtmkl_suite.run.folders import PaperFolder, record_folder
from mtmkl_suite.run.provenance import commit_date

RUN, RECORD = "this run", "published record"
"""Values of the column ``source``: where a verdict comes from."""

NO_DATA = "no data"


@dataclass(frozen=True)
class PublishedRecord:
    """What a checkout has of a paper below ``figures``.

    Attributes
    ----------
    folder : Path
    commit, date : str
        Of the sources that made its scores; ``date`` is "" where git does not know it.
    data : mapping of str to mapping
        Digest and origin of each data set variant.
    verdicts, claims : DataFrame
        As published.
    """

    folder: Path
    commit: str
    date: str
    data: Mapping[str, Mapping[str, Any]]
    verdicts: pd.DataFrame
    claims: pd.DataFrame

    @property
    def origin(self) -> str:
        """When and from which sources it was made, in words."""
        commit = f"commit {self.commit[:7]}"
        return f"{self.date}, {commit}" if self.date else commit

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


def read_published_record(config: Mapping[str, Any]) -> PublishedRecord | None:
    """Return a paper's published record, None outside a checkout."""
    folder = PaperFolder(record_folder(config))
    parts = (folder.provenance, folder.verdicts, folder.claims, folder.scores)
    if not all(path.is_file() for path in parts):
        return None
    provenance = read_json(folder.provenance)
    commit = str(provenance.get("commit") or "unknown")
    return PublishedRecord(
        folder=folder.path,
        commit=commit,
        date=commit_date(commit),
        data=provenance.get("data", {}),
        verdicts=pd.read_csv(folder.verdicts),
        claims=pd.read_csv(folder.claims),
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
