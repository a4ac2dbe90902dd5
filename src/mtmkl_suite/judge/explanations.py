"""Which readings of a protocol explain the numbers that were not reproduced.

With many readings and a generous rule something always fits. So a cell counts as
explained only together with its row or its column, by one reading, and only if the
reading would not do the same for wrong numbers; ``docs/verdicts.md`` states the rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = (
    "artefact", "row", "column", "reading", "reproduced", "sd", "n",
    "verdict_under_reading", "chance", "status", "note",
)  # fmt: skip
"""Columns of ``explanations.csv``."""

OVERVIEW_COLUMNS = (
    "reading", "kind", "touched", "gained", "lost", "chance", "rows", "columns",
)  # fmt: skip
"""Columns of the overview of readings."""

EXPLAINED, PARTLY, UNEXPLAINED = "explained", "partly", "unexplained"
FOLLOWS = "follows"
"""Status of a number that is computed from other cells of the paper."""

STATUSES = (EXPLAINED, PARTLY, UNEXPLAINED, FOLLOWS)

LEVEL = 0.05
"""Level at which a line is explained better than wrong numbers, over all readings."""

FEWEST_DIFFERENCES = 5
"""Differences of other cells that make wrong numbers; printed ones join if fewer."""

DIFFERENT = "different"
WITHIN = ("reproduced", "close")
"""Verdicts of a number within the rule."""

_ROUNDING = 1e-9

CellId = tuple[str, str, str]
"""Artefact, row and column."""


@dataclass(frozen=True)
class Reading:
    """A factor of the protocol under one of its alternatives.

    Attributes
    ----------
    factor, alternative : str
    is_optimistic : bool
        Whether it uses test data.
    """

    factor: str
    alternative: str
    is_optimistic: bool

    @property
    def name(self) -> str:
        """``factor=alternative``."""
        return f"{self.factor}={self.alternative}"

    @property
    def kind(self) -> str:
        """As in the configuration."""
        return "optimistic" if self.is_optimistic else "legitimate"


@dataclass(frozen=True)
class Number:
    """A published number and ours, in the main run or under a reading.

    Attributes
    ----------
    published, published_sd, published_n : float
        As printed; nan where nothing is.
    reproduced, sd, n : float
        Mean, spread and number of our repeats; nan where there are none.
    verdict : str
    tolerance : float
        In its unit.
    unit : str
    is_derived : bool
        Whether it is computed from other cells of the paper.
    """

    published: float
    published_sd: float
    published_n: float
    reproduced: float
    sd: float
    n: float
    verdict: str
    tolerance: float
    unit: str = ""
    is_derived: bool = False

    @property
    def difference(self) -> float:
        """Published − reproduced."""
        return self.published - self.reproduced

    @property
    def limit(self) -> float:
        """Return how far a number within the rule may be from the printed one.

        max(2 SE, sd of either, 2 tolerance), the limit of *close* or, if larger, that
        of *reproduced*; see :mod:`mtmkl_suite.judge.verdicts`.
        """
        ours, theirs = np.nan_to_num([self.sd, self.published_sd])
        n_ours, n_theirs = np.nan_to_num([self.n, self.published_n], nan=1.0)
        se = np.sqrt(ours**2 / max(n_ours, 1) + theirs**2 / max(n_theirs, 1))
        return float(max(2 * se, ours, theirs, 2 * np.nan_to_num(self.tolerance)))


Numbers = Mapping[CellId, Number]


@dataclass(frozen=True)
class Chance:
    """How many wrong numbers, or wrong claims, some alternative of a factor accepts."""

    accepted: int
    tried: int

    @property
    def share(self) -> float:
        """Accepted out of tried; nan if none was tried."""
        return self.accepted / self.tried if self.tried else float("nan")

    @property
    def p(self) -> float:
        """The share with what the paper says among the wrong ones, never 0."""
        return (self.accepted + 1) / (self.tried + 1)


@dataclass(frozen=True)
class _Line:
    """What a reading does to a row or a column of a table.

    Attributes
    ----------
    axis : {"row", "column"}
    reading : Reading
    different : int
        Cells of the line that are *different* in the main run.
    touched, gained : int
        How many of them the reading changes, and brings within the rule.
    lost : int
        Cells within the rule that it makes *different*.
    chance : float
        Mean share of wrong numbers that the factor accepts for the touched cells.
    p : float
        Probability of as many gained cells if the printed number of each were one of
        its wrong numbers.
    n_readings : int
        That change a different cell of the line.
    """

    axis: str
    reading: Reading
    different: int
    touched: int
    gained: int
    lost: int
    chance: float
    p: float
    n_readings: int

    @property
    def is_explained(self) -> bool:
        return (
            2 * self.touched >= self.different
            and 2 * (self.gained - self.lost) > self.touched
            and self.p <= LEVEL / self.n_readings
        )


def explain_cells(
    main: Numbers, under: Mapping[Reading, Numbers]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Look for a reading that explains each *different* cell.

    Returns :data:`OVERVIEW_COLUMNS`: for each reading how many *different* cells it
    changes, how many of them it brings within the rule, how many others it moves out,
    chance, and how many rows and columns it explains. Cells that follow from others are
    left out.
    """
    changed = {reading: _changed(main, numbers) for reading, numbers in under.items()}
    chances = _chances(main, changed)
    lines = {
        (axis, cell[0], label): found
        for axis, position in (("row", 1), ("column", 2))
        for cell, label, found in _lines(main, changed, chances, axis, position)
    }
    rows = [
        dict(zip(COLUMNS, cell, strict=False))
        | _explanation(cell, main[cell], changed, lines, chances)
        for cell, number in main.items()
        if number.verdict == DIFFERENT
    ]
    overview = [_overview(main, reading, changed, lines) for reading in changed]
    return (
        pd.DataFrame(rows, columns=list(COLUMNS)),
        pd.DataFrame(overview, columns=list(OVERVIEW_COLUMNS)),
    )


