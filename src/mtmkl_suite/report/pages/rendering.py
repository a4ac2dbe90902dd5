"""Environment of the templates, and the filters that they share."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mtmkl_suite.report.pages.documentation import page_name
from mtmkl_suite.report.pages.experiments import duration, options_in_words
from mtmkl_suite.report.tables.text import DASH, is_number, p_text, with_minus


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
        "slug": lambda text: "-".join(re.findall(r"[a-z]+", text.lower())),
        "number": number,
        "p_value": p_text,
        "share": lambda value: DASH if pd.isna(value) else f"{value:.2f}",
        "percent": lambda value: DASH if pd.isna(value) else f"{100 * value:.3g} %",
        "counted": _counted,
        "duration": duration,
        "options": options_in_words,
        "with_minus": with_minus,
    }
    found.tests["a_number"] = is_number
    found.globals["page_name"] = page_name
    return found


def number(value: float, form: str = ".3g") -> str:
    """Return a number of some digits, with a minus sign; :data:`DASH` for none."""
    if pd.isna(value):
        return DASH
    return f"{value:{form}}".replace("-", "\N{MINUS SIGN}").replace("inf", "∞")


def _counted(found: Mapping[str, int]) -> str:
    """Return the verdicts that occur with their counts."""
    return ", ".join(f"{name} {n}" for name, n in found.items() if n) or "none"
