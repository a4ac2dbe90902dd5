"""Markdown as HTML: published tables, and sentences of the documentation."""

import re
from collections.abc import Callable
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from mtmkl_suite.judge import claims, verdicts
from mtmkl_suite.report.text import DASH, is_number, with_minus

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")

_VERDICTS = {*verdicts.VERDICTS, *claims.VERDICTS}

Link = Callable[[str], str]
"""Address of a link's target from the page that shows a text."""


def slug(text: str) -> str:
    """Return words joined by hyphens, for classes and ids."""
    return "-".join(re.findall(r"[a-z]+", text.lower()))


def as_html(text: str, name: str) -> str:
    """Return Markdown as HTML, its first-level heading left out.

    Raw HTML is escaped, but for the ends of lines in cells. Tables are named, scroll by
    themselves, and have verdicts as marks, numbers on the right, and rows with
    headings.
    """
    tokens = _PARSER.parse(text)
    if tokens and tokens[0].tag == "h1":
        tokens = tokens[3:]
    for k, token in enumerate(tokens):
        if token.type == "table_open":
            _finish_table(tokens, k, name)
    html = str(_PARSER.renderer.render(tokens, _PARSER.options, {}))
    return html.replace("&lt;br&gt;", "<br>")


def inline_html(text: str, link: Link) -> str:
    """Return Markdown of one sentence as HTML."""
    tokens = _PARSER.parseInline(text)
    for child in tokens[0].children or ():
        if child.type == "link_open":
            child.attrs["href"] = link(str(child.attrs["href"]))
    return str(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def items(text: str, title: str) -> list[str]:
    """Return the items of the first list, a numbered one, below a heading."""
    found, is_below, is_inside = [], False, False
    tokens = _PARSER.parse(text)
    for k, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            is_below = tokens[k + 1].content.startswith(title)
        if is_inside and token.type == "ordered_list_close":
            break
        is_inside |= is_below and token.type == "ordered_list_open"
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
