"""The main claim of a paper, answered; and verdicts in words."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from mtmkl_suite.config.models import MainClaim
from mtmkl_suite.judge.claims import DECIDED
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.text import number

_ON = {"stand-in": "on stand-in data", "own kernels": "with kernels of our own"}
"""Data that are not the paper's, by their origin, in words."""

_FEW = 3
"""Rows of which each has its effects in words."""

_ENDS = ("interval_low", "interval_high", "corrected_low", "corrected_high")


class MainAnswer(NamedTuple):
    """The main claim of a paper, with verdict and effects in words.

    ``verdict`` is that of the sentence alone. ``effects`` has the settings in the unit
    of the axis; ``row`` numbers the labels.
    """

    main: MainClaim
    quote: str
    line: int
    verdict: str
    words: str
    ours: str
    printed: str
    effects: pd.DataFrame

    @property
    def verdict_said(self) -> str:
        """The verdict as a sentence."""
        return f"{self.words[:1].upper()}{self.words[1:]}."

    @property
    def compared(self) -> str:
        """Effects as found here and as printed, a sentence; "" for none."""
        if not self.ours:
            return ""
        printed = f" Printed: {self.printed}." if self.printed else ""
        axis = self.main.axis
        return f"{axis[:1].upper()}{axis[1:]}: {self.ours}.{printed}"

    @property
    def in_words(self) -> str:
        """All that the picture shows."""
        return " ".join(
            filter(None, (self.main.says, self.verdict_said, self.compared))
        )


def verdict_in_words(verdict: str, origins: Iterable[str]) -> str:
    """Return a verdict, with what its data are if they are not the paper's."""
    found = dict.fromkeys(_ON[origin] for origin in origins if origin in _ON)
    return ", ".join([verdict, *found])


def origins_of(context: Context, experiments: Iterable[str]) -> list[str]:
    """Return where the data of some experiments are from."""
    return [each for e in experiments for each in context.origin(e).split(", ")]


def main_answer(
    context: Context, claims: pd.DataFrame, settings: pd.DataFrame
) -> MainAnswer | None:
    """Return the answer to the main claim of a paper, None if it has none."""
    main = context.config.main_claim
    judged = claims[claims["id"] == main.claim] if main else claims[:0]
    if main is None or judged.empty:
        return None
    row = judged.iloc[0]
    (claim,) = (each for each in context.config.claims if each.id == main.claim)
    origins = origins_of(context, sorted(claim.experiments))
    effects = _effects(main, settings)
    return MainAnswer(
        main=main,
        quote=str(row["quote"]),
        line=int(row["line"]),
        verdict=str(row["verdict"]),
        words=verdict_in_words(str(row["verdict"]), origins),
        ours=_in_words(main, effects) if row["verdict"] in DECIDED else "",
        printed="; ".join(
            f"{name}: {value:g}"
            for name, value in zip(main.rows, main.printed, strict=False)
        ),
        effects=effects,
    )


def _effects(main: MainClaim, settings: pd.DataFrame) -> pd.DataFrame:
    found = settings[settings["id"] == main.claim].reset_index(drop=True)
    found[["estimate", *_ENDS]] *= main.scale
    of_each = max(len(found) // len(main.rows), 1)
    return found.assign(row=found.index // of_each)


def _in_words(main: MainClaim, effects: pd.DataFrame) -> str:
    """Return the range of each row, or that of all if there are many."""
    is_many = len(main.rows) > _FEW
    parts = []
    for k, values in effects.groupby(effects["row"] * (not is_many))["estimate"]:
        ends = dict.fromkeys(number(end, ".2g") for end in (values.min(), values.max()))
        parts.append(("" if is_many else f"{main.rows[k]}: ") + " to ".join(ends))
    return "; ".join(parts)
