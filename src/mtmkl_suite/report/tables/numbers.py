"""Numbers as texts that several tables and pages share."""

import re

import pandas as pd

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


def p_text(value: float | None) -> str:
    """Return a probability in [0, 1] as text, :data:`DASH` where there is none."""
    if pd.isna(value):
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
