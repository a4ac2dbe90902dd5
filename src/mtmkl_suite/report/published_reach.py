"""Reach of numbers and claims as published, for tables, gallery and report."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_lowercase

import pandas as pd

from mtmkl_suite.config.load import read_part
from mtmkl_suite.config.models import Factor, Paper, ReadingsFile
from mtmkl_suite.config.readings import FILE, USES_TEST_DATA, has_readings
from mtmkl_suite.judge.reach import (
    CLAIM,
    CLAIM_VERDICTS,
    DIFFERENT,
    NOT_TRIED,
    NUMBER,
    OUT_OF_REACH,
    STATUSES,
    counts_text,
)
from mtmkl_suite.judge.verdicts import Row, counts, listed, own_numbers
from mtmkl_suite.run.folders import REACH, PublishedFolder, record_folder

OTHER_READINGS = "other readings"
"""Heading of what stands beside numbers."""


@dataclass(frozen=True)
class Reach:
    """Reach of a *different* number, or of a claim, in words."""

    words: str
    reading: str = ""
    """Label of the one that brings a number within the rule."""
    n_others: int = 0
    n_others_within: int = 0

    def text(self, shown: str | None = None) -> str:
        """Return it with its reading, or with what stands for that."""
        return f"{self.words} ({shown or self.reading})" if self.reading else self.words


ReachOfCells = Mapping[tuple[str, str], Reach]
"""By row and column; of a claim by its id and an empty column."""


def read_reach(config: Paper, artefact: str) -> ReachOfCells:
    """Return the published reach of an artefact's numbers, or of claims."""
    path = record_folder(config) / REACH
    folder = config.published.parent
    if not path.is_file() or not has_readings(folder):
        return {}
    labels = _published_labels(folder)
    rows = pd.read_csv(path, keep_default_na=False)
    return {
        (row["row"], row["column"]): _of_claim(row)
        if row["kind"] == CLAIM
        else _of_number(row, labels)
        for row in rows[rows["artefact"] == artefact].to_dict("records")
        if row["kind"] == NUMBER or row["status"] != NOT_TRIED
    }


def _of_claim(row: Row) -> Reach:
    counts = {v: int(row[v.replace(" ", "_")]) for v in CLAIM_VERDICTS}
    return Reach("; ".join(filter(None, (counts_text(counts), row["note"]))))


def _of_number(row: Row, labels: Mapping[str, str]) -> Reach:
    others = int(row["others"]), int(row["others_within"])
    if row["status"] == OUT_OF_REACH:
        left = float(row["distance"])
        return Reach(f"{OUT_OF_REACH} by {left:.3g}", "", *others)
    status, nearest = str(row["status"]), str(row["nearest"])
    # A reading may have another name since.
    return Reach(status, labels.get(nearest, nearest), *others)


@cache
def _published_labels(folder: Path) -> dict[str, str]:
    name = Path(FILE).stem
    return labels_of(read_part(folder, name, ReadingsFile, "paper").readings)


def labels_of(factors: Mapping[str, Factor]) -> dict[str, str]:
    """Return the readings in words, by ``factor=alternative``."""
    return {
        f"{factor}={name}": f"{settings.label}: {alternative.label}"
        + " (uses test data)" * (alternative.kind in USES_TEST_DATA)
        for factor, settings in factors.items()
        for name, alternative in settings.alternatives.items()
    }


class Marks:
    """Letters that stand for readings in a table, and a sentence for them."""

    def __init__(self, reach: ReachOfCells, cells: pd.DataFrame) -> None:
        different = cells[cells["verdict"] == DIFFERENT]
        keys = zip(different["row"], different["column"], strict=True)
        self._shown = {key: reach[key] for key in keys if key in reach}
        labels = dict.fromkeys(r.reading for r in self._shown.values() if r.reading)
        self._letters = dict(zip(labels, ascii_lowercase, strict=False))

    def texts(self, cells: pd.DataFrame) -> list[str]:
        """Return what stands beside each cell; "" beside those not *different*."""
        keys = zip(cells["row"], cells["column"], strict=True)
        found = [self._shown.get(key, Reach("")) for key in keys]
        return [each.text(self._letters.get(each.reading)) for each in found]

    def notes(self) -> list[str]:
        """Return the sentences below the table, if it has any mark."""
        if not self._shown:
            return []
        named = [f"; {letter}: {label}" for label, letter in self._letters.items()]
        shown = self._shown.values()
        others = others_text(
            sum(r.n_others for r in shown), sum(r.n_others_within for r in shown)
        )
        source = f"{OTHER_READINGS.capitalize()}, from our published record"
        return [f"{source}{''.join(named)}.{others}"]


def others_text(n_others: int, n_within: int) -> str:
    """Say how much it means that numbers are within reach; "" if nothing tells."""
    if not n_others:
        return ""
    found = f"{n_within} of {n_others} ({n_within / n_others:.0%}) other numbers"
    return (
        f" The same readings would also bring {found} printed in the same rows within "
        "the rule."
    )


def reach_counts(reach: pd.DataFrame) -> str:
    """Say how many numbers have each status."""
    return listed(counts(reach.loc[reach["kind"] == NUMBER, "status"], STATUSES))


def published_counts(folder: Path) -> str:
    """Say how many numbers, but those counted apart, have each status; "" for none."""
    path = folder / REACH
    if not path.is_file():
        return ""
    reach = pd.read_csv(path)
    verdicts = own_numbers(pd.read_csv(PublishedFolder(folder).verdicts))
    return reach_counts(reach[reach["artefact"].isin(verdicts["artefact"])])
