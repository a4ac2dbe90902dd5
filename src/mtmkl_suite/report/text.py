"""Numbers, metrics and tables as text, Markdown and LaTeX."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.metrics import METRICS, metric_behind

DASH = "–"
"""Stands where there is no number."""

_NUMBER = re.compile(r"(< )?[+\-−]?\d")
_HYPHEN = re.compile(r"(?<![\w.)])-(?=\d)")
_LONGEST = 30


def is_number(text: str) -> bool:
    """Tell whether a text begins with a number, and is short enough to be one."""
    return bool(_NUMBER.match(text)) and len(text) < _LONGEST


def with_minus(text: str) -> str:
    """Return a number with a minus sign where it has a hyphen; other texts as is."""
    return _HYPHEN.sub("\N{MINUS SIGN}", text) if is_number(text) else text


def number(value: float | None, form: str = ".3g") -> str:
    """Return a number in some form, with a minus sign; :data:`DASH` for none."""
    if value is None or pd.isna(value):
        return DASH
    return f"{value:{form}}".replace("-", "\N{MINUS SIGN}").replace("inf", "∞")


def with_sd(value: float, sd: float, decimals: int) -> str:
    """Return a number with its standard deviation, where it has one."""
    spread = f" ± {sd:.{decimals}f}" if sd > 0 else ""
    return f"{value:.{decimals}f}{spread}"


def interval(low: float, high: float, form: str = ".3g") -> str:
    """Return the ends of an interval as text, :data:`DASH` where there is none."""
    return DASH if pd.isna(low) else f"{number(low, form)} to {number(high, form)}"


def p_text(value: float | None) -> str:
    """Return a probability in [0, 1] as text, :data:`DASH` where there is none."""
    if pd.isna(value):
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def p_equals(value: float) -> str:
    """Return a probability with the sign that belongs before it."""
    text = p_text(value)
    return text if text.startswith("<") else f"= {text}"


def few_digits(value: float) -> str:
    """Return a difference to two digits, with its sign, never as a power of ten."""
    size = math.floor(math.log10(abs(value))) if value else 0
    return number(value, f"+z.{min(max(1 - size, 0), 6)}f")


def value_text(value: Any) -> str:
    """Return a value of a csv as text, numbers to four digits."""
    if isinstance(value, float) or pd.isna(value):
        return number(value, ".4g")
    return str(value)


def range_text(counts: pd.Series) -> str:
    """Return the number that all of some counts have, or their range."""
    fewest, most = int(counts.min()), int(counts.max())
    return str(most) if fewest == most else f"{fewest}–{most}"


def repeats_text(counts: pd.Series) -> str:
    """Return over how many repeats there are means."""
    return many(range_text(counts), "repeat")


def many(count: int | str, noun: str) -> str:
    """Return a number of things, such as "1 repeat" or "0 data sets"."""
    return f"{count} {noun}{'s' * (str(count) != '1')}"


def sized(size: float, unit: str) -> str:
    """Return a size with its unit, "1 point" of points."""
    return f"{size:g} {unit.removesuffix('s') if size == 1 and len(unit) > 1 else unit}"


def metric_words(name: str) -> str:
    """Return the name of a metric in words."""
    if name == "n_iter":
        return "iterations"
    return METRICS[name].label if name in METRICS else name.replace("_", " ")


def are_shares(names: str) -> bool:
    """Tell whether all metrics, separated by commas, are shares of a best value, 1."""
    behind = [metric_behind(name) for name in names.split(", ")]
    return all(m and (m.better == "larger" or m.name == "roc") for m in behind)


def metrics_in_words(names: str) -> str:
    """Return the names of metrics in words, separated by commas as before."""
    return ", ".join(map(metric_words, names.split(", ")))


@dataclass(frozen=True)
class TextTable:
    """A table as text, each row as long as the header, and notes below it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the table as Markdown, without its notes."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        marks = str.maketrans({"|": "\\|", "\n": "<br>"})
        cells = ([text.translate(marks) for text in line] for line in lines)
        return "\n".join(f"| {' | '.join(line)} |" for line in cells)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#",
        "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}", "–": "--", "−": "$-$", "±": r"$\pm$",
        "≤": r"$\le$", "≥": r"$\ge$", "†": r"$^\dagger$", "²": "$^2$",
        "✓": r"$\checkmark$", "≈": r"$\approx$", "✗": r"$\times$",
        "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "ε": r"$\varepsilon$",
        "λ": r"$\lambda$", "μ": r"$\mu$", "ρ": r"$\rho$", "σ": r"$\sigma$",
        "χ": r"$\chi$", "ω": r"$\omega$",
    }
)  # fmt: skip


@dataclass(frozen=True)
class PrintedTable:
    """A table as people read it, beside its numbers.

    ``cells`` is its csv, mostly :data:`mtmkl_suite.report.tables.cells.CELL_COLUMNS`;
    each row of ``body`` is as long as the header; ``notes`` stand below.
    """

    title: str
    cells: pd.DataFrame
    header: Sequence[str]
    body: Sequence[Sequence[str]]
    notes: Sequence[str]

    def markdown(self, title: str = "") -> str:
        """Return the table as a page of Markdown, with a heading."""
        table, notes = TextTable(self.header, self.body).markdown(), self.notes
        return "\n\n".join([f"# {title or self.title}", table, *(notes or [""])]) + "\n"

    def latex(self) -> str:
        """Return the table as a LaTeX ``tabular`` (packages booktabs, makecell)."""
        lines = [
            "% needs \\usepackage{booktabs,makecell}",
            f"% {self.title}",
            f"\\begin{{tabular}}{{{'l' * len(self.header)}}}",
            "\\toprule",
            _latex_row(self.header),
            "\\midrule",
            *map(_latex_row, self.body),
            "\\bottomrule",
            "\\end{tabular}",
            "",
            *(f"% {note}" for note in self.notes),
            "",
        ]
        return "\n".join(lines)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(text: str) -> str:
    lines = r" \\ ".join(text.translate(_LATEX).split("\n"))
    return f"\\makecell[l]{{{lines}}}" if "\n" in text else lines
