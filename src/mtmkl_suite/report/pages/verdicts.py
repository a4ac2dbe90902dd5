"""Verdicts counted: the answer in a word, and the rules behind it."""

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from mtmkl_suite.config.models import Paper, Quoted, Ranking, Table
from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.comparison import practical_equivalence
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.record.record import RECORD
from mtmkl_suite.report.tables.cells import tolerance_text
from mtmkl_suite.report.tables.text import metrics_in_words

MOSTLY, PARTLY = 0.75, 0.25
"""Shares from which an answer is "mostly" and "partly"."""


class Answer(NamedTuple):
    """Verdicts and claims of an artefact, or of a paper, together.

    ``numbers`` and ``claims`` count each verdict; numbers that follow from others are
    left out. ``sources`` says where the verdicts are from.
    """

    word: str
    sentence: str
    numbers: dict[str, int]
    claims: dict[str, int]
    sources: list[str]

    @property
    def is_of_record(self) -> bool:
        """True if some of it is from the published record."""
        return RECORD in self.sources


def answer(verdicts: pd.DataFrame, claims: pd.DataFrame) -> Answer:
    """Return what verdicts on numbers and on claims say together.

    Numbers decide where there are any, and claims otherwise. *Yes*: all are
    reproduced or close (all claims hold). *Undecided*: most are. Of the others,
    *mostly* from :data:`MOSTLY`, *partly* from :data:`PARTLY`, *no* below.
    """
    own = verdict_rule.own_numbers(verdicts)
    numbers = counts(own["verdict"], verdict_rule.VERDICTS)
    found = counts(claims["verdict"], claim_tests.VERDICTS)
    within = numbers["reproduced"] + numbers["close"]
    if within + numbers["different"]:
        word = _word(within, numbers["different"], 0)
    else:
        word = _word(found["holds"], found["does not hold"], found["undecided"])
    illegible = int(own["status"].eq("illegible").sum())
    parts = [_numbers_text(within, numbers, illegible), _claims_text(found)]
    sentence = "; ".join(part for part in parts if part)
    used = pd.concat([own["source"], claims["source"]])
    return Answer(
        word=word,
        sentence=f"{sentence}." if sentence else _why_none(own, claims),
        numbers=numbers,
        claims=found,
        sources=[str(source) for source in used.unique()],
    )


def counts(values: pd.Series, names: Sequence[str]) -> dict[str, int]:
    """Return how often each of some values occurs."""
    found = values.value_counts()
    return {name: int(found.get(name, 0)) for name in names}


def _word(good: int, bad: int, undecided: int) -> str:
    if good + bad + undecided == 0:
        return "–"
    if bad + undecided == 0:
        return "Yes"
    if undecided > good + bad:
        return "Undecided"
    share = good / (good + bad) if good + bad else 0.0
    if share >= MOSTLY:
        return "Mostly"
    return "Partly" if share >= PARTLY else "No"


def _numbers_text(within: int, numbers: dict[str, int], illegible: int) -> str:
    total = within + numbers["different"]
    if not total:
        return ""
    more = f", {illegible} more cannot be read in the paper" if illegible else ""
    if total == 1:
        verb = "is" if within else "is not"
        return f"The published number {verb} reproduced or close{more}"
    share = {0: "None", total: "All"}.get(within, str(within))
    of = {"All": f"All {total}"}.get(share, f"{share} of {total}")
    return f"{of} published numbers are reproduced or close{more}"


def _claims_text(found: dict[str, int]) -> str:
    holds, fails, undecided = (
        found[name] for name in ("holds", "does not hold", "undecided")
    )
    total = holds + fails + undecided
    if not total:
        return ""
    text = f"{holds} of {total} claim{'s' * (total > 1)} hold{'s' * (holds == 1)}"
    if undecided:
        text += f", {undecided} {'is' if undecided == 1 else 'are'} undecided"
    if fails:
        text += f", {fails} {'does' if fails == 1 else 'do'} not"
    return text


def _why_none(verdicts: pd.DataFrame, claims: pd.DataFrame) -> str:
    found = pd.concat([verdicts["verdict"], claims["verdict"]])
    if found.empty:
        return "The paper prints no number for it, and no claim on it is tested."
    if found.eq(verdict_rule.NOT_JUDGED).any():
        return "Not judged: this run reduces repeats, grids or data."
    return "No data."


def number_rules(
    config: Paper, paper_name: str, verdicts: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the tolerances of a paper's tables, and of the numbers that it quotes."""
    found = []
    for name, artefact in config.artefacts.items():
        mine = verdicts[verdicts["artefact"] == name]
        cells = artefact.quoted.cells if artefact.quoted else []
        quoted = {(cell.row, cell.column) for cell in cells}
        is_quoted = pd.Series(
            [key in quoted for key in zip(mine["row"], mine["column"], strict=True)],
            index=mine.index,
            dtype=bool,
        )
        title = name.replace("_", " ").capitalize()
        for rows, part, where in (
            (mine[~is_quoted], artefact, title),
            (mine[is_quoted], artefact.quoted, f"{title}, in the text"),
        ):
            if len(rows) and isinstance(part, Table | Ranking | Quoted):
                units = [str(unit) for unit in rows["unit"].dropna().unique()]
                tolerance = tolerance_text(part.tolerance, (*units, "")[0])
                rule = {"artefact": where, "tolerance": tolerance, "n": len(rows)}
                found.append(rule | {"paper_name": paper_name})
    return found


def pair_rules(
    context: Context, paper_name: str, statistics: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return how the pairs of each experiment were compared.

    ``rope`` is the half width of the region of practical equivalence, ``rho`` the
    correlation of repeats that share examples; nan for none.
    """
    ropes = practical_equivalence(context.config, context.published)
    titles = {k: e.title for k, e in context.config.experiments.items()}
    groups = statistics.groupby(["experiment", "metric", "unit", "n"], sort=False)
    return [
        {
            "paper_name": paper_name,
            "experiment": titles.get(str(name), str(name)),
            "metric": metrics_in_words(str(metric)),
            "units": f"{n} {unit}s",
            "pairs": len(rows),
            "rope": ropes.get((str(name), str(metric)), float("nan")),
            "rho": float(rows["rho"].max()),
        }
        for (name, metric, unit, n), rows in groups
    ]


def claim_tests_of(claims: Iterable[pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the tests that decide claims, with their verdicts over several papers."""
    tables = [table[["test", "verdict"]] for table in claims]
    both = pd.concat(tables) if tables else pd.DataFrame(columns=["test", "verdict"])
    return [
        {
            "name": name.replace("_", " "),
            "decides": _in_words(test),
            "found": counts(
                both.loc[both["test"] == name, "verdict"], claim_tests.VERDICTS
            ),
        }
        for name, test in TESTS.items()
    ]


def _in_words(test: Any) -> list[str]:
    text = (inspect.getdoc(test) or "").partition("\nParameters\n")[0]
    text = re.sub(r":func:`(\w+)`", lambda m: m[1].replace("_", " "), text)
    text = re.sub(r"``([^`]*)``", r"“\1”", text).replace("*", "")
    paragraphs = re.split(r"\n\s*\n", text)
    return [" ".join(part.split()) for part in paragraphs if part.strip()]
