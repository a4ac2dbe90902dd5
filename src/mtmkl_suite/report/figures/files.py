"""Artefacts as files: the same content always gives the same bytes."""

import io
from typing import TYPE_CHECKING

import pandas as pd

from mtmkl.files import write_bytes, write_table, write_text
from mtmkl_suite.report.figures.colours import figure_style
from mtmkl_suite.run.folders import PaperFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mtmkl_suite.report.tables.printed_table import PrintedTable

# Dates and versions in files would make equal figures differ.
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def write_figure_files(
    folder: PaperFolder, name: str, figure: "Figure", numbers: pd.DataFrame
) -> None:
    """Write a figure as ``.svg`` and ``.pdf`` and the plotted numbers as ``.csv``."""
    for ending, metadata in _METADATA.items():
        buffer = io.BytesIO()
        with figure_style():
            figure.savefig(buffer, format=ending, metadata=metadata)
        write_bytes(folder.artefact(name, ending), buffer.getvalue())
    write_table(folder.artefact(name, "csv"), numbers)


def write_table_files(folder: PaperFolder, name: str, table: "PrintedTable") -> None:
    """Write a table as ``.csv`` (one line for each cell), ``.md`` and ``.tex``."""
    write_table(folder.artefact(name, "csv"), table.cells)
    write_text(folder.artefact(name, "md"), table.markdown())
    write_text(folder.artefact(name, "tex"), table.latex())
