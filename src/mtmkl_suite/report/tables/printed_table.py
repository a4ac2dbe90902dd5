"""A table as people read it: Markdown and LaTeX, whatever its layout."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from mtmkl_suite.report.record.written import TextTable

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#",
        "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}", "–": "--", "−": "$-$", "±": r"$\pm$",
        "≤": r"$\le$", "≥": r"$\ge$", "†": r"$^\dagger$", "²": "$^2$",
        "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "ε": r"$\varepsilon$",
        "λ": r"$\lambda$", "μ": r"$\mu$", "ρ": r"$\rho$", "σ": r"$\sigma$",
        "χ": r"$\chi$", "ω": r"$\omega$",
    }
)  # fmt: skip


@dataclass(frozen=True)
class PrintedTable:
    """A table with published and reproduced numbers, whatever its layout.

    Attributes
    ----------
    title : str
    cells : DataFrame
        In reading order, mostly of
        :data:`mtmkl_suite.report.tables.tables.CELL_COLUMNS`; ``in_paper`` is false for
        what the paper does not print.
    header : sequence of str
        The headings of the columns.
    body : sequence of sequence of str
        The rows as text, each as long as the header.
    notes : sequence of str
        The sentences below the table.
    details : TextTable or None
        Another table that the report shows below it.
    """

    title: str
    cells: pd.DataFrame
    header: Sequence[str]
    body: Sequence[Sequence[str]]
    notes: Sequence[str]
    details: TextTable | None = None

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.header, ["---"] * len(self.header), *self.body]
        rows = ["| " + " | ".join(map(_markdown, line)) + " |" for line in lines]
        return "\n".join(
            [f"**{self.title}**", "", *rows, "", "\n\n".join(self.notes), ""]
        )

    def latex(self) -> str:
        """Return the table as a LaTeX ``tabular`` (package booktabs)."""
        lines = [
            "% needs \\usepackage{booktabs}",
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


def _markdown(text: str) -> str:
    return text.replace("|", "\\|")


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cell.translate(_LATEX) for cell in cells) + r" \\"
