"""Table of the methods for ``docs/methods.md``, from their docstrings.

``python docs/methods_table.py`` writes it; a test compares the page with it.
"""

import inspect
import re
from itertools import groupby
from pathlib import Path

from mtmkl.methods import REGISTRY

DOCS = Path(__file__).parent
PAGE = DOCS / "methods.md"
TABLE = re.compile(r"(?<=<!-- methods -->\n\n).*?(?=\n<!-- end -->)", re.S)

_EQUATION = re.compile(r"\.\. math::\n\n(.*?)\n\n", re.S)
_AUTHOR = re.compile(r"(?:[A-Z]\. )+(\w[\w -]*?)(?=,| and )")


def table() -> str:
    """Return the table: a row for each module of methods."""
    text = "| method | problem | paper | source |\n|---|---|---|---|\n"
    modules = groupby(REGISTRY.items(), key=lambda item: item[1].__module__)
    for module, methods in modules:
        found = dict(methods)
        doc = inspect.getdoc(next(iter(found.values()))) or ""
        names = "<br>".join(f"`{name}`" for name in found)
        problem = f"{doc.partition(chr(10))[0]}<br> $`{_problem(doc)}`$"
        file = module.rpartition(".")[2] + ".py"
        source = f"[{file}](../src/mtmkl/methods/{file})"
        text += f"| {names} | {problem} | {_paper(doc)} | {source} |\n"
    return text


def _problem(doc: str) -> str:
    """Return a method's problem, the first equation of its docstring."""
    (tex, *_) = _EQUATION.findall(doc)
    # A bar would end the cell.
    tex = tex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
    tex = " ".join(tex.split()).rstrip(".,: ")
    return re.sub(r"^(?=\\sum|\\tfrac|\\nu)", r"\\min ", tex)


def _paper(doc: str) -> str:
    """Return authors and year of a method's reference, linked if we repeat it."""
    reference = doc.partition("\nReferences\n")[2].partition("\n\n")[0]
    if not reference:
        return "–"
    authors = _AUTHOR.findall(" ".join(reference.split()))
    year = re.findall(r"\d{4}(?=\.|$)", reference.strip())[-1]
    page = f"papers/{authors[0].lower()}{year}.md"
    shown = " & ".join(authors) if len(authors) < 3 else f"{authors[0]} et al."
    text = f"{shown} {year}"
    return f"[{text}]({page})" if (DOCS / page).is_file() else text


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text("utf-8")), "utf-8")
