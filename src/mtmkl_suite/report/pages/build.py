"""Entry point of the workflow and the command: artefacts, from results to files."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from mtmkl.files import write_table
from mtmkl_suite.config.models import Run
from mtmkl_suite.config.parts import restricted_to_artefacts
from mtmkl_suite.report.figures.files import write_figure_files, write_table_files
from mtmkl_suite.report.pages.context import Context, load_context
from mtmkl_suite.report.record import written
from mtmkl_suite.report.record.published_reach import OTHER_READINGS, Marks, read_reach
from mtmkl_suite.report.record.record import write_record
from mtmkl_suite.report.record.written import RANK, TextTable, Written
from mtmkl_suite.report.tables.bounds import build_bounds
from mtmkl_suite.report.tables.layouts import UNPUBLISHED, build
from mtmkl_suite.report.tables.printed_table import PrintedTable
from mtmkl_suite.report.tables.reach import build_reach
from mtmkl_suite.report.tables.tables import build_quoted, mean_sd, rule_note
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.grouping import ResultGroup, steps

if TYPE_CHECKING:
    from mtmkl_suite.report.figures.drawing import FigureAndNumbers


_OF_READINGS = {"reach": build_reach, "bounds": build_bounds}
"""Layouts of the tables of readings, which draw on all other tables."""


def write_results(
    group: ResultGroup,
    config: Mapping[str, Any],
    folder: PaperFolder,
    run: Run | None,
) -> None:
    """Write what is made of the fits of a paper, or the part of a process."""
    for step in group.steps:
        write_step(step, steps(config)[step], config, folder)
    if group.artefacts:
        write_artefacts(group.artefacts, config, folder)
    if run is not None:
        write_record(config, folder, run)


def write_artefacts(
    names: Sequence[str], config: Mapping[str, Any], folder: PaperFolder
) -> None:
    """Write figures and tables of a paper, and what record and report need of them."""
    config = restricted_to_artefacts(config, names)
    context = load_context(config, folder, of_fits=True)
    for name in names:
        write_artefact(name, context, folder)


def write_step(
    step: str, names: Sequence[str], config: Mapping[str, Any], folder: PaperFolder
) -> None:
    """Write numbers that figures draw and do not compute themselves."""
    config = restricted_to_artefacts(config, names)
    module = importlib.import_module(
        f"mtmkl_suite.papers.{config['paper']['id']}.steps"
    )
    context = load_context(config, folder, of_fits=True)
    write_table(folder.step(step), getattr(module, step)(context))


def printed(context: Context, name: str) -> tuple[PrintedTable | None, Written]:
    """Return an artefact's table, and what record and report take of it."""
    artefact = context.config["artefacts"][name]
    if context.is_judged and "readings" not in context.config:
        context = replace(context, reach=read_reach(context.config, name))
    table, tables, cells = None, [], []
    if artefact["kind"] == "table":
        layout = artefact.get("layout")
        table = _OF_READINGS.get(layout, build)(context, artefact)
        tables.append(TextTable(table.header, table.body, table.notes))
        tables += [table.details] if table.details else []
        if layout not in (*UNPUBLISHED, *_OF_READINGS):
            cells.append(table.cells)
    if "quoted" in artefact:
        quoted, acceptance = build_quoted(context, artefact["quoted"])
        tables.append(_quoted_table(context, artefact["quoted"], quoted, acceptance))
        cells.append(quoted)
    parts = [part[part["in_paper"]].assign(artefact=name) for part in cells]
    verdicts = pd.DataFrame(columns=list(written.VERDICT_COLUMNS))
    if parts:
        verdicts = pd.concat(parts, ignore_index=True)
        verdicts["derived"] = artefact.get("derived", False) | verdicts["unit"].eq(RANK)
    return table, Written(tables, verdicts[list(written.VERDICT_COLUMNS)])


def write_artefact(name: str, context: Context, folder: PaperFolder) -> None:
    """Write a figure or table, and what record and report need of it."""
    table, shown = printed(context, name)
    if table is not None:
        write_table_files(folder, name, table)
    else:
        write_figure_files(folder, name, *drawn(name, context))
    written.write(folder, name, shown)


def drawn(name: str, context: Context) -> "FigureAndNumbers":
    """Return a figure, one of readings or of the paper's own functions."""
    from mtmkl_suite.report.figures.colours import figure_style

    with figure_style():
        return _drawn(name, context)


def _drawn(name: str, context: Context) -> "FigureAndNumbers":
    artefact = context.config["artefacts"][name]
    if "specification" in artefact:
        from mtmkl_suite.report.figures.specification import specification_curve

        return specification_curve(context, artefact["specification"])
    if name in context.config.get("readings", {}).get("figures", {}):
        from mtmkl_suite.report.figures.reading_figures import reading_figure

        return reading_figure(context, name)
    module = f"mtmkl_suite.papers.{context.config['paper']['id']}.figures"
    figure: FigureAndNumbers = getattr(importlib.import_module(module), name)(context)
    return figure


def _quoted_table(
    context: Context, quoted: Mapping[str, Any], cells: pd.DataFrame, acceptance: str
) -> TextTable:
    header = ["quoted in the text", "published", "reproduced"]
    verdict = ["verdict", "rule"] if context.is_judged else []
    marks = Marks(context.reach, cells)
    reach = [OTHER_READINGS] if marks.notes() else []
    rows = [
        [
            f"{cell['column']}, {cell['row']}",
            f"{cell['published']:g}",
            f"no data: {cell['missing']}"
            if pd.isna(cell["reproduced"])
            else mean_sd(cell["reproduced"], cell["reproduced_sd"], int(cell["n"]), 3),
            *(cell[name] for name in verdict),
            *(marks.text(cell["row"], cell["column"]) for _ in reach),
        ]
        for cell in cells.to_dict("records")
    ]
    rule = rule_note(context, quoted["tolerance"], quoted["unit"], acceptance)
    notes = [rule, *marks.notes()]
    return TextTable([*header, *verdict, *reach], rows, notes)
