"""Artefacts as files: the same content always gives the same bytes."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from mtmkl.files import write_bytes, write_table, write_text
from mtmkl.reporting.colours import figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mtmkl.reporting.tables import PrintedTable

# Dates and versions in files would make equal figures differ.
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def write_figure_files(stem: Path, figure: "Figure", numbers: pd.DataFrame) -> None:
    """Write a figure as ``.svg`` and ``.pdf`` and the plotted numbers as ``.csv``.

    Parameters
    ----------
    stem : Path
        Path without an ending.
    figure : matplotlib Figure
    numbers : DataFrame
    """
    for ending, metadata in _METADATA.items():
        buffer = io.BytesIO()
        with figure_style():
            figure.savefig(buffer, format=ending, metadata=metadata)
        write_bytes(_with_ending(stem, ending), buffer.getvalue())
    write_table(_with_ending(stem, "csv"), numbers)


def write_table_files(stem: Path, table: "PrintedTable") -> None:
    """Write a table as ``.csv`` (one line a cell), ``.md`` and ``.tex``."""
    write_table(_with_ending(stem, "csv"), table.cells)
    write_text(_with_ending(stem, "md"), table.markdown())
    write_text(_with_ending(stem, "tex"), table.latex())


def _with_ending(stem: Path, ending: str) -> Path:
    return stem.with_name(f"{stem.name}.{ending}")
