"""Templates with their filters, links to files and documentation, and texts from it."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mtmkl_suite.config.models import Paper
from mtmkl_suite.judge.claims import counted
from mtmkl_suite.report.figures.drawing import equation_image
from mtmkl_suite.report.pages.experiments import duration, options_in_words
from mtmkl_suite.report.tables.text import DASH, is_number, p_text, with_minus
from mtmkl_suite.run.folders import RunFolder

_DISPUTES = re.compile(r"## (?:Errata|Audit)\b.*")
_SENTENCES = re.compile("## In brief")

_MOST_LABELS = 4

_LEVELS_DOWN = 1
"""The page has a heading for each paper above these sections."""


def environment() -> Environment:
    """Return the environment of the templates."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters |= {
        # Where no site is built, a link leads to the source of a page.
        "form": lambda link: " (Markdown)" if link.endswith(".md") else "",
        "subscripts": _with_subscripts,
        "drawn": equation_image,
        "slug": lambda text: "-".join(re.findall(r"[a-z]+", text.lower())),
        "number": number,
        "p_value": p_text,
        "share": lambda value: DASH if pd.isna(value) else f"{value:.2f}",
        "percent": lambda value: DASH if pd.isna(value) else f"{100 * value:.3g} %",
        "counted": counted,
        "duration": duration,
        "options": options_in_words,
        "in_short": _in_short,
        "with_minus": with_minus,
    }
    found.tests["a_number"] = is_number
    found.globals["page_name"] = page_name
    return found


def _in_short(labels: Iterable[str]) -> str:
    """Return the first few labels, without what they have in parentheses."""
    found = list(dict.fromkeys(label.partition(" (")[0] for label in labels))
    more = len(found) - _MOST_LABELS
    shown = ", ".join(found[:_MOST_LABELS])
    return f"{shown} and {more} more" if more > 0 else shown


INDEXED = re.compile(r"((?<!\w)\w|\|\|)_([\w·]{1,3})(?!\w)")
"""A symbol of one letter, or a norm, and its index."""


def _with_subscripts(html: str) -> str:
    """Return HTML with indices, as of λ_mt, below the line."""
    return INDEXED.sub(r"\1<sub>\2</sub>", str(html))


def number(value: float, form: str = ".3g") -> str:
    """Return a number of some digits, with a minus sign; :data:`DASH` for none."""
    if pd.isna(value):
        return DASH
    return f"{value:{form}}".replace("-", "\N{MINUS SIGN}").replace("inf", "∞")


def address(path: Path, run: RunFolder) -> str:
    """Return the address of a file for the pages of a run's report."""
    return Path(os.path.relpath(path, run.pages)).as_posix()


def page_name(kind: str, name: str) -> str:
    """Return the file of a page, such as ``method-Whom.html``."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", name.rpartition("/")[2]).strip("-")
    return f"{kind}-{stem}.html"


@dataclass(frozen=True)
class Documentation:
    """Documentation that a report links to.

    ``site`` in the run's folder, if it was built before the report; otherwise its
    sources in the checkout, ``top``.
    """

    run: RunFolder
    top: Path

    @classmethod
    def of(cls, config: Paper, run: RunFolder) -> "Documentation":
        """Return the documentation that belongs to a paper's configuration."""
        # config/papers/<id>/published
        return cls(run, config.published.parents[3])

    def page(self, source: str) -> str:
        """Return the address of a page, "" if there is none."""
        built = (self.run.site / source).with_suffix(".html")
        return self._first(built, self.top / source)

    def paper(self, config: Paper) -> str:
        """Return the address of a paper's page, "" if there is none."""
        return self.page(_source(config))

    def method(self, name: str) -> str:
        """Return the address of the page of a method's class, "" if there is none."""
        if ":" in name:
            return ""
        built = self.run.site / "docs" / "generated" / f"mtmkl.methods.{name}.html"
        return self._first(built, self.top / "docs" / "methods.md")

    def _first(self, *candidates: Path) -> str:
        found = (path for path in candidates if path.is_file())
        path = next(found, None)
        return "" if path is None else address(path, self.run)


def errata_of(config: Paper, documentation: Documentation) -> str:
    """Return the errata on a paper's page as HTML, "" if there are none."""
    return _part(config, documentation, _DISPUTES)


def sentences_of(config: Paper, documentation: Documentation) -> list[str]:
    """Return the sentences that begin a paper's page, as HTML."""
    html = _part(config, documentation, _SENTENCES)
    return re.findall(r"<li>\s*(?:<p>)?(.*?)(?:</p>)?\s*</li>", html, re.DOTALL)


def _source(config: Paper) -> str:
    """Return the file of a paper's page, which for our own comparison is no paper's."""
    name = config.paper.id
    # Data of one's own may have any name, and their template's folder.
    is_ours = config.paper.authors == "mtmkl" and config.folder.name == name
    return f"docs/{name}.md" if is_ours else f"docs/papers/{name}.md"


def _part(config: Paper, documentation: Documentation, heading: re.Pattern[str]) -> str:
    """Return sections of a paper's page as HTML; raw HTML in the source is escaped."""
    source = documentation.top / _source(config)
    if not source.is_file():
        return ""
    text = "\n".join(_sections(source.read_text(encoding="utf-8"), heading))
    return _html(text, source, documentation) if text else ""


def _sections(text: str, heading: re.Pattern[str]) -> Iterator[str]:
    is_wanted = False
    for line in text.splitlines():
        if line.startswith("## "):
            is_wanted = bool(heading.fullmatch(line))
        if is_wanted:
            yield line


def _html(text: str, source: Path, documentation: Documentation) -> str:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{int(token.tag[1:]) + _LEVELS_DOWN}"
        for child in token.children or ():
            if child.type == "link_open":
                _mend_link(child, source, documentation)
    rendered = parser.renderer.render(tokens, parser.options, {})
    # As all tables of the report: wide ones scroll by themselves, and have a name.
    first, _, _ = source.read_text(encoding="utf-8").partition("\n")
    paper = first.removeprefix("# ").partition(", *")[0]
    heading, counts = "", Counter[str]()

    def opening(found: re.Match[str]) -> str:
        nonlocal heading
        if found[1]:
            heading = re.sub("<.*?>", "", found[1])
            return found[0]
        counts[heading] += 1
        n = counts[heading]
        name = f"{paper}: {heading}" + f", table {n}" * (n > 1)
        region = f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        return f"{region}<table>\n<caption>{name}</caption>"

    return (
        re.sub(r"<table>|<h\d>(.*?)</h\d>", opening, rendered)
        .replace("</table>", "</table></div>")
        .replace("<th>", '<th scope="col">')
        .replace("<th style", '<th scope="col" style')
    )


def _mend_link(link: Token, source: Path, documentation: Documentation) -> None:
    """Let a link of a page lead to the same place from the report."""
    target, hash_sign, anchor = str(link.attrs["href"]).partition("#")
    if "://" in target:
        return
    path = (source.parent / target).resolve() if target else source
    found = ""
    if path.is_relative_to(documentation.top) and path.suffix == ".md":
        found = documentation.page(path.relative_to(documentation.top).as_posix())
    link.attrs["href"] = (
        (found or address(path, documentation.run)) + hash_sign + anchor
    )
