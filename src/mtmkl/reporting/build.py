"""Entry points of the workflow and the command: one artefact, from results to files."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtmkl.reporting.colours import figure_style
from mtmkl.reporting.context import load_context
from mtmkl.reporting.files import write_figure_files, write_table_files
from mtmkl.reporting.layouts import build


def write_artefact(name: str, config: Mapping[str, Any], results: Path) -> None:
    """Write one figure or table of a paper below ``results/artefacts``.

    Parameters
    ----------
    name : str
        Key of ``artefacts`` in the configuration.
    config : mapping
        The paper's configuration, its tier resolved; only its experiments are read.
    results : Path
        ``results/<tier>/<paper>``, with fits and what is known of the data.

    Raises
    ------
    KeyError
        If the paper has no such artefact.
    AttributeError
        If a figure's function is missing in ``mtmkl.papers.<paper>.figures``.
    """
    artefact = config["artefacts"][name]
    context = load_context(config, results, of_fits=True)
    stem = results / "artefacts" / name
    if artefact["kind"] == "table":
        write_table_files(stem, build(context, artefact))
        return
    figures = importlib.import_module(f"mtmkl.papers.{config['paper']['id']}.figures")
    with figure_style():
        figure, numbers = getattr(figures, name)(context)
    write_figure_files(stem, figure, numbers)
