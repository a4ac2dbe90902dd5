"""The main claim of a paper as a small picture: ours, and the printed effects."""

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl_suite.judge.claims import DECIDED
from mtmkl_suite.report.figures.drawing import figure_style, saved
from mtmkl_suite.report.main_claims import MainAnswer

_INK, _SOFT, _LINE = "#1f2328", "#59636e", "#d1d9e0"
_DARK = {_INK: "#e6edf3", _SOFT: "#9da7b1", _LINE: "#3d444d"}
_COLOURS = {"holds": "#1a7f37", "undecided": "#6f5fb8", "does not hold": "#c6372f"}
_DARK |= dict(zip(_COLOURS.values(), ("#3fb950", "#a79bea", "#f0776d"), strict=True))
_MARKS = {"holds": "✓", "undecided": "?", "does not hold": "✗"}
_SIZE = (2.8, 2.75)
_WIDTH = 42


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
    axis = figure.add_axes((0.28, 0.175, 0.68, 0.415))
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
    """Draw a line for each setting, the paper's own test thick, the corrected thin."""
    main, effects = answer.main, answer.effects
    each = len(effects) // len(main.rows)
    place = effects["row"] + (effects.index % each + 0.5) / each - 0.5
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
    axis.set_xlabel(label, color=_SOFT, size=7.5, x=0.36)
    axis.set_yticks(range(len(main.rows)), main.rows)
    axis.set_ylim(len(main.rows) - 0.5, -0.5)
    axis.tick_params(colors=_SOFT, labelcolor=_SOFT, labelsize=7.5, length=0)
    axis.grid(color=_LINE)
    axis.grid(visible=False, axis="y")
    for spine in axis.spines.values():
        spine.set_color(_LINE)
    axis.patch.set_alpha(0)
