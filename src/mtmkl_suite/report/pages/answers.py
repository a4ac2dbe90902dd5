"""Answers in a word and in sentences: what verdicts on numbers and claims say."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from mtmkl_suite.config.models import Artefact, Paper, Ranking, RankTests
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.claims import DECIDED, VERDICTS, counted
from mtmkl_suite.judge.reach import DIFFERENT, WITHIN
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.main_claims import origins_of, verdict_in_words
from mtmkl_suite.report.text import few_digits


class Answer(NamedTuple):
    """Verdicts and claims of an artefact, or of a paper, together.

    ``differences`` has those of numbers. ``numbers`` and ``claims`` count each verdict;
    numbers that follow from others are left out where there are others.
    """

    sentence: str
    differences: str
    numbers: dict[str, int]
    claims: dict[str, int]

    @property
    def is_tested(self) -> bool:
        """True if there is a printed number or a claim to be judged."""
        return any([*self.numbers.values(), *self.claims.values()])


def answer(
    verdicts: pd.DataFrame, claims: pd.DataFrame, origins: Iterable[str] = ()
) -> Answer:
    """Return what verdicts on numbers and on claims say together, each counted."""
    own = verdict_rule.own_numbers(verdicts)
    apart = ""
    if own.empty:  # better than none
        own, apart = verdicts, ", counted apart,"
    numbers = verdict_rule.counts(own["verdict"])
    found = verdict_rule.counts(claims["verdict"], VERDICTS)
    within = numbers["reproduced"] + numbers["close"]
    total = within + numbers["different"]
    parts = []
    if total:
        unread = {name: numbers[name] for name in verdict_rule.NO_NUMBER}
        verb = "is" if within == 1 else "are"
        shares = [
            f"{within} of {total} published numbers{apart} {verb} reproduced or close"
        ]
        shares += [f"{n} {name}" for name, n in unread.items() if n]
        parts.append(", ".join(shares))
    if decided := {name: found[name] for name in DECIDED if found[name]}:
        parts.append(f"sentences of the paper: {counted(decided)}")
    text = verdict_in_words("; ".join(parts), origins)
    return Answer(
        sentence=f"{text[:1].upper()}{text[1:]}." if parts else _why_none(own, claims),
        differences=_differences(own),
        numbers=numbers,
        claims=found,
    )


def answers_of(
    context: Context, verdicts: pd.DataFrame, claims: pd.DataFrame
) -> dict[str, Answer]:
    """Return the answer on each artefact."""
    places = [str(each).split() for each in claims["evidence"]]
    return {
        name: answer(
            verdicts[verdicts["artefact"] == name],
            claims.loc[[name in found for found in places]],
            origins_of(context, artefact.shown),
        )
        for name, artefact in context.config.artefacts.items()
    }


def with_labels(verdicts: pd.DataFrame, config: Paper) -> pd.DataFrame:
    """Return verdicts with the names of ranked methods here in place of print."""
    names = {
        (key, column): config.methods[method].label
        for key, artefact in config.artefacts.items()
        if isinstance(artefact, Ranking | RankTests)
        for column, (method,) in artefact.comparison.methods.items()
    }
    keys = zip(verdicts["artefact"], verdicts["column"], strict=True)
    return verdicts.assign(column=[names.get(key, key[1]) for key in keys])


def _differences(verdicts: pd.DataFrame) -> str:
    """Say how far our numbers are from print, for each unit by itself.

    How far ours is from one that can be read in two ways is not known: these are left
    out unless all are of this kind.
    """
    judged = verdicts[verdicts["verdict"].isin([*WITHIN, DIFFERENT])]
    certain = judged[judged["status"] != "ambiguous"]
    shown = certain if len(certain) else judged
    n_left = len(judged) - len(shown)
    left = f" ({n_left} ambiguous left out)" if n_left else ""
    difference = shown["reproduced"].astype(float) - shown["published"].astype(float)
    parts = []
    for unit, mine in difference.groupby(shown["unit"], dropna=False):
        ends = mine.agg(["median", "min", "max"])
        median, low, high = (few_digits(float(end)) for end in ends)
        text = median if len(mine) == 1 else f"median {median}, from {low} to {high}"
        named = "points" if unit == "%" else "" if pd.isna(unit) else str(unit)
        parts.append(f"{text} {named}".strip())
    return f"Ours − published: {'; '.join(parts)}{left}." if parts else ""


def _why_none(verdicts: pd.DataFrame, claims: pd.DataFrame) -> str:
    found = pd.concat([verdicts["verdict"], claims["verdict"]])
    if found.empty:
        return "Not judged: no number and no tested sentence of the paper is on it."
    if found.eq(verdict_rule.NOT_JUDGED).any():
        return "Not judged: this run reduces repeats, grids or data."
    return "No data."


def quoted_in_text(verdicts: pd.DataFrame, artefact: Artefact) -> pd.DataFrame:
    """Return the verdicts of an artefact that are on numbers of the paper's text."""
    cells = artefact.quoted.cells if artefact.quoted else []
    places = {(cell.row, cell.column) for cell in cells}
    keys = zip(verdicts["row"], verdicts["column"], strict=True)
    return verdicts.loc[[key in places for key in keys]]
