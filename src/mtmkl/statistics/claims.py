"""The claims of a paper: checked against the configuration, and judged.

The verdict on a claim is that of its test, or

- *not judged (quick)*: repeats, grid or data are reduced,
- *no data*: the scores lack a side of the comparison.
"""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from mtmkl.statistics.claim_tests import ClaimError
from mtmkl.statistics.observations import NoDataError
from mtmkl.statistics.sample import SelectionError
from mtmkl.statistics.step_tests import TESTS, table_of
from mtmkl.statistics.verdicts import NOT_JUDGED

VERDICTS = ("holds", "does not hold", "undecided", NOT_JUDGED, "no data")
COLUMNS = (
    "id", "claim", "section", "test", "statistic", "p", "interval_low",
    "interval_high", "verdict", "note",
)  # fmt: skip
"""Columns of ``claims.csv``."""


def check_claims(claims: Iterable[Mapping[str, Any]], methods: Iterable[str]) -> None:
    """Check that every claim names a known test, its arguments and known methods.

    Parameters
    ----------
    claims : iterable of mapping
        ``claims`` of a paper's configuration.
    methods : iterable of str
        Ids of the configured methods.

    Raises
    ------
    ClaimError
        Names the claim and what it gets wrong.
    """
    known_methods = set(methods)
    for claim in claims:
        where = f"claim {claim['id']!r}"
        if claim["test"] not in TESTS:
            raise ClaimError(
                f"{where}: test {claim['test']!r} is unknown; known: {', '.join(TESTS)}"
            )
        try:
            inspect.signature(TESTS[claim["test"]]).bind(None, **claim["args"])
        except TypeError as error:
            raise ClaimError(f"{where}: test {claim['test']}: {error}") from error
        for value in claim["args"].values():
            if isinstance(value, Mapping) and "method" in value:
                method = value["method"]
                if method not in known_methods:
                    raise ClaimError(f"{where}: method {method!r} is not configured")


def evaluate_claims(
    claims: Iterable[Mapping[str, Any]],
    scores: pd.DataFrame,
    methods: Iterable[str],
    *,
    steps: Mapping[str, pd.DataFrame] | None = None,
    full_protocol: bool = True,
) -> pd.DataFrame:
    """Run the test of every claim.

    Parameters
    ----------
    claims : iterable of mapping
        ``claims`` of a paper's configuration: id, section, claim, test, args.
    scores : DataFrame
    methods : iterable of str
        Ids of the configured methods.
    steps : mapping of str to DataFrame or None
        What steps have computed, for claims on their numbers.
    full_protocol : bool
        False where repeats, grid or data are reduced: then the notes say what was
        found, and nothing is judged.

    Returns
    -------
    DataFrame
        With :data:`COLUMNS`, one row per claim, in their order.

    Raises
    ------
    ClaimError
        Names the claim and what it gets wrong.
    """
    claims = list(claims)
    check_claims(claims, methods)
    rows = []
    for claim in claims:
        row = {key: claim[key] for key in ("id", "claim", "section", "test")}
        try:
            table = table_of(claim["args"], scores, steps or {})
            result = TESTS[claim["test"]](table, **claim["args"])
        except NoDataError as reason:
            rows.append(row | {"verdict": "no data", "note": str(reason)})
            continue
        except (ClaimError, SelectionError) as error:
            raise ClaimError(f"claim {claim['id']!r}: {error}") from error
        row["note"] = result.note
        if not full_protocol:
            # A statistic or p beside it would be read as the verdict.
            rows.append(row | {"verdict": NOT_JUDGED})
            continue
        low, high = result.interval
        row |= {"statistic": result.statistic, "p": result.p}
        row |= {"interval_low": low, "interval_high": high}
        rows.append(row | {"verdict": result.verdict})
    return pd.DataFrame(rows, columns=list(COLUMNS))
