"""Numbers as texts that several tables and pages share."""

import pandas as pd

DASH = "–"
"""Stands where there is no number."""


def p_text(value: float | None) -> str:
    """Return a probability in [0, 1] as text, :data:`DASH` where there is none."""
    if pd.isna(value):
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
