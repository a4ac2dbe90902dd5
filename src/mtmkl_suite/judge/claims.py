"""The claims of a paper, judged.

The paper's own test takes repeats as independent. Where they share examples the test is
made again with the variance of such repeats (:mod:`mtmkl_suite.judge.overlap`). The
verdict is what both say, and *undecided* where they differ, or

- *not judged (quick)*: repeats, grid or data are reduced,
- *no data*: the scores lack a side of the comparison.

Where tasks are a sample (of fields, say) and a metric is a mean over them, a comparison
is tested once more with tasks as the units, averaged over repeats: a second answer to
another question, on tasks like these. It has columns of its own and changes no verdict.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Claim
from mtmkl_suite.judge.claim_tests import ClaimError
from mtmkl_suite.judge.claim_words import in_words
from mtmkl_suite.judge.findings import TestResult
from mtmkl_suite.judge.observations import NoDataError
from mtmkl_suite.judge.overlap import Overlaps
from mtmkl_suite.judge.sample import SelectionError, is_mean_of_tasks
from mtmkl_suite.judge.sample_size import repeats_needed
from mtmkl_suite.judge.step_tests import TESTS, table_of
from mtmkl_suite.judge.verdicts import NOT_JUDGED, Row
from mtmkl_suite.statistics.pairs import LEVEL

VERDICTS = ("holds", "does not hold", "undecided", NOT_JUDGED, "no data")
_ORDER = ("holds", "undecided", "does not hold", NOT_JUDGED, "no data")
_PLANNED = ("paired_difference", "paired_difference_chosen", "trend")
"""Tests of a mean against zero, for which the number of units can be planned."""

_COMPARISONS = (
    "paired_difference", "paired_difference_chosen", "paired_difference_on_most",
    "equivalence",
)  # fmt: skip
"""Tests of a difference between two methods, which are made over tasks as well."""

_OF_MANY = {"holds": "hold", "does not hold": "do not hold"}

COLUMNS = (
    "id", "claim", "section", "test", "statistic", "p", "interval_low",
    "interval_high", "verdict", "note", "own_verdict", "rho", "t_divided_by",
    "p_corrected", "corrected_low", "corrected_high", "n", "n_needed_own", "n_needed",
    "basis", "tasks_n", "tasks_of", "tasks_p", "tasks_low", "tasks_high",
    "tasks_verdict",
)  # fmt: skip
"""Columns of ``claims.csv``."""


def evaluate_claims(
    claims: Iterable[Claim],
    scores: pd.DataFrame,
    methods: Iterable[str],
    *,
    overlaps: Overlaps | None = None,
    steps: Mapping[str, pd.DataFrame] | None = None,
    full_protocol: bool = True,
    sample_of: Mapping[str, str | None] | None = None,
) -> pd.DataFrame:
    """Run the test of every claim.

    ``sample_of``: What the tasks of a data set are a sample of, by its name.
    """
    claims = list(claims)
    methods = methods if isinstance(methods, Mapping) else list(methods)
    labels = _labels(methods)
    tested = {(claim.args | claim.over_tasks)["experiment"] for claim in claims}
    of_tested = scores[scores["experiment"].isin(tested)]
    samples = _samples_of_tasks(of_tested, sample_of or {}) if full_protocol else {}
    rows = []
    for claim in claims:
        row = {
            k: getattr(claim, k) for k in ("id", "claim", "section", "test", "basis")
        }
        sides = claim.sides
        try:
            if "step" in claim.args:
                table = table_of(claim.args["step"], steps or {})
                result = TESTS[claim.test](table, **claim.args)
            else:
                result = TESTS[claim.test](scores, overlaps, **claim.args)
        except NoDataError as reason:
            rows.append(
                row
                | {"verdict": "no data", "note": in_words(str(reason), sides, labels)}
            )
            continue
        except (ClaimError, SelectionError) as error:
            raise ClaimError(f"claim {claim.id!r}: {error}") from error
        row["note"] = in_words(result.note, sides, labels)
        if not full_protocol:
            # A statistic or p beside it would be read as the verdict.
            rows.append(row | {"verdict": NOT_JUDGED})
            continue
        rows.append(row | {"verdict": result.verdict} | _numbers(result))
        rows[-1] |= _over_tasks(claim, scores, overlaps, samples)
        if result.verdict == "undecided" and claim.test in _PLANNED:
            rows[-1] |= _planned(result)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def by_author(claims: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the claims that the text makes, and those of ours about its results."""
    is_papers = claims["basis"].astype(str).str.startswith("l. ")
    return {
        "the paper's claims": claims[is_papers],
        "claims of ours": claims[~is_papers],
    }


def shown_verdicts(claims: pd.DataFrame) -> "pd.Series[str]":
    """Return the verdicts for readers: with the own test's, where it alone decides."""
    verdicts, own = claims["verdict"], claims["own_verdict"].astype(object)
    differs = own.notna() & (own != verdicts)
    own = own.where(differs, "")
    return verdicts.where(~differs, verdicts + " (paper's own test: " + own + ")")


