"""Does Table 1 hold? Counts of verdicts, and the answer in a word and a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.report.record.published_record import RECORD

MOSTLY, PARTLY = 0.75, 0.25
"""Shares from which an answer is "mostly" and "partly"."""


@dataclass(frozen=True)
class Answer:
    """What verdicts and claims say of an artefact, or of a paper.

    Attributes
    ----------
    word : str
        "Yes", "Mostly", "Partly", "No", "Undecided" or "–".
    sentence : str
    numbers, claims : dict of str to int
        How often each verdict occurs; numbers that follow from others are left out.
    sources : list of str
        Where the verdicts are from.
    """

    word: str
    sentence: str
    numbers: dict[str, int]
    claims: dict[str, int]
    sources: list[str]

    @property
    def is_of_record(self) -> bool:
        """Whether some of it is from the published record."""
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