def _changed(main: Numbers, numbers: Numbers) -> dict[CellId, Number]:
    """Return the numbers that are not as in the main run."""
    return {
        cell: number
        for cell, number in numbers.items()
        if cell in main
        and not np.isnan(number.reproduced)
        and not abs(number.reproduced - main[cell].reproduced) <= _ROUNDING
    }


def wrong_numbers(cell: CellId, main: Numbers) -> list[float]:
    """Return numbers that might have been printed in a cell, and were not.

    Its reproduced number plus the difference that another *different* cell of the
    table has, each; if these are fewer than :data:`FEWEST_DIFFERENCES`, also what is
    printed in the other cells. Left out are numbers that the main run accepts, and
    those that the rule cannot tell from the printed one: they are not wrong.
    """
    mine = main[cell]
    others = [
        number
        for other, number in main.items()
        if other != cell
        and other[0] == cell[0]
        and number.unit == mine.unit
        and not np.isnan(number.difference)
    ]

    def is_wrong(value: float) -> bool:
        nearest = min(abs(value - mine.reproduced), abs(value - mine.published))
        return nearest > mine.limit

    moved = (
        mine.reproduced + number.difference
        for number in others
        if number.verdict == DIFFERENT
    )
    wrong = [value for value in moved if is_wrong(value)]
    if len(wrong) < FEWEST_DIFFERENCES:
        wrong += [n.published for n in others if is_wrong(n.published)]
    return wrong


def _chances(
    main: Numbers, changed: Mapping[Reading, Numbers]
) -> dict[str, dict[CellId, Chance]]:
    """Return how many wrong numbers of each cell a factor accepts, by factor."""
    chances: dict[str, dict[CellId, Chance]] = {r.factor: {} for r in changed}
    for cell, number in main.items():
        if number.verdict != DIFFERENT or number.is_derived:
            continue
        wrong = np.array(wrong_numbers(cell, main))
        accepted: dict[str, Any] = {}
        for reading, numbers in changed.items():
            if cell in numbers:
                ours = numbers[cell]
                reached = np.abs(wrong - ours.reproduced) <= ours.limit
                accepted[reading.factor] = reached | accepted.get(reading.factor, False)
        for factor, reached in accepted.items():
            chances[factor][cell] = Chance(int(reached.sum()), wrong.size)
    return chances


def _lines(
    main: Numbers,
    changed: Mapping[Reading, Numbers],
    chances: Mapping[str, Mapping[CellId, Chance]],
    axis: str,
    position: int,
) -> Iterable[tuple[CellId, str, list[_Line]]]:
    """Yield a cell, the label and what every reading does to each row or column."""
    groups: dict[tuple[str, str], list[CellId]] = {}
    for cell, number in main.items():
        if not number.is_derived:
            groups.setdefault((cell[0], cell[position]), []).append(cell)
    for (_, label), cells in groups.items():
        different = [c for c in cells if main[c].verdict == DIFFERENT]
        touching = {
            reading: [c for c in different if c in numbers]
            for reading, numbers in changed.items()
        }
        touching = {reading: found for reading, found in touching.items() if found}
        lines = []
        for reading, touched in touching.items():
            numbers = changed[reading]
            own = [chances[reading.factor][c] for c in touched]
            gained = sum(numbers[c].verdict in WITHIN for c in touched)
            lost = sum(
                main[c].verdict in WITHIN and numbers[c].verdict == DIFFERENT
                for c in cells
                if c in numbers
            )
            lines.append(
                _Line(
                    axis,
                    reading,
                    len(different),
                    len(touched),
                    gained,
                    lost,
                    chance=_mean([each.share for each in own]),
                    p=at_least(gained, [each.p for each in own]),
                    n_readings=len(touching),
                )
            )
        yield cells[0], label, lines


