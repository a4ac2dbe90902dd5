"""The sentences of a paper that claim something, judged (``docs/verdicts.md``).

A sentence is tested in each of its settings, by a plain test and, where repeats share
samples, by one that speaks of other samples. :func:`summed` gives the verdict of
each, and *undecided* is the verdict where they part. A test with tasks as the units has
columns of its own and changes no verdict.
"""

import json
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Claim, ClaimSetting
from mtmkl_suite.judge import claim_tests, step_tests
from mtmkl_suite.judge.claim_tests import ClaimError, TestResult
from mtmkl_suite.judge.observations import NoDataError, Observations
from mtmkl_suite.judge.overlap import Overlaps
from mtmkl_suite.judge.sample import SelectionError, is_mean_of_tasks
from mtmkl_suite.judge.step_tests import StepValues
from mtmkl_suite.judge.verdicts import NOT_JUDGED, Row, counts, listed
from mtmkl_suite.statistics.pairs import LEVEL

DECIDED = ("holds", "undecided", "does not hold")
VERDICTS = ("holds", "does not hold", "undecided", NOT_JUDGED, "no data")
_PLANNED = ("paired_difference", "trend")
"""Tests of a mean, for which the number of units can be planned."""

_COMPARISONS = ("paired_difference", "equivalence")
"""Tests of a difference between two methods, which are made over tasks as well."""

_ABOUT = ("experiment", "metric", "unit", "step", "column")

POWER = 0.8
"""Probability with which a planned test is to find the difference."""

_MOST = 500_000

_OPTIONS = re.compile(r"(\w+)\[(.*)\]$")
_NAMED = {
    "train_size": "training size",
    "dataset": "data set",
    "low": "at least",
    "high": "at most",
}

_OF_MANY = {"holds": "hold", "does not hold": "do not hold"}

SETTING_COLUMNS = (
    "id", "setting", "verdict", "note", "estimate", "statistic", "p", "interval_low",
    "interval_high", "own_verdict", "new_verdict", "rho", "t_divided_by", "p_corrected",
    "corrected_low", "corrected_high", "n", "n_needed_own", "n_needed", "tasks_n",
    "tasks_of", "tasks_p", "tasks_low", "tasks_high", "tasks_verdict",
)  # fmt: skip
"""Columns of ``claim_settings.csv``."""

COLUMNS = (
    "id", "section", "line", "quote", "tested", "printed", "evidence", "quantifier",
    "test", "verdict", "own_verdict", "new_verdict", "settings", "own_holds",
    "own_undecided", "own_does_not_hold", "new_holds", "new_undecided",
    "new_does_not_hold", "effect", "effect_low", "effect_high", "measure", "metric",
)  # fmt: skip
"""Columns of ``claims.csv``."""

_MEASURES = {
    "paired_difference": "difference",
    "equivalence": "difference",
    "best_in": "share of best",
    "trend": "slope",
    "monotone": "worst step",
    "ahead_by_ranks": "methods behind",
    "within_range": "mean",
    "ratio": "ratio",
    "growth": "power",
    "every_value": "largest",
}
"""Estimates by their test."""


def evaluate_settings(
    claims: Iterable[Claim],
    scores: pd.DataFrame,
    methods: Mapping[str, Any],
    *,
    overlaps: Overlaps | None = None,
    steps: Mapping[str, pd.DataFrame] | None = None,
    full_protocol: bool = True,
    sample_of: Mapping[str, str | None] | None = None,
) -> pd.DataFrame:
    """Run the test of every claim in each of its settings."""
    claims = list(claims)
    labels = {name: str(method.label) for name, method in methods.items()}
    tested = {
        (each.args | each.over_tasks)["experiment"]
        for claim in claims
        for each in claim.settings
    }
    of_tested = scores[scores["experiment"].isin(tested)]
    samples = _samples_of_tasks(of_tested, sample_of or {}) if full_protocol else {}
    rows = []
    for claim in claims:
        for setting in claim.settings:
            row: dict[str, Any] = {
                "id": claim.id,
                "setting": setting_in_words(setting, labels),
            }
            try:
                result = result_of(claim.test, setting.args, scores, overlaps, steps)
            except NoDataError as reason:
                rows.append(row | {"verdict": "no data", "note": reason.lacking})
                continue
            except (ClaimError, SelectionError) as error:
                raise ClaimError(f"claim {claim.id!r}: {error}") from error
            row["note"] = result.note
            if not full_protocol:
                # A statistic or p beside it would be read as the verdict.
                rows.append(row | {"verdict": NOT_JUDGED})
                continue
            row |= numbers_of(result)
            row |= _over_tasks(claim.test, setting, scores, overlaps, samples)
            if result.verdict == "undecided" and claim.test in _PLANNED:
                row |= _planned(result, setting.args.get("at_least", 0.0))
            rows.append(row)
    return pd.DataFrame(rows, columns=list(SETTING_COLUMNS))


