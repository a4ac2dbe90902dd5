"""Answers in a word and in sentences: what verdicts on numbers and claims say."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mtmkl_suite.config.models import Paper, Quoted, Ranking, RankTests, Table
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.claims import VERDICTS
from mtmkl_suite.judge.comparison import practical_equivalence
from mtmkl_suite.judge.reach import DIFFERENT, WITHIN
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.names import number_of
from mtmkl_suite.report.tables.cells import tolerance_text
from mtmkl_suite.report.text import DASH, few_digits, metrics_in_words

MOSTLY, PARTLY = 0.75, 0.25
"""Shares from which an answer is "mostly" and "partly"."""


class Answer(NamedTuple):
    """Verdicts and claims of an artefact, or of a paper, together.

    ``claims_word`` is that of the paper's claims, "" where ``word`` is already.
    ``differences`` has those of numbers, and ``why`` names the number or the claim that
    decides most. ``numbers`` and ``claims`` count each verdict; numbers that follow
    from others are left out.
    """

    word: str
    claims_word: str
    sentence: str
    differences: str
    why: str
    numbers: dict[str, int]
    claims: dict[str, int]

    @property
    def is_tested(self) -> bool:
        """True if there is a printed number or a claim to be judged."""
        return any([*self.numbers.values(), *self.claims.values()])

    @property
    def is_judged(self) -> bool:
        """True if a verdict on a number, or on a claim, decides it."""
        return self.word != DASH

    @property
    def words(self) -> list[str]:
        """The verdict in a word, or in one on numbers and one on claims."""
        if not self.claims_word:
            return [self.word]
        return [f"Numbers: {self.word.lower()}", f"Claims: {self.claims_word.lower()}"]


def answer(verdicts: pd.DataFrame, claims: pd.DataFrame) -> Answer:
    """Return what verdicts on numbers and on claims say together.

    Numbers and the paper's claims are judged separately.
    *Yes*: all numbers are reproduced or close, or all claims hold. *Undecided*: most
    claims are. Otherwise the share of numbers, or of decided claims, gives *mostly*
    (from :data:`MOSTLY`), *partly* (from :data:`PARTLY`) or *no*.
    """
    own = verdict_rule.own_numbers(verdicts)
    numbers = counts(own["verdict"], verdict_rule.VERDICTS)
    found = counts(claims["verdict"], VERDICTS)
    within = numbers["reproduced"] + numbers["close"]
    total = within + numbers["different"]
    papers = found["holds"], found["does not hold"], found["undecided"]
    word = _word(within, total - within, 0) if total else _word(*papers)
    parts = []
    if total:
        unread = {s: int(own["status"].eq(s).sum()) for s in verdict_rule.NO_NUMBER}
        parts.append(_numbers_text(within, total, unread))
    if any(papers):
        parts.append(_claims_text(*papers))
    return Answer(
        word=word,
        claims_word=_word(*papers) if total and any(papers) else "",
        sentence=_sentence("; ".join(parts)) if parts else _why_none(own, claims),
        differences=_differences(own),
        why=_why(own, claims),
        numbers=numbers,
        claims=found,
    )


def answers_of(
    artefacts: Collection[str], verdicts: pd.DataFrame, claims: pd.DataFrame
) -> tuple[dict[str, Answer], Answer]:
    """Return the answer on each artefact, and that of the claims on none."""
    places = [str(each).split() for each in claims["evidence"]]
    of_each = {
        name: answer(
            verdicts[verdicts["artefact"] == name],
            claims.loc[[name in found for found in places]],
        )
        for name in artefacts
    }
    return of_each, answer(verdicts[:0], claims.loc[[not each for each in places]])


def with_labels(verdicts: pd.DataFrame, config: Paper) -> pd.DataFrame:
    """Return verdicts with the names of ranked methods here in place of print."""
    names = {
        (key, column): config.methods[method].label
        for key, artefact in config.artefacts.items()
        if isinstance(artefact, Ranking | RankTests)
        for column, method in artefact.comparison.columns.items()
    }
    keys = zip(verdicts["artefact"], verdicts["column"], strict=True)
    return verdicts.assign(column=[names.get(key, key[1]) for key in keys])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def counts(values: pd.Series, names: Sequence[str]) -> dict[str, int]:
    """Return how often each of some values occurs."""
    return {name: int((values == name).sum()) for name in names}


def _word(good: int, bad: int, undecided: int) -> str:
    if good + bad + undecided == 0:
        return DASH
    if bad + undecided == 0:
        return "Yes"
    if undecided > good + bad:
        return "Undecided"
    share = good / (good + bad) if good + bad else 0.0
    if share >= MOSTLY:
        return "Mostly"
    return "Partly" if share >= PARTLY else "No"


def _numbers_text(within: int, total: int, unread: dict[str, int]) -> str:
    said = {
        "illegible": "cannot be read in the paper",
        "did not run": "did not run there",
    }
    more = "".join(f", {n} more {said[name]}" for name, n in unread.items() if n)
    if total == 1:
        found = "reproduced or close" if within else "neither reproduced nor close"
        return f"The published number is {found}{more}"
    share = {0: f"None of the {total}", total: f"All {total}"}.get(within)
    many = share or f"{within} of {total}"
    verb = "is" if within < 2 else "are"
    return f"{many} published numbers {verb} reproduced or close{more}"


def _claims_text(holds: int, fails: int, undecided: int) -> str:
    total = holds + fails + undecided
    if total == 1:
        verb = "holds" if holds else "is undecided" if undecided else "does not hold"
        return f"the paper's only sentence {verb}"
    every, none = ("both", "neither") if total == 2 else ("all", "none")
    if holds == total:
        return f"the paper's {total} sentences {every} hold"
    if undecided == total:
        return f"the paper's {total} sentences are {every} undecided"
    if fails == total:
        return f"{none} of the paper's {total} sentences holds"
    parts = [f"{holds} hold{'s' * (holds == 1)}"] if holds else []
    if undecided:
        parts.append(f"{undecided} {'is' if undecided == 1 else 'are'} undecided")
    if fails:
        parts.append(f"{fails} {'does' if fails == 1 else 'do'} not hold")
    return f"of the paper's {total} sentences {', '.join(parts)}"


def _judged(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return judged numbers, those that can be read in two ways only if all can.

    How far ours is from such a number is not known.
    """
    found = verdicts[verdicts["verdict"].isin([*WITHIN, DIFFERENT])]
    certain = found[found["status"] != "ambiguous"]
    found = certain if len(certain) else found
    found = found.astype({"published": float, "reproduced": float})
    return found.assign(difference=found["reproduced"] - found["published"])


