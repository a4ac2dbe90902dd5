"""Which readings of a protocol explain the claims that do not hold in the main run.

The rule is that of numbers (:mod:`mtmkl_suite.judge.explanations`): a reading must do
better than it does for wrong claims, corrected for the number of readings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.judge.explanations import (
    COLUMNS,
    EXPLAINED,
    LEVEL,
    PARTLY,
    UNEXPLAINED,
    Chance,
    Reading,
    marked,
    unread,
)

CLAIMS = "claims"
"""In the column ``artefact``, of claims."""

_HOLDS, _DOES_NOT = "holds", "does not hold"


@dataclass(frozen=True)
class ClaimResult:
    """The result of a claim's test, in the main run or under a reading.

    Attributes
    ----------
    verdict : str
    note : str
        With the means, so that equal notes are equal results.
    effect : float
        The mean difference or slope.
    is_two_sided : bool
        Whether the test can also support the reverse.
    """

    verdict: str
    note: str
    effect: float
    is_two_sided: bool


ClaimResults = Mapping[str, ClaimResult]
"""By the claim's id."""


def explain_claims(
    main: ClaimResults, under: Mapping[Reading, ClaimResults]
) -> pd.DataFrame:
    """Look for a reading under which each claim holds that does not in the main run.

    A wrong claim is the reverse of one, as the other side of its test. *Chance* is the
    share of wrong claims, unsupported in the main run, that some alternative of the
    factor supports. A reading explains a claim if (accepted + 1) / (tried + 1) of them
    is at most :data:`LEVEL` over the number of readings that change the claim.
    """
    changed = {
        reading: {
            name: result
            for name, result in results.items()
            if result.verdict != "no data"
            and name in main
            and result.note != main[name].note
        }
        for reading, results in under.items()
    }
    chances = _chances_of_reverses(main, changed)
    rows = [
        {"artefact": CLAIMS, "row": name, "column": ""}
        | _explained_claim(name, changed, chances)
        for name, result in main.items()
        if result.verdict.startswith(("undecided", _DOES_NOT))
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _chances_of_reverses(
    main: ClaimResults, changed: Mapping[Reading, ClaimResults]
) -> dict[str, Chance]:
    """Return how many reversed claims each factor makes hold."""
    chances = {}
    for factor in dict.fromkeys(reading.factor for reading in changed):
        found = [
            (name, result.verdict == _DOES_NOT)
            for reading, results in changed.items()
            if reading.factor == factor
            for name, result in results.items()
            if main[name].is_two_sided and main[name].verdict != _DOES_NOT
        ]
        tried = {name for name, _ in found}
        accepted = {name for name, is_accepted in found if is_accepted}
        chances[factor] = Chance(len(accepted), len(tried))
    return chances


def _explained_claim(
    name: str,
    changed: Mapping[Reading, ClaimResults],
    chances: Mapping[str, Chance],
) -> dict[str, Any]:
    mine = {r: results[name] for r, results in changed.items() if name in results}
    if not mine:
        return unread(UNEXPLAINED, "no reading changes it")
    holding = [r for r in mine if mine[r].verdict == _HOLDS]
    holding.sort(key=lambda r: (r.is_optimistic, chances[r.factor].p))
    reading = holding[0] if holding else max(mine, key=lambda r: mine[r].effect)
    chance, found = chances[reading.factor], mine[reading]
    note = f"{len(holding)} of {len(mine)} readings make it hold; {found.note}"
    status = UNEXPLAINED
    if holding:
        status = EXPLAINED if chance.p <= LEVEL / len(mine) else PARTLY
        note = f"p = {chance.p:.2g}; {note}"
    return {
        "reading": reading.name,
        "reproduced": found.effect,
        "verdict_under_reading": found.verdict,
        "chance": chance.share,
        "status": status,
        "note": marked(reading, note),
    }
