"""The tests behind verdicts: which there are, what they decide, at which thresholds."""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge.comparison import practical_equivalence
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.pages.metric_words import metrics_in_words
from mtmkl_suite.report.pages.overview import counts
from mtmkl_suite.report.tables.tables import tolerance_text


@dataclass(frozen=True)
class NumberRule:
    """The tolerance of the verdicts on the numbers of a table or figure.

    Attributes
    ----------
    paper_name, artefact, tolerance : str
    n : int
        How many printed numbers it judges.
    """

    paper_name: str
    artefact: str
    tolerance: str
    n: int


@dataclass(frozen=True)
class PairRule:
    """How pairs of methods are compared in an experiment.

    Attributes
    ----------
    paper_name, experiment, metric, units : str
    pairs : int
    rope : float
        Half width of the region of practical equivalence; nan for none.
    rho : float
        Correlation of repeats that share examples; nan for units that share none.
    """

    paper_name: str
    experiment: str
    metric: str
    units: str
    pairs: int
    rope: float
    rho: float


@dataclass(frozen=True)
class ClaimTest:
    """A test of claims, and what it found.

    Attributes
    ----------
    name : str
    decides : list of str
        What it tests and when a claim holds, in paragraphs.
    found : dict of str to int
        Verdicts of the claims that it decides.
    """

    name: str
    decides: list[str]
    found: dict[str, int]


def number_rules(
    config: Mapping[str, Any], paper_name: str, verdicts: pd.DataFrame
) -> list[NumberRule]:
    """Return the tolerances of a paper's tables, and of the numbers that it quotes."""
    found = []
    for name, artefact in config["artefacts"].items():
        mine = verdicts[verdicts["artefact"] == name]
        cells = artefact.get("quoted", {}).get("cells", [])
        quoted = {(cell["row"], cell["column"]) for cell in cells}
        is_quoted = pd.Series(
            [key in quoted for key in zip(mine["row"], mine["column"], strict=True)],
            index=mine.index,
            dtype=bool,
        )
        title = name.replace("_", " ").capitalize()
        for rows, part, where in (
            (mine[~is_quoted], artefact, title),
            (mine[is_quoted], artefact.get("quoted", {}), f"{title}, in the text"),
        ):
            if len(rows) and "tolerance" in part:
                units = [str(unit) for unit in rows["unit"].dropna().unique()]
                tolerance = tolerance_text(part["tolerance"], (*units, "")[0])
                found.append(NumberRule(paper_name, where, tolerance, len(rows)))
    return found


def pair_rules(
    context: Context, paper_name: str, statistics: pd.DataFrame
) -> list[PairRule]:
    """Return how the pairs of each experiment were compared."""
    ropes = practical_equivalence(context.config, context.published)
    titles = {k: str(e["title"]) for k, e in context.config["experiments"].items()}
    groups = statistics.groupby(["experiment", "metric", "unit", "n"], sort=False)
    return [
        PairRule(
            paper_name=paper_name,
            experiment=titles.get(str(name), str(name)),
            metric=metrics_in_words(str(metric)),
            units=f"{n} {unit}s",
            pairs=len(rows),
            rope=ropes.get((str(name), str(metric)), float("nan")),
            rho=float(rows["rho"].max()),
        )
        for (name, metric, unit, n), rows in groups
    ]


def claim_tests_of(claims: Iterable[pd.DataFrame]) -> list[ClaimTest]:
    """Return the tests that decide claims, with their verdicts over several papers."""
    tables = [table[["test", "verdict"]] for table in claims]
    both = pd.concat(tables) if tables else pd.DataFrame(columns=["test", "verdict"])
    return [
        ClaimTest(
            name=name.replace("_", " "),
            decides=_in_words(test),
            found=counts(
                both.loc[both["test"] == name, "verdict"], claim_tests.VERDICTS
            ),
        )
        for name, test in TESTS.items()
    ]


def _in_words(test: Any) -> list[str]:
    text = (inspect.getdoc(test) or "").partition("\nParameters\n")[0]
    text = re.sub(r":func:`(\w+)`", lambda m: m[1].replace("_", " "), text)
    text = re.sub(r"``([^`]*)``", r"“\1”", text).replace("*", "")
    paragraphs = re.split(r"\n\s*\n", text)
    return [" ".join(part.split()) for part in paragraphs if part.strip()]