def at_least(count: int, probabilities: Sequence[float]) -> float:
    """Return the probability that at least ``count`` independent events happen."""
    distribution = np.ones(1)
    for p in probabilities:
        distribution = np.convolve(distribution, [1 - p, p])
    return float(distribution[count:].sum())


def _explanation(
    cell: CellId,
    number: Number,
    changed: Mapping[Reading, Numbers],
    lines: Mapping[tuple[str, str, str], list[_Line]],
    chances: Mapping[str, Mapping[CellId, Chance]],
) -> dict[str, Any]:
    """Return the rest of a cell's row: its best reading, and what that explains."""
    if number.is_derived:
        return unread(FOLLOWS, "computed from other cells of the paper")
    mine = {reading: found[cell] for reading, found in changed.items() if cell in found}
    if not mine:
        return unread(UNEXPLAINED, "no reading changes it")
    artefact, row, column = cell
    own = [*lines["row", artefact, row], *lines["column", artefact, column]]
    explaining = [x for x in own if x.is_explained and x.reading in mine]
    explaining.sort(key=lambda line: (line.reading.is_optimistic, line.p))
    for line in explaining:
        if mine[line.reading].verdict in WITHIN:
            note = (
                f"with its {line.axis}: of {line.touched} different cells "
                f"{line.gained} come within the rule, {line.lost} others leave it "
                f"(p = {line.p:.2g})"
            )
            found = mine[line.reading]
            return _read(line.reading, found, line.chance, EXPLAINED, note)
    left = {r: abs(found.difference / number.difference) for r, found in mine.items()}
    for line in explaining:
        if left[line.reading] <= 1 / 2:
            note = (
                f"its {line.axis} is explained; {left[line.reading]:.0%} of its own "
                "difference is left"
            )
            found = mine[line.reading]
            return _read(line.reading, found, line.chance, PARTLY, note)
    within = [reading for reading in mine if mine[reading].verdict in WITHIN]
    if within:
        nearest = min(within, key=lambda r: (r.is_optimistic, left[r]))
        chance = chances[nearest.factor][cell].share
        note = "by itself: this reading explains neither its row nor its column"
        return _read(nearest, mine[nearest], chance, PARTLY, note)
    nearest = min(mine, key=lambda r: (left[r], r.is_optimistic))
    chance = chances[nearest.factor][cell].share
    note = f"the nearest reading; {left[nearest]:.0%} of the difference is left"
    return _read(nearest, mine[nearest], chance, UNEXPLAINED, note)


def unread(status: str, note: str) -> dict[str, Any]:
    """Return the rest of a row that no reading is part of."""
    return {"reading": "", "status": status, "note": note}


def _read(
    reading: Reading, found: Number, chance: float, status: str, note: str
) -> dict[str, Any]:
    return {
        "reading": reading.name,
        "reproduced": found.reproduced,
        "sd": found.sd,
        "n": found.n,
        "verdict_under_reading": found.verdict,
        "chance": chance,
        "status": status,
        "note": marked(reading, note),
    }


def marked(reading: Reading, note: str) -> str:
    """Return a note on what a reading gives, marked if it uses test data."""
    return f"uses test data; {note}" if reading.is_optimistic else note


def _overview(
    main: Numbers,
    reading: Reading,
    changed: Mapping[Reading, Numbers],
    lines: Mapping[tuple[str, str, str], list[_Line]],
) -> dict[str, Any]:
    own = {c: n for c, n in changed[reading].items() if not main[c].is_derived}
    touched = [c for c in own if main[c].verdict == DIFFERENT]
    mine = [line for found in lines.values() for line in found
            if line.reading == reading]  # fmt: skip
    explained = [line.axis for line in mine if line.is_explained]
    return {
        "reading": reading.name,
        "kind": reading.kind,
        "touched": len(touched),
        "gained": sum(own[c].verdict in WITHIN for c in touched),
        "lost": sum(
            main[c].verdict in WITHIN and n.verdict == DIFFERENT for c, n in own.items()
        ),
        "chance": _mean([x.chance for x in mine if x.axis == "row"]),
        "rows": explained.count("row"),
        "columns": explained.count("column"),
    }


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def shares_of(explanations: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many cells have each status, by artefact."""
    counts: dict[str, dict[str, int]] = {}
    for row in explanations.to_dict("records"):
        own = counts.setdefault(row["artefact"], {})
        own[row["status"]] = own.get(row["status"], 0) + 1
    return counts