def result_of(
    test: str,
    args: Mapping[str, Any],
    scores: pd.DataFrame,
    overlaps: Overlaps | None = None,
    steps: Mapping[str, pd.DataFrame] | None = None,
) -> TestResult:
    """Return the result of a test, of scores or of the table of a step."""
    about, own = split_arguments(args)
    subject, tests = subject_of(args)
    if subject is StepValues:
        return tests[test](StepValues(steps or {}, **about), **own)
    return tests[test](Observations(scores, overlaps=overlaps, **about), **own)


def subject_of(
    args: Mapping[str, Any],
) -> tuple[type, Mapping[str, Callable[..., TestResult]]]:
    """Return what holds the numbers that a test is about, and the tests of such."""
    if "step" in args:
        return StepValues, step_tests.TESTS
    return Observations, claim_tests.TESTS


def split_arguments(args: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the numbers that a test is about, and the arguments of the test."""
    about = {k: v for k, v in args.items() if k in _ABOUT}
    if "rows" in args:  # of which each has its metric
        about.setdefault("metric", "")
    return about, {k: v for k, v in args.items() if k not in _ABOUT}


def judged_sentences(claims: Iterable[Claim], settings: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict on each sentence from those in its settings."""
    of = dict(list(settings.groupby("id", sort=False)))
    rows = [
        {
            "id": claim.id, "section": claim.section, "line": claim.line,
            "quote": claim.quote, "tested": claim.tested, "printed": claim.printed,
            "evidence": " ".join(claim.evidence), "quantifier": claim.quantifier,
            "test": claim.test, **_sum(claim, of.get(claim.id, settings[:0])),
        }
        for claim in claims
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def summed(quantifier: str, verdicts: Iterable[str]) -> str:
    """Return the verdict on a sentence from those in its settings.

    It must hold in all settings, in more than half, or in one, as its quantifier says.
    *Holds*: it does in so many; *does not hold*: it could not even if all that are
    undecided held; else *undecided*.
    """
    counts = Counter(verdicts)
    n = counts.total()
    needed = {"all": n, "most": n // 2 + 1, "some": 1}[quantifier]
    if counts["holds"] >= needed:
        return "holds"
    if counts["holds"] + counts["undecided"] < needed:
        return "does not hold"
    return "undecided"


def verdict_in(quantifier: str, settings: pd.DataFrame) -> str:
    """Return the verdict of both tests on a sentence, undecided where they part."""
    own, new = (
        summed(quantifier, settings[f"{whose}_verdict"]) for whose in ("own", "new")
    )
    return own if own == new else "undecided"


def _sum(claim: Claim, settings: pd.DataFrame) -> dict[str, Any]:
    """Return verdicts, counts and the effect of a sentence.

    The effect is the median of those in the settings; its interval has the lowest and
    the highest end of theirs, corrected where repeats share samples.
    """
    judged = settings[settings["verdict"].isin(DECIDED)]
    if judged.empty:
        # Of a reduced run all settings say so, but those without data.
        has_data = settings["verdict"].eq(NOT_JUDGED).any()
        return {"verdict": NOT_JUDGED if has_data else "no data", "settings": 0}
    row: dict[str, Any] = {
        "settings": len(judged),
        "measure": _MEASURES[claim.test],
        "metric": _metric(claim),
    }
    row["verdict"] = verdict_in(claim.quantifier, judged)
    for whose in ("own", "new"):
        found = judged[f"{whose}_verdict"]
        row[f"{whose}_verdict"] = summed(claim.quantifier, found)
        for verdict in DECIDED:
            row[f"{whose}_{verdict.replace(' ', '_')}"] = int((found == verdict).sum())
    shares = judged["rho"].notna()
    low = judged["interval_low"].where(~shares, judged["corrected_low"])
    high = judged["interval_high"].where(~shares, judged["corrected_high"])
    return row | {
        "effect": judged["estimate"].median(),
        "effect_low": low.min(skipna=False),
        "effect_high": high.max(skipna=False),
    }


def _metric(claim: Claim) -> str:
    """Return the metrics or columns that the settings test, separated by commas."""
    tested = (
        each.args.get("metric") or each.args.get("column") for each in claim.settings
    )
    return ", ".join(dict.fromkeys(name for name in tested if isinstance(name, str)))


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
    all samples together, nor one of data sets that are different samples.
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
    test: str,
    setting: ClaimSetting,
    scores: pd.DataFrame,
    overlaps: Overlaps | None,
    samples: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    """Return the columns of the test over tasks; none where these are no sample."""
    args = setting.args | setting.over_tasks
    kind = samples.get((args["experiment"], args.get("metric", "")))
    is_repeats = args.get("unit", "repeat") == "repeat"
    if kind is None or test not in _COMPARISONS or not is_repeats:
        return {}
    try:
        result = result_of(test, args | {"unit": "task"}, scores, overlaps)
    except NoDataError:
        return {}
    # Tasks that share samples are no sample, whatever the configuration says.
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


def numbers_of(result: TestResult) -> dict[str, Any]:
    """Return the columns of both tests; those of the second may be empty."""
    own, corrected, c = result.own, result.corrected, result.variance_ratio
    low, high = own.interval
    numbers = {
        "verdict": result.verdict,
        "estimate": own.estimate,
        "statistic": own.statistic,
        "p": own.p,
        "interval_low": low,
        "interval_high": high,
        "own_verdict": own.verdict,
        "new_verdict": (corrected or own).verdict,
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


def _planned(result: TestResult, null: float) -> dict[str, float]:
    """Return how many units would decide by each test; empty without a spread."""
    from scipy import stats

    n, (low, high) = result.n_units, result.own.interval
    if math.isnan(low):
        return {}
    mean, half_width = (low + high) / 2 - null, (high - low) / 2
    sd = half_width * math.sqrt(n) / stats.t.ppf(1 - LEVEL / 2, n - 1)
    return {
        "n_needed_own": repeats_needed(mean, sd),
        "n_needed": repeats_needed(mean, sd, result.variance_ratio),
    }


def repeats_needed(mean: float, sd: float, variance_ratio: float = 0.0) -> float:
    """Return the least n for which a two-sided t-test finds a mean with the power 0.8.

    Its statistic has a noncentral t-distribution with n − 1 degrees of freedom and
    noncentrality mean / (sd √(1/n + c)). With c > 0 it stays below mean / (sd √c)
    whatever n is: then more samples are needed, and not more repeats of the same.
    """
    from scipy import stats

    if sd == 0 or math.isinf(variance_ratio):
        return 2 if mean and sd == 0 else math.inf

    def power(n: int) -> float:
        centre = abs(mean) / (sd * math.sqrt(1 / n + variance_ratio))
        critical = stats.t.ppf(1 - LEVEL / 2, n - 1)
        # The other tail matters where there is next to no difference.
        both = stats.nct.sf(critical, n - 1, centre) + stats.nct.cdf(
            -critical, n - 1, centre
        )
        return float(both)

    n = 2 + bisect_left(range(2, _MOST + 1), POWER, key=power)
    return n if n <= _MOST else math.inf


def setting_in_words(setting: ClaimSetting, labels: Mapping[str, str]) -> str:
    """Return what a setting has of its own, such as "MTL, 200 tasks"."""
    parts = [
        _in_words(path.rpartition(".")[2], value, labels)
        for path, value in setting.varied.items()
        if not path.startswith("over_tasks")
    ]
    return ", ".join(filter(None, parts))


def _in_words(key: str, value: Any, labels: Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return ", ".join(_in_words(k, each, labels) for k, each in value.items())
    if isinstance(value, list):
        return ""
    if key == "method":
        return labels.get(value, str(value))
    if key == "setting":
        settings = json.loads(value) if value else {}
        return ", ".join(f"{_plain(k)} = {_number(v)}" for k, v in settings.items())
    if key == "n_tasks":
        return f"{value} tasks"
    if key in ("experiment", "metric", "data", "of"):
        return _plain(str(value))
    if isinstance(value, str) and (found := _OPTIONS.match(value)):
        stem, options = found.groups()
        value = _plain(f"{stem} ({options.replace('=', ' = ')})")
    return f"{_NAMED.get(key, _plain(key))} {value}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _plain(text: str) -> str:
    return text.replace("_", " ")


def counted(found: Mapping[str, int]) -> str:
    """Return counts of verdicts in words, such as "18 hold, 2 do not hold"."""
    return listed({_OF_MANY.get(k, k) if n > 1 else k: n for k, n in found.items()})


def counts_of(verdicts: pd.Series) -> str:
    """Return how often each verdict occurs in words, in the order of the verdicts."""
    return counted(counts(verdicts, (*DECIDED, NOT_JUDGED, "no data")))
