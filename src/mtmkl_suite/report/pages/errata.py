"""What we dispute of the papers: the sections on errata of their pages, as HTML."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl_suite.report.pages.addresses import Documentation, address

if TYPE_CHECKING:
    from markdown_it.token import Token

_DISPUTES = re.compile(r"## (?:Errata|Audit)\b.*")
_LEVELS_DOWN = 1
"""The page has a heading for each paper above these sections."""


@dataclass(frozen=True)
class Errata:
    """The sections of one paper's page.

    Attributes
    ----------
    paper, paper_name : str
        Id and short citation.
    html : str
        Safe to show: raw HTML in the source is escaped.
    """

    paper: str
    paper_name: str
    html: str


def errata_of(
    config: Mapping[str, Any], paper_name: str, documentation: Documentation
) -> Errata | None:
    """Return a paper's errata, None if its page has none or is not here."""
    paper = config["paper"]["id"]
    source = documentation.top / "docs" / "papers" / f"{paper}.md"
    if not source.is_file():
        return None
    text = "\n".join(_sections(source.read_text(encoding="utf-8")))
    if not text:
        return None
    return Errata(paper, paper_name, _html(text, source, documentation))


def _sections(text: str) -> Iterator[str]:
    is_wanted = False
    for line in text.splitlines():
        if line.startswith("## "):
            is_wanted = bool(_DISPUTES.fullmatch(line))
        if is_wanted:
            yield line


def _html(text: str, source: Path, documentation: Documentation) -> str:
    from markdown_it import MarkdownIt

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
    region = '<div class="scroll" tabindex="0" role="region" aria-label="Table">'
    caption = "<caption>From the paper's page</caption>"
    return (
        rendered.replace("<table>", f"{region}<table>\n{caption}")
        .replace("</table>", "</table></div>")
        .replace("<th>", '<th scope="col">')
        .replace("<th style", '<th scope="col" style')
    )


def _mend_link(link: "Token", source: Path, documentation: Documentation) -> None:
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