def shown_notes(claims: pd.DataFrame) -> "pd.Series[str]":
    """Return the notes for readers: with what undoes the verdict, and over tasks."""
    differs = shown_verdicts(claims) != claims["verdict"]
    notes = []
    for row, is_undone in zip(claims.to_dict("records"), differs, strict=True):
        parts = [row["note"]]
        if is_undone:
            rho = row["rho"]
            parts.append(f"as repeats share examples (ρ = {rho:.2f}), {_why(row)}")
        over_tasks = over_tasks_in_words(row)
        notes.append("; ".join([*parts, over_tasks] if over_tasks else parts))
    return pd.Series(notes, index=claims.index, dtype=object)


def over_tasks_in_words(row: Row) -> str:
    """Return the result of the test over tasks, or "" where there is none."""
    if pd.isna(row.get("tasks_n")):
        return ""
    n, kind, p = row["tasks_n"], row["tasks_of"], row["tasks_p"]
    found = row["tasks_verdict"] + ("" if math.isnan(p) else f" (p = {p:.2g})")
    return f"over {n:.0f} {kind}, a statement about {kind} like these: {found}"


def _samples_of_tasks(
    scores: pd.DataFrame, sample_of: Mapping[str, str | None]
) -> dict[tuple[str, str], str]:
    """Return by experiment and metric what is sampled, if means over tasks are tested.

    Only the mean over all tasks can be taken for the mean of a sample: not a score of
    all examples together, nor one of data sets that are different samples.
    """
    found: dict[tuple[str, str], str] = {}
    if not sample_of:
        return found
    places = is_mean_of_tasks(scores).rename("is_mean").reset_index()
    for (experiment, metric), rows in places.groupby(["experiment", "metric"]):
        names = {name.partition("[")[0] for name in rows["dataset"]}
        kinds = {sample_of.get(name) for name in names}
        kind = kinds.pop()
        if rows["is_mean"].all() and kind and not kinds:
            found[str(experiment), str(metric)] = kind
    return found


def _over_tasks(
    claim: Claim,
    scores: pd.DataFrame,
    overlaps: Overlaps | None,
    samples: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    """Return the columns of the test over tasks; none where these are no sample."""
    args = claim.args | claim.over_tasks
    kind = samples.get((args["experiment"], args.get("metric", "")))
    is_repeats = args.get("unit", "repeat") == "repeat"
    if kind is None or claim.test not in _COMPARISONS or not is_repeats:
        return {}
    try:
        result = TESTS[claim.test](scores, overlaps, **args | {"unit": "task"})
    except NoDataError:
        return {}
    # Tasks that share examples are no sample, whatever the configuration says.
    if result.corrected is not None:
        return {}
    low, high = result.own.interval
    return {
        "tasks_n": result.n_units,
        "tasks_of": kind,
        "tasks_p": result.own.p,
        "tasks_low": low,
        "tasks_high": high,
        "tasks_verdict": result.own.verdict,
    }


def _labels(methods: Iterable[str]) -> dict[str, str]:
    if not isinstance(methods, Mapping):
        return {}
    return {name: method.label for name, method in methods.items()}


def _why(row: Row) -> str:
    if math.isinf(row["t_divided_by"]):
        return "nothing can be tested"
    if math.isnan(row["p_corrected"]):
        low, high = row["corrected_low"], row["corrected_high"]
        return f"the interval is {low:.4g} to {high:.4g}"
    return f"p is {row['p_corrected']:.2g}, not {row['p']:.2g}"


def _numbers(result: TestResult) -> dict[str, Any]:
    """Return the columns of both tests; those of the second may be empty."""
    own, corrected, c = result.own, result.corrected, result.variance_ratio
    low, high = own.interval
    numbers = {
        "statistic": own.statistic,
        "p": own.p,
        "interval_low": low,
        "interval_high": high,
        "own_verdict": own.verdict,
        "n": result.n_units,
    }
    if corrected is None:
        return numbers
    low, high = corrected.interval
    return numbers | {
        "rho": 1 - 1 / (1 + c),
        "t_divided_by": math.sqrt(1 + result.n_units * c),
        "p_corrected": corrected.p,
        "corrected_low": low,
        "corrected_high": high,
    }


def _planned(result: TestResult) -> dict[str, float]:
    """Return how many units would decide by each test; empty without a spread."""
    from scipy import stats

    n, (low, high) = result.n_units, result.own.interval
    if math.isnan(low):
        return {}
    mean, half_width = (low + high) / 2, (high - low) / 2
    sd = half_width * math.sqrt(n) / stats.t.ppf(1 - LEVEL / 2, n - 1)
    return {
        "n_needed_own": repeats_needed(mean, sd),
        "n_needed": repeats_needed(mean, sd, result.variance_ratio),
    }


def counted(found: Mapping[str, int]) -> str:
    """Return counts of verdicts in words, such as "18 hold, 2 do not hold"."""
    words = (
        f"{n} {_OF_MANY.get(name, name) if n > 1 else name}"
        for name, n in found.items()
        if n
    )
    return ", ".join(words) or "none"


def counts_of(verdicts: pd.Series) -> str:
    """Return how often each verdict occurs in words, in the order of the verdicts."""
    found = verdicts.value_counts(sort=False)
    order = sorted(found.index, key=lambda name: (_place(name), name))
    return counted({name: int(found[name]) for name in order})


def _place(shown: str) -> int:
    """Return the place of a verdict, which a remark in brackets may follow."""
    name = shown if shown in VERDICTS else shown.partition(" (")[0]
    return _ORDER.index(name)
