"""Templates with their filters."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mtmkl.errors import some
from mtmkl_suite.judge.claims import counted
from mtmkl_suite.report.pages.experiments import duration, options_in_words
from mtmkl_suite.report.pages.markdown import as_html, slug
from mtmkl_suite.report.text import DASH, number, p_text

_MOST_LABELS = 4


def environment() -> Environment:
    """Return the environment of the templates, HTML and Markdown."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=lambda name: name is not None and ".html" in name,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters |= {
        # Where no site is built, a link leads to the source of a page.
        "form": lambda link: " (Markdown)" if link.endswith(".md") else "",
        "html": lambda text, name: Markup(as_html(text, name)),
        "slug": slug,
        "number": number,
        "p_value": p_text,
        "share": lambda value: DASH if pd.isna(value) else f"{value:.2f}",
        "percent": lambda value: DASH if pd.isna(value) else f"{100 * value:.3g} %",
        "counted": counted,
        "duration": duration,
        "options": options_in_words,
        "in_short": _in_short,
    }
    found.globals["page_name"] = page_name
    return found


def _in_short(labels: Iterable[str]) -> str:
    """Return the first few labels, without what they have in parentheses."""
    return some(dict.fromkeys(each.partition(" (")[0] for each in labels), _MOST_LABELS)


def page_name(kind: str, name: str) -> str:
    """Return the file of a page, such as ``method-Whom.html``."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", name.rpartition("/")[2]).strip("-")
    return f"{kind}-{stem}.html"
