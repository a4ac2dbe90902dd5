"""What the published record says of other readings, beside the numbers they explain."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pandas as pd

from mtmkl_suite.config.readings import USES_TEST_DATA, has_readings, load_readings
from mtmkl_suite.judge.claim_explanations import CLAIMS
from mtmkl_suite.judge.explanations import (
    DIFFERENT,
    EXPLAINED,
    FOLLOWS,
    PARTLY,
    STATUSES,
)
from mtmkl_suite.run.layout import EXPLANATIONS

OTHER_READINGS = "other readings"
"""Heading of what stands beside numbers."""


@dataclass(frozen=True)
class Explained:
    """What other readings explain of a *different* number, or of a claim.

    Attributes
    ----------
    status : str
        One of :data:`~mtmkl_suite.judge.explanations.STATUSES`.
    reading : str
        The label of the reading that explains it, wholly or partly; "" otherwise.
    """

    status: str
    reading: str = ""

    def text(self, shown: str | None = None) -> str:
        """Return it in words."""
        if self.status == FOLLOWS:
            return "follows from others"
        if not self.reading:
            return self.status
        return f"{self.status} by {shown or self.reading}"


ExplainedCells = Mapping[tuple[str, str], Explained]
"""By row and column; of a claim by its id and an empty column."""


def record_folder(config: Mapping[str, Any]) -> Path:
    """Return the folder of a paper below ``figures``."""
    # config/papers/<id>/published -> figures/<id>
    top = Path(config["published"]).parents[3]
    return top / "figures" / str(config["paper"]["id"])


def read_explained(config: Mapping[str, Any], artefact: str) -> ExplainedCells:
    """Return what the published record says of the numbers of an artefact."""
    path = record_folder(config) / EXPLANATIONS
    folder = Path(config["published"]).parent
    if not path.is_file() or not has_readings(folder):
        return {}
    labels = _published_labels(folder)
    rows = pd.read_csv(path, keep_default_na=False)
    return {
        (row["row"], row["column"]): Explained(
            row["status"],
            # A reading may have another name since.
            labels.get(row["reading"], row["reading"])
            if row["status"] in (EXPLAINED, PARTLY)
            else "",
        )
        for row in rows[rows["artefact"] == artefact].to_dict("records")
    }


@cache
def _published_labels(folder: Path) -> dict[str, str]:
    return labels_of(load_readings(folder, "paper")["readings"]["factors"])


def labels_of(factors: Mapping[str, Any]) -> dict[str, str]:
    """Return the readings in words, by ``factor=alternative``."""
    return {
        f"{factor}={name}": f"{settings['label']}: {alternative['label']}"
        + " (uses test data)" * (alternative["kind"] in USES_TEST_DATA)
        for factor, settings in factors.items()
        for name, alternative in settings["alternatives"].items()
    }


class Marks:
    """Letters that stand for readings in a table, and a sentence for them."""

    def __init__(self, explained: ExplainedCells, cells: pd.DataFrame) -> None:
        different = cells[cells["verdict"] == DIFFERENT]
        keys = zip(different["row"], different["column"], strict=True)
        self._shown = {key: explained[key] for key in keys if key in explained}
        labels = dict.fromkeys(e.reading for e in self._shown.values() if e.reading)
        self._letters = dict(zip(labels, ascii_lowercase, strict=False))

    def texts(self, cells: pd.DataFrame) -> list[str]:
        """Return what stands beside each cell; "" beside those not *different*."""
        keys = zip(cells["row"], cells["column"], strict=True)
        return [self.text(*key) for key in keys]

    def text(self, row: str, column: str) -> str:
        """Return what stands beside a cell; "" beside one that is not *different*."""
        found = self._shown.get((row, column))
        return "" if found is None else found.text(self._letters.get(found.reading))

    def notes(self) -> list[str]:
        """Return the sentence below the table, if it has any mark."""
        if not self._shown:
            return []
        named = [f"; {letter}: {label}" for label, letter in self._letters.items()]
        what = f"{OTHER_READINGS.capitalize()}: what they explain, as published"
        return [f"{what}{''.join(named)}."]


def explained_counts(folder: Path) -> str:
    """Say how many *different* numbers other readings explain."""
    path = folder / EXPLANATIONS
    if not path.is_file():
        return ""
    rows = pd.read_csv(path)
    found = rows.loc[rows["artefact"] != CLAIMS, "status"].value_counts()
    own = [name for name in STATUSES if name != FOLLOWS]
    named = [f"{found[name]} {name}" for name in own if name in found]
    return ", ".join(named) or "none"
