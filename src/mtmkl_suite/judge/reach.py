"""Reach: how near the readings of a protocol come to what was not reproduced."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Claim, Tolerance
from mtmkl_suite.judge.claims import DECIDED as CLAIM_VERDICTS
from mtmkl_suite.judge.claims import verdict_in
from mtmkl_suite.judge.verdicts import NOT_JUDGED, Published, Reproduced, Row, judge

COLUMNS = (
    "artefact", "row", "column", "published", "reproduced", "low", "high",
    "n_readings", "n_within", "nearest", "nearest_value", "distance", "status", "note",
    "kind",
    "others", "others_within", "holds", "undecided", "does_not_hold",
)  # fmt: skip
"""Columns of ``reach.csv``, see ``docs/verdicts.md``."""

READ_ONE_WAY = "agrees if read one way"
WITHIN_REACH, WITH_TEST_DATA = "within reach", "with test data only"
OUT_OF_REACH, NOT_TRIED = "out of reach", "not tried"
STATUSES = (READ_ONE_WAY, WITHIN_REACH, WITH_TEST_DATA, OUT_OF_REACH, NOT_TRIED)

NUMBER, CLAIM = "number", "claim"
CLAIMS = "claims"
"""In the column ``artefact``, of claims."""

DIFFERENT = "different"
WITHIN = ("reproduced", "close")
"""Verdicts of a number within the rule."""

_ROUNDING = 1e-9
WHOLE = (
    "n_readings", "n_within", "others", "others_within",
    "holds", "undecided", "does_not_hold",
)  # fmt: skip

CellId = tuple[str, str, str]
"""Artefact, row and column."""


@dataclass(frozen=True)
class Reading:
    """A factor of the protocol under one of its alternatives, with its label."""

    factor: str
    alternative: str
    kind: str = "legitimate"
    label: str = ""

    @property
    def name(self) -> str:
        """``factor=alternative``."""
        return f"{self.factor}={self.alternative}"

    @property
    def is_legitimate(self) -> bool:
        """True if no test row chooses anything."""
        return self.kind == "legitimate"


@dataclass(frozen=True)
class Number:
    """A printed number and ours, in the main run or under a reading."""

    published: Published
    reproduced: Reproduced | None
    verdict: str
    tolerance: Tolerance | None = None
    unit: str = ""
    is_derived: bool = False

    @property
    def value(self) -> float:
        """Ours; nan where there is none."""
        return self.reproduced.value if self.reproduced else float("nan")

    @property
    def nearest(self) -> float:
        """The printed number, read as is nearest to ours."""
        values = [way.value for way in self.published.ways if way.value is not None]
        return min(values, key=lambda value: abs(value - self.value))

    @property
    def distance(self) -> float:
        """Distance of ours from the printed one."""
        return abs(self.nearest - self.value)

    @property
    def is_within(self) -> bool:
        """True if ours is within the rule, read one way at least."""
        is_sure = len(self.published.ways) == 1
        return self.verdict in WITHIN if is_sure else self.accepts(self)

    def accepts(self, other: "Number") -> bool:
        """Tell whether ours is within the rule of a printed number, read one way."""
        return any(
            judge(way, self.reproduced, other.tolerance).verdict in WITHIN
            for way in other.published.ways
            if other.tolerance is not None
        )


Numbers = Mapping[CellId, Number]


def changed(main: Numbers, numbers: Numbers) -> dict[CellId, Number]:
    """Return the numbers under a reading that are not as in the main run."""
    return {
        cell: number
        for cell, number in numbers.items()
        if cell in main
        and number.reproduced is not None
        and not abs(number.value - main[cell].value) <= _ROUNDING
    }


def reach_of_numbers(
    main: Numbers, under: Mapping[Reading, Numbers], *, is_judged: bool = True
) -> pd.DataFrame:
    """Return the reach of each *different* number that follows from no other.

    ``under``: The numbers that each reading changes. Of a run that is not judged there
    are the ranges of all of them.
    """
    rows = []
    for cell, number in main.items():
        found = {r: numbers[cell] for r, numbers in under.items() if cell in numbers}
        is_asked = number.verdict == DIFFERENT if is_judged else bool(found)
        if is_asked and not number.is_derived:
            row = {
                **_place(cell, NUMBER),
                "published": number.published.value,
                "reproduced": number.value,
                **_range(number, found),
            }
            if is_judged:
                row |= _nearest(number, found) | _others(cell, main, found)
            rows.append(row)
    return _table(rows)


def _range(number: Number, found: Mapping[Reading, Number]) -> dict[str, Any]:
    legitimate = [n for reading, n in found.items() if reading.is_legitimate]
    values = pd.Series([n.value for n in (number, *legitimate)])
    return {
        "low": values.min(),
        "high": values.max(),
        "n_readings": len(legitimate),
        "status": NOT_JUDGED,
    }


def _nearest(number: Number, found: Mapping[Reading, Number]) -> dict[str, Any]:
    """Return the nearest reading, the status, and a note on how near it comes."""
    if number.is_within:
        note = f"read as {number.nearest:g} the main run is within the rule"
        return {"n_within": 0, "status": READ_ONE_WAY, "note": note}
    if not found:
        return {"n_within": 0, "status": NOT_TRIED, "note": "no reading changes it"}
    reading, mine = min(
        found.items(),
        key=lambda item: (
            not item[1].is_within,
            not item[0].is_legitimate,
            item[1].distance,
        ),
    )
    status = OUT_OF_REACH
    if mine.is_within:
        status = WITHIN_REACH if reading.is_legitimate else WITH_TEST_DATA
    return {
        "n_within": sum(n.is_within for r, n in found.items() if r.is_legitimate),
        "nearest": reading.name,
        "nearest_value": mine.value,
        "distance": mine.distance,
        "status": status,
        "note": "uses test data; " * (not reading.is_legitimate)
        + f"read as {mine.nearest:g}: " * (len(mine.published.ways) > 1)
        + f"{mine.distance:.3g} from the printed number, {number.distance:.3g} in the "
        "main run",
    }


def _others(
    cell: CellId, main: Numbers, found: Mapping[Reading, Number]
) -> dict[str, int]:
    """Count the other numbers of a row, and those that the same readings bring near."""
    legitimate = [n for reading, n in found.items() if reading.is_legitimate]
    others = [
        other
        for place, other in main.items()
        if legitimate
        and place[:2] == cell[:2]
        and place != cell
        and other.unit == main[cell].unit
        and not other.is_derived
        and not main[cell].accepts(other)
    ]
    within = [any(mine.accepts(other) for mine in legitimate) for other in others]
    return {"others": len(others), "others_within": sum(within)}


def reach_of_claims(
    claims: Iterable[Claim],
    main: pd.DataFrame,
    under: Mapping[Reading, pd.DataFrame],
) -> pd.DataFrame:
    """Return under how many readings each sentence holds.

    Tables have the verdict in each setting, those of a reading in the settings that it
    has scores for; the others stay as in the main run. A reading concerns a sentence if
    it changes the result in a setting. The note of a sentence names the readings under
    which it holds, or does not hold any more, unless several agree; those that use test
    data are counted apart.
    """
    keys = ["id", "setting"]
    own = main.set_index(keys)
    changed: dict[Reading, pd.DataFrame] = {}
    for reading, settings in under.items():
        judged = settings[settings["verdict"].isin(CLAIM_VERDICTS)].set_index(keys)
        is_other = judged["note"] != own["note"].reindex(judged.index)
        changed[reading] = judged[is_other]
    rows = []
    for claim in claims:
        mine = own.loc[[claim.id]]
        mine = mine[mine["verdict"].isin(CLAIM_VERDICTS)]
        if mine.empty:
            continue
        verdict = verdict_in(claim.quantifier, mine)
        found = {
            reading: verdict_in(claim.quantifier, _with(mine, settings))
            for reading, settings in changed.items()
            if settings.index.isin(mine.index).any()
        }
        counts = Counter(v for reading, v in found.items() if reading.is_legitimate)
        by_test_data = Counter(found.values()) - counts
        named = [
            f"{other} under {reading.label}"
            for reading, other in found.items()
            if reading.is_legitimate
            and (verdict == "holds") != (other == "holds")
            and (len(counts) > 1 or counts.total() == 1)
        ]
        if by_test_data:
            named.append(f"with test data {counts_text(by_test_data)}")
        rows.append(
            {
                **_place((CLAIMS, claim.id, ""), CLAIM),
                "n_readings": counts.total(),
                "status": "" if found else NOT_TRIED,
                "note": "; ".join(named),
            }
            | {v.replace(" ", "_"): counts[v] for v in CLAIM_VERDICTS}
        )
    return _table(rows)


def _with(main: pd.DataFrame, changed: pd.DataFrame) -> pd.DataFrame:
    mine = changed[changed.index.isin(main.index)]
    return pd.concat([main[~main.index.isin(mine.index)], mine])


def counts_text(counts: Mapping[str, int]) -> str:
    """Say under how many readings a claim has each verdict."""
    parts = [f"{v} under {counts[v]}" for v in CLAIM_VERDICTS if counts[v]]
    return f"{', '.join(parts)} of {sum(counts.values())}" if parts else ""


def _place(cell: CellId, kind: str) -> dict[str, Any]:
    artefact, row, column = cell
    return {"artefact": artefact, "row": row, "column": column, "kind": kind}


def _table(rows: Iterable[Row]) -> pd.DataFrame:
    table = pd.DataFrame(list(rows), columns=list(COLUMNS))
    return table.astype(dict.fromkeys(WHOLE, "Int64"))
