"""The main claim of a paper, answered and drawn; and verdicts in words."""

import textwrap
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl_suite.config.models import MainClaim
from mtmkl_suite.judge.claims import DECIDED
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import figure_style, saved
from mtmkl_suite.report.text import number

_ON = {"stand-in": "on stand-in data", "own kernels": "with kernels of our own"}
"""Data that are not the paper's, by their origin, in words."""

_FEW = 3
"""Rows of which each has its effects in words."""

_INK, _SOFT, _LINE = "#1f2328", "#59636e", "#d1d9e0"
_DARK = {_INK: "#e6edf3", _SOFT: "#9da7b1", _LINE: "#3d444d"}
_COLOURS = {"holds": "#1a7f37", "undecided": "#6f5fb8", "does not hold": "#c6372f"}
_DARK |= dict(zip(_COLOURS.values(), ("#3fb950", "#a79bea", "#f0776d"), strict=True))
_MARKS = {"holds": "✓", "undecided": "?", "does not hold": "✗"}
_SIZE = (2.8, 2.75)
_WIDTH = 42

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
        axis = f"{self.main.axis[:1].upper()}{self.main.axis[1:]}"
        if len(self.main.rows) > _FEW or self.effects["row"].duplicated().any():
            axis += ", least to greatest"
        lines = f" ({self.main.lines})" if self.main.lines else ""
        printed = f" Printed: {self.printed}." if self.printed else ""
        return f"{axis}{lines}: {self.ours}.{printed}"

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
    """Return the effect of each row and its interval, or the range of several effects.

    Of many rows it is the range of all.
    """
    is_many = len(main.rows) > _FEW
    parts = []
    for k, mine in effects.groupby(effects["row"] * (not is_many)):
        text = _range(mine["estimate"])
        ends = mine[["corrected_low", "corrected_high"]].iloc[0]
        if len(mine) == 1 and ends.notna().all():
            text += f" (corrected 95 % interval {_range(ends)})"
        parts.append(text if is_many else f"{main.rows[k]}: {text}")
    return "; ".join(parts)


def _range(values: pd.Series) -> str:
    ends = number(values.min(), ".2g"), number(values.max(), ".2g")
    return " to ".join(dict.fromkeys(ends))


def main_claim_svg(name: str, answer: MainAnswer) -> bytes:
    """Return the picture; its colours follow the reader's light or dark scheme."""
    with figure_style():
        drawing = saved(_drawn(name, answer), transparent=True)
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
        for light, dark in _DARK.items()
        for kind in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
    head, opening, rest = drawing.partition(b"<defs>")
    return head + style.encode() + opening + rest


def _drawn(name: str, answer: MainAnswer) -> Figure:
    main, colour = answer.main, _COLOURS.get(answer.verdict, _SOFT)
    figure = Figure(figsize=_SIZE)
    figure.set_layout_engine("none")
    axis = figure.add_axes((0.28, 0.215, 0.68, 0.385))
    says = textwrap.wrap(main.says, _WIDTH)
    for k, (text, size, ink, weight) in enumerate([
        (name, 9.5, _INK, "bold"),
        *((line, 8, _INK, "normal") for line in says),
        (f"{_MARKS.get(answer.verdict, '')} {answer.words}".strip(), 9, colour, "bold"),
    ]):  # fmt: skip
        y = 0.985 - 0.067 * k - 0.015 * (k > 0) - 0.01 * (k > len(says))
        figure.text(0.02, y, text, size=size, color=ink, weight=weight, va="top")
    if answer.verdict in DECIDED:
        _draw_effects(axis, answer)
    else:
        axis.axis("off")
    return figure


def _draw_effects(axis: Axes, answer: MainAnswer) -> None:
    """Draw a line for each setting, the plain test thick, the corrected thin."""
    main, effects = answer.main, answer.effects
    each = len(effects) // len(main.rows)
    place = effects["row"] + 0.84 * ((effects.index % each + 0.5) / each - 0.5)
    size = min(5.0, 40 / len(effects))
    axis.axvline(0, color=_SOFT, linewidth=0.8)
    for y, row in zip(place, effects.to_dict("records"), strict=True):
        colour = _COLOURS.get(row["verdict"], _SOFT)
        for ends, width in (("corrected", 0.8), ("interval", 2.2)):
            low, high = row[f"{ends}_low"], row[f"{ends}_high"]
            axis.plot([low, high], [y, y], color=colour, linewidth=width)
        axis.plot(row["estimate"], y, "o", color=colour, markersize=size)
    for k, value in enumerate(main.printed):
        axis.plot([value] * 2, [k - 0.42, k + 0.42], color=_INK, linewidth=1.6)
    label = f"{main.axis}\n● ours" + "   ❙ printed" * bool(main.printed)
    if main.lines:
        label += f"\nfrom the top: {main.lines}"
    axis.set_xlabel(label, color=_SOFT, size=7.5, x=0.36)
    axis.set_yticks(range(len(main.rows)), main.rows)
    axis.set_ylim(len(main.rows) - 0.5, -0.5)
    axis.tick_params(colors=_SOFT, labelcolor=_SOFT, labelsize=7.5, length=0)
    axis.grid(color=_LINE)
    axis.grid(visible=False, axis="y")
    for spine in axis.spines.values():
        spine.set_color(_LINE)
    axis.patch.set_alpha(0)
