"""Markdown as HTML: published tables, and parts of the documentation."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from mtmkl_suite.judge import claims, verdicts
from mtmkl_suite.report.text import DASH, is_number, with_minus

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")

_VERDICTS = {*verdicts.VERDICTS, *claims.VERDICTS}

_LEVELS_DOWN = 1
"""The page has a heading for each paper above these sections."""

Link = Callable[[str], str]
"""Address of a link's target from the page that shows a text."""


def slug(text: str) -> str:
    """Return words joined by hyphens, for classes and ids."""
    return "-".join(re.findall(r"[a-z]+", text.lower()))


def as_html(text: str, name: str, link: Link = str) -> str:
    """Return Markdown as HTML, its first-level heading left out.

    Raw HTML is escaped, but for the ends of lines in cells.

    Tables are named after the text and their heading, scroll by themselves, and have
    verdicts as marks, numbers on the right, and rows with headings.
    """
    tokens = _PARSER.parse(text)
    if tokens and tokens[0].tag == "h1":
        tokens = tokens[3:]
    heading, counts = "", Counter[str]()
    for k, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{int(token.tag[1:]) + _LEVELS_DOWN}"
        if token.type == "heading_open":
            heading = f": {tokens[k + 1].content}"
        elif token.type == "table_open":
            counts[heading] += 1
            n = counts[heading]
            _finish_table(tokens, k, f"{name}{heading}" + f", table {n}" * (n > 1))
    _mend(tokens, link)
    html = str(_PARSER.renderer.render(tokens, _PARSER.options, {}))
    return html.replace("&lt;br&gt;", "<br>")


def inline_html(text: str, link: Link = str) -> str:
    """Return Markdown of one sentence as HTML."""
    tokens = _PARSER.parseInline(text)
    _mend(tokens, link)
    return str(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def _mend(tokens: Sequence[Token], link: Link) -> None:
    """Let links lead to the same places from the page that shows a text."""
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs["href"] = link(str(child.attrs["href"]))


def sections(text: str, titles: Sequence[str]) -> str:
    """Return the sections whose headings begin with one of some titles."""
    lines, kept, is_wanted = text.splitlines(), [], False
    starts = {
        token.map[0]: tokens[k + 1].content
        for tokens in [_PARSER.parse(text)]
        for k, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2" and token.map
    }
    for k, line in enumerate(lines):
        if k in starts:
            is_wanted = starts[k].startswith(tuple(titles))
        kept += [line] * is_wanted
    return "\n".join(kept)


def items(text: str) -> list[str]:
    """Return the items of the first numbered list, as Markdown."""
    found, is_inside = [], False
    for token in _PARSER.parse(text):
        if token.type == "ordered_list_close":
            break
        is_inside |= token.type == "ordered_list_open"
        if is_inside and token.type == "inline":
            found.append(token.content)
    return found


def _finish_table(tokens: list[Token], start: int, name: str) -> None:
    """Put a table in a named region that scrolls, and give its cells their classes."""
    end = next(k for k in range(start, len(tokens)) if tokens[k].type == "table_close")
    rows: list[list[int]] = []
    for k in range(start, end):
        if tokens[k].type == "tr_open":
            rows.append([])
        elif tokens[k].type in ("th_open", "td_open"):
            rows[-1].append(k)
    head, *body = rows
    for column, place in enumerate(head):
        texts = [tokens[row[column] + 1].content for row in body]
        filled = [each for each in texts if each not in ("", DASH)]
        of_numbers = column > 0 and bool(filled) and all(map(is_number, filled))
        tokens[place].attrSet("scope", "col")
        if of_numbers:
            tokens[place].attrSet("class", "right")
        for row, text in zip(body, texts, strict=True):
            _finish_cell(tokens, row[column], text, column, of_numbers=of_numbers)
        if not tokens[place + 1].content:
            del tokens[place].attrs["scope"]
            tokens[place].tag = tokens[place + 2].tag = "td"
    region = f'role="region" aria-label="{escape(name)}"'
    opening = f'<div class="scroll" tabindex="0" {region}><table>'
    _make_html(tokens[start], f"{opening}\n<caption>{escape(name)}</caption>\n")
    _make_html(tokens[end], "</table></div>\n")


def _finish_cell(
    tokens: list[Token], place: int, text: str, column: int, *, of_numbers: bool
) -> None:
    cell, inline = tokens[place], tokens[place + 1]
    if column == 0 and text:
        cell.tag = tokens[place + 2].tag = "th"
        cell.attrSet("scope", "row")
    elif of_numbers or is_number(text):
        cell.attrSet("class", "num" if of_numbers else "number")
    if text in _VERDICTS:
        mark = f'<span class="v v-{slug(text)}">{text}</span>'
        inline.children = [Token("html_inline", "", 0, content=mark)]
    for child in inline.children or ():
        if child.type == "text" and is_number(text):
            child.content = with_minus(child.content)


def _make_html(token: Token, html: str) -> None:
    token.type, token.content = "html_block", html