def _differences(verdicts: pd.DataFrame) -> str:
    """Say how far our numbers are from print, for each unit by itself."""
    parts, judged = [], _judged(verdicts)
    n_left = int(verdicts["verdict"].isin([*WITHIN, DIFFERENT]).sum()) - len(judged)
    left = f" ({n_left} ambiguous left out)" if n_left else ""
    for unit, mine in judged.groupby("unit", dropna=False):
        ends = mine["difference"].agg(["median", "min", "max"])
        median, low, high = (few_digits(float(end)) for end in ends)
        text = median if len(mine) == 1 else f"median {median}, from {low} to {high}"
        named = "points" if unit == "%" else "" if pd.isna(unit) else str(unit)
        parts.append(f"{text} {named}".strip())
    return f"Ours − published: {'; '.join(parts)}{left}." if parts else ""


def farthest(verdicts: pd.DataFrame) -> str:
    """Return the number that is farthest from print, "" without any.

    Differences of several units are compared in units of what is printed.
    """
    judged = _judged(verdicts)
    gaps = judged["difference"].abs()
    if judged["unit"].nunique(dropna=False) > 1:
        gaps /= judged["published"].abs().clip(lower=1e-12)
    if not gaps.notna().any():
        return ""
    worst = judged.iloc[int(np.nanargmax(gaps.to_numpy()))]
    return (
        f"{worst['column']}, {worst['row']}: {worst['reproduced']:.4g}, "
        f"printed {worst['published']:g}"
    )


def _why(verdicts: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Return the largest difference from print, and claims of the worst verdict."""
    worst = farthest(verdicts)
    parts = [f"Largest difference: {worst}."] if worst else []
    for verdict in ("does not hold", "undecided", "holds"):
        texts = list(claims["quote"][claims["verdict"] == verdict])
        if texts:
            more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
            said = texts[0].rstrip(".")
            parts.append(f"{verdict.capitalize()}: “{said}”{more}.")
            break
    return " ".join(parts)


def _why_none(verdicts: pd.DataFrame, claims: pd.DataFrame) -> str:
    found = pd.concat([verdicts["verdict"], claims["verdict"]])
    if found.empty:
        return "The paper prints no number for it, and no sentence on it is tested."
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
        keys = zip(mine["row"], mine["column"], strict=True)
        is_quoted = np.array([key in quoted for key in keys], dtype=bool)
        title = number_of(name) or artefact.title
        for rows, part, where in (
            (mine[~is_quoted], artefact, title),
            (mine[is_quoted], artefact.quoted, f"{title}, in the text"),
        ):
            if len(rows) and isinstance(part, Table | Ranking | Quoted):
                units = [*map(str, rows["unit"].dropna()), ""]
                tolerance = tolerance_text(part.tolerance, units[0])
                rule = {"artefact": where, "tolerance": tolerance, "n": len(rows)}
                found.append(rule | {"paper_name": paper_name})
    return found


def pair_rules(
    context: Context, paper_name: str, statistics: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return how the pairs of each experiment were compared.

    ``rope`` is the half width of the region of practical equivalence, ``rho`` the
    correlation of repeats that share samples; nan for none.
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
