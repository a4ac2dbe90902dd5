"""How methods fared in a run or a record: certificates, seconds, what they chose."""

import inspect
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from mtmkl.methods import resolve
from mtmkl_suite.evaluation.jobs import MethodSpec
from mtmkl_suite.judge.choices import chosen_parameters, grids_of
from mtmkl_suite.judge.sample import fits
from mtmkl_suite.report.record.publish import seconds_of_cells
from mtmkl_suite.run.fits import FAILED, UNSUPPORTED
from mtmkl_suite.run.plan import method_specs

_MOST_VALUES = 8
_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


@dataclass(frozen=True)
class Choice:
    """Which values of a parameter were chosen, over all data sets and train sizes.

    Attributes
    ----------
    parameter : str
    n : int
        How many choices there were.
    chosen : str
        The values, the most frequent first, with counts.
    at_low_end, at_high_end : float
        Shares of n; nan where the grid is not one of numbers.
    """

    parameter: str
    n: int
    chosen: str
    at_low_end: float
    at_high_end: float


@dataclass(frozen=True)
class MethodUse:
    """A method in one experiment of a run or of a published record.

    Attributes
    ----------
    class_name : str
    paper, paper_name, experiment, label, source : str
        ``paper`` is its id; ``experiment`` the title; ``label`` the printed name.
    tolerance : float
        Relative duality gap at which the solver stops; nan where it has none.
    n_fits : int
    gaps : ndarray
        Relative duality gaps of the fits that have one.
    seconds : ndarray
        Of each cell (data set, train size, repeat): search and fit.
    choices : list of Choice
    """

    class_name: str
    paper: str
    paper_name: str
    experiment: str
    label: str
    source: str
    tolerance: float
    n_fits: int
    gaps: np.ndarray
    seconds: np.ndarray
    choices: list[Choice]

    @property
    def share_within(self) -> float:
        """Share of the gaps that are at most the tolerance; nan without any."""
        if not self.gaps.size or math.isnan(self.tolerance):
            return math.nan
        return float((self.gaps <= self.tolerance).mean())

    @property
    def worst_gap(self) -> float:
        """The largest gap; nan without any."""
        return float(self.gaps.max()) if self.gaps.size else math.nan

    @property
    def median_seconds(self) -> float:
        """Median over cells."""
        return float(np.median(self.seconds))

    @property
    def total_seconds(self) -> float:
        """Sum over cells, on one core."""
        return float(self.seconds.sum())


@dataclass(frozen=True)
class MethodTotals:
    """All uses of a method from one source together.

    Attributes
    ----------
    source : str
    n_fits, n_gaps : int
    share_within, worst_gap, median_seconds, total_seconds : float
        As of :class:`MethodUse`; the share is of the gaps that have a tolerance.
    """

    source: str
    n_fits: int
    n_gaps: int
    share_within: float
    worst_gap: float
    median_seconds: float
    total_seconds: float


def method_uses(
    config: Mapping[str, Any], paper_name: str, scores: pd.DataFrame, source: str
) -> list[MethodUse]:
    """Return how the configured methods fared, experiment by experiment."""
    rows = fits(scores[~scores["metric"].isin([FAILED, UNSUPPORTED])])
    seconds = seconds_of_cells(rows)
    places = dict(list(rows.groupby(["experiment", "method"], sort=False)))
    found = []
    for name, experiment in config["experiments"].items():
        choices = chosen_parameters(rows, name, grids_of(config, name))
        for method, spec in method_specs(config, name).items():
            if (name, method) not in places:
                continue
            mine = places[name, method]
            found.append(
                MethodUse(
                    class_name=spec.class_name,
                    paper=config["paper"]["id"],
                    paper_name=paper_name,
                    experiment=experiment["title"],
                    label=config["methods"][method]["label"],
                    source=source,
                    tolerance=_tolerance(spec),
                    n_fits=len(mine),
                    gaps=mine["gap"].dropna().to_numpy(),
                    seconds=seconds.loc[name, method].to_numpy(),
                    choices=_choices(choices[choices["method"] == method]),
                )
            )
    return found


def totals(uses: Sequence[MethodUse]) -> list[MethodTotals]:
    """Return the sums over uses, one for each source."""
    found = []
    for source in dict.fromkeys(use.source for use in uses):
        mine = [use for use in uses if use.source == source]
        gaps = np.concatenate([use.gaps for use in mine])
        seconds = np.concatenate([use.seconds for use in mine])
        judged = [use for use in mine if not math.isnan(use.share_within)]
        within = [use.share_within * use.gaps.size for use in judged]
        n_judged = sum(use.gaps.size for use in judged)
        found.append(
            MethodTotals(
                source=source,
                n_fits=sum(use.n_fits for use in mine),
                n_gaps=gaps.size,
                share_within=sum(within) / n_judged if n_judged else math.nan,
                worst_gap=float(gaps.max()) if gaps.size else math.nan,
                median_seconds=float(np.median(seconds)),
                total_seconds=float(seconds.sum()),
            )
        )
    return found


def problem_in_words(class_name: str) -> list[tuple[str, str]]:
    """Return what a method's docstring says of its problem."""
    lines = (inspect.getdoc(resolve(class_name)) or "").partition("\nParameters\n")[0]
    blocks = []
    for block in re.split(r"\n\s*\n", lines.partition("\nAttributes\n")[0]):
        if block.startswith(".. math::"):
            blocks.append(("tex", ""))
        elif block.startswith("    "):
            if blocks[-1][0] != "tex":
                blocks.append(("equation", inspect.cleandoc(block)))
        elif block.strip():
            text = _ROLE.sub(r"\1", " ".join(block.split()))
            blocks.append(("text", re.sub(r"``|`|\*(?=\w)|(?<=\w)\*", "", text)))
    return blocks


def _tolerance(spec: MethodSpec) -> float:
    if "tol" in spec.params:
        return float(spec.params["tol"])
    return _default_tolerance(spec.class_name)


@cache
def _default_tolerance(class_name: str) -> float:
    known = inspect.signature(resolve(class_name)).parameters
    return float(known["tol"].default) if "tol" in known else math.nan


def _choices(chosen: pd.DataFrame) -> list[Choice]:
    """Add up what was chosen in single data sets and train sizes."""
    found = []
    for parameter, rows in chosen.groupby("parameter", sort=False):
        counts: Counter[str] = Counter()
        for each in rows["chosen"]:
            counts.update(each)
        n = counts.total()
        low, high = (
            float((rows[end] * rows["n"]).sum(min_count=1)) / n
            for end in ("at_low_end", "at_high_end")
        )
        found.append(Choice(str(parameter), n, _counted(counts), low, high))
    return found


def _counted(counts: Counter[str]) -> str:
    named = [
        f"{_in_words(value)} ({n})" for value, n in counts.most_common(_MOST_VALUES)
    ]
    more = len(counts) - len(named)
    return ", ".join([*named, *([f"{more} more values"] if more else [])])


def _in_words(value: str) -> str:
    """Return a value in words: kernels come as JSON."""
    try:
        return _plain(json.loads(value))
    except ValueError:
        return value


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " + ".join(map(_plain, value))
    if isinstance(value, Mapping):
        name = str(value.get("name", "")).replace("_", " ")
        rest = [f"{k} {_plain(v)}" for k, v in value.items() if k != "name"]
        return f"{name} ({_listed(rest)})" if rest and name else name or _listed(rest)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(part.replace("_", " ") for part in parts)
