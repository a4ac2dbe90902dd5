"""Methods in a run or a record: certificates, seconds, chosen hyper-parameters."""

import inspect
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mtmkl.methods import resolve
from mtmkl_suite.config.models import Paper
from mtmkl_suite.evaluation.jobs import MethodSpec
from mtmkl_suite.judge.choices import chosen_parameters, grids_of
from mtmkl_suite.judge.sample import fits
from mtmkl_suite.report.record.publish import seconds_of_cells
from mtmkl_suite.run.fits import FAILED, UNSUPPORTED
from mtmkl_suite.run.plan import method_specs

_MOST_VALUES = 8

_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


class Choice(NamedTuple):
    """Chosen values of a parameter, over all data sets and train sizes.

    ``chosen`` names the most frequent first; the shares at the ends of the grid are nan
    where it is not one of numbers.
    """

    parameter: str
    n: int
    chosen: str
    at_low_end: float
    at_high_end: float


class MethodUse(NamedTuple):
    """A method in one experiment of a run or of a published record.

    ``tolerance`` is the relative duality gap at which the solver stops, nan where it
    has none. ``gaps`` are those of the fits that have one, and ``within`` tells of each
    whether it is at most the tolerance, if there is one. ``seconds`` are those of each
    cell (data set, train size, repeat): search and fit, on one core.
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
    within: np.ndarray
    seconds: np.ndarray
    choices: list[Choice]

    @property
    def share_within(self) -> float:
        """Share of the gaps within the tolerance; nan without any."""
        return float(self.within.mean()) if self.within.size else math.nan

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
        """Sum over cells."""
        return float(self.seconds.sum())


def method_uses(
    config: Paper, paper_name: str, scores: pd.DataFrame, source: str
) -> list[MethodUse]:
    """Return how the configured methods fared, experiment by experiment."""
    rows = fits(scores[~scores["metric"].isin([FAILED, UNSUPPORTED])])
    seconds = seconds_of_cells(rows)
    places = dict(list(rows.groupby(["experiment", "method"], sort=False)))
    found = []
    for name, experiment in config.experiments.items():
        choices = chosen_parameters(rows, name, grids_of(config, name))
        for method, spec in method_specs(config, name).items():
            if (name, method) not in places:
                continue
            mine, tolerance = places[name, method], _tolerance(spec)
            gaps = mine["gap"].dropna().to_numpy()
            found.append(
                MethodUse(
                    class_name=spec.class_name,
                    paper=config.paper.id,
                    paper_name=paper_name,
                    experiment=experiment.title,
                    label=config.methods[method].label,
                    source=source,
                    tolerance=tolerance,
                    n_fits=len(mine),
                    gaps=gaps,
                    within=gaps[: 0 if math.isnan(tolerance) else None] <= tolerance,
                    seconds=seconds.loc[name, method].to_numpy(),
                    choices=_choices(choices[choices["method"] == method]),
                )
            )
    return found


def totals(uses: Sequence[MethodUse]) -> list[MethodUse]:
    """Return the uses of a method added up, one for each source."""
    found = []
    for source in dict.fromkeys(use.source for use in uses):
        mine = [use for use in uses if use.source == source]
        found.append(
            mine[0]._replace(
                n_fits=sum(use.n_fits for use in mine),
                gaps=np.concatenate([use.gaps for use in mine]),
                within=np.concatenate([use.within for use in mine]),
                seconds=np.concatenate([use.seconds for use in mine]),
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
