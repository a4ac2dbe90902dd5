"""Figures and tables as files, from the results of a paper or a comparison with it."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import figure as drawing

from mtmkl_suite.config.models import (
    AnyTable,
    Figure,
    MethodTable,
    Paper,
    Publication,
    Run,
    StepTable,
)
from mtmkl_suite.config.runs import restricted_to_artefacts, with_data
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import (
    read_table,
    write_bytes,
    write_table,
    write_text,
)
from mtmkl_suite.report.context import Context, load_context
from mtmkl_suite.report.figures.drawing import FigureAndNumbers, figure_style, saved
from mtmkl_suite.report.names import heading_of
from mtmkl_suite.report.published_reach import read_reach
from mtmkl_suite.report.record import VERDICT_COLUMNS, write_record, write_verdicts
from mtmkl_suite.report.tables.baselines import build_baselines
from mtmkl_suite.report.tables.cells import RANK, build_quoted, build_table
from mtmkl_suite.report.tables.comparison import (
    build_left_out,
    build_method_pairs,
    build_method_posteriors,
    build_method_ranks,
    build_method_scores,
)
from mtmkl_suite.report.tables.decisions import build_decisions
from mtmkl_suite.report.tables.ranking import build_rank_tests, build_ranking
from mtmkl_suite.report.tables.reach import build_bounds, build_reach
from mtmkl_suite.report.text import PrintedTable, value_text
from mtmkl_suite.run.fits import collect_scores
from mtmkl_suite.run.folders import DERIVED_DIGITS, PaperFolder
from mtmkl_suite.run.pipeline import missing_data
from mtmkl_suite.run.plan import ResultGroup, steps

_PNG_DPI = 200

_TEXT: dict[str, Any] = {"dtype": str, "keep_default_na": False}


def write_figure_files(
    folder: PaperFolder,
    name: str,
    figure: drawing.Figure,
    numbers: pd.DataFrame,
    *,
    png_note: str | None = None,
) -> None:
    """Write a figure as svg and pdf, with a note as png, and its numbers as csv."""
    for ending in ("svg", "pdf", "png")[: 2 + (png_note is not None)]:
        options: dict[str, Any] = {}
        if ending == "png":
            options = {"dpi": _PNG_DPI, "bbox_inches": "tight"}
            figure.text(0, -0.02, png_note or "", va="top", size="small", wrap=True)
        write_bytes(folder.artefact(name, ending), saved(figure, ending, **options))
        figure.set_layout_engine("none")  # all files get the one found first
    write_table(folder.artefact(name, "csv"), numbers, digits=DERIVED_DIGITS)


def write_table_files(
    folder: PaperFolder, name: str, table: PrintedTable, paper: Publication
) -> None:
    """Write a table as ``.csv`` (one line for each cell), ``.md`` and ``.tex``."""
    write_table(folder.artefact(name, "csv"), table.cells, digits=DERIVED_DIGITS)
    title = heading_of(name, table.title, paper)
    write_text(folder.artefact(name, "md"), table.markdown(title))
    write_text(folder.artefact(name, "tex"), table.latex())


def write_results(
    group: ResultGroup, config: Paper, folder: PaperFolder, run: Run | None
) -> None:
    """Write steps, figures, tables and record of a paper, or those of a group.

    Of methods that are compared with a published record all of it is written together.
    """
    if config.record is not None:
        config = available(config, folder)
        collect_scores(config, folder)
        write_table(folder.scores, _merged(config, folder.scores))
        context = load_context(config, folder)
        for name in config.artefacts:
            write_artefact(name, context, folder)
    else:
        for step in group.steps:
            write_step(step, steps(config)[step], config, folder)
        if group.artefacts:
            write_artefacts(group.artefacts, config, folder)
        if run is not None:
            collect_scores(config, folder)
    if run is not None:
        write_record(config, folder, run)


def write_artefacts(names: Sequence[str], config: Paper, folder: PaperFolder) -> None:
    """Write figures and tables of a paper, and the verdicts on their numbers."""
    config = restricted_to_artefacts(config, names)
    context = load_context(config, folder, of_fits=True)
    for name in names:
        write_artefact(name, context, folder)


def write_step(
    step: str, names: Sequence[str], config: Paper, folder: PaperFolder
) -> None:
    """Write the numbers of a step, which figures and tables of the paper show."""
    config = restricted_to_artefacts(config, names)
    module = importlib.import_module(f"mtmkl_suite.papers.{config.paper.id}.steps")
    context = load_context(config, folder, of_fits=True)
    write_table(folder.step(step), getattr(module, step)(context))


def printed(context: Context, name: str) -> tuple[PrintedTable | None, pd.DataFrame]:
    """Return an artefact's table, None for a figure, and verdicts on its numbers."""
    artefact = context.config.artefacts[name]
    if context.is_judged and context.config.readings is None:
        context = replace(context, reach=read_reach(context.config, name))
    table, cells = None, []
    if isinstance(artefact, AnyTable):
        table = build(context, artefact)
        # Other tables have no published numbers.
        if "in_paper" in table.cells:
            cells.append(table.cells)
    if artefact.quoted is not None:
        cells.append(build_quoted(context, artefact.quoted)[0])
    parts = [part[part["in_paper"]].assign(artefact=name) for part in cells]
    verdicts = pd.DataFrame(columns=list(VERDICT_COLUMNS))
    if parts:
        verdicts = pd.concat(parts, ignore_index=True)
        verdicts["derived"] = artefact.derived | verdicts["unit"].eq(RANK)
    return table, verdicts[list(VERDICT_COLUMNS)]


def write_artefact(name: str, context: Context, folder: PaperFolder) -> None:
    """Write a figure or table, and the verdicts on its numbers."""
    table, verdicts = printed(context, name)
    if table is not None:
        write_table_files(folder, name, table, context.config.paper)
    else:
        # Asked for by name, it is for slides as well.
        note = _settings_in_words(context.config) if context.config.parts else None
        write_figure_files(folder, name, *drawn(name, context), png_note=note)
    write_verdicts(folder, name, verdicts)


def _settings_in_words(config: Paper) -> str:
    """Return how a run differs from a paper's full protocol, "" if it does not."""
    changes = [f"{key} = {value}" for key, value in config.changes.items()]
    return "; ".join(["quick tier: a small test"] * (config.tier == "quick") + changes)


@figure_style()
def drawn(name: str, context: Context) -> FigureAndNumbers:
    """Return a figure by the function of its paper."""
    artefact = context.config.artefacts[name]
    assert isinstance(artefact, Figure)
    module = f"mtmkl_suite.papers.{context.config.paper.id}.figures"
    draw = getattr(importlib.import_module(module), artefact.function or name)
    plan = () if artefact.comparison is None else (artefact.comparison,)
    figure: FigureAndNumbers = draw(context, *plan)
    return figure


def available(config: Paper, folder: PaperFolder) -> Paper:
    """Return what methods can be compared in here; without a record, all of it."""
    if config.record is None:
        return config
    missing = missing_data(config, folder)
    found = with_data(config, missing)
    if not found.experiments:
        lines = ["no experiment has its data here:", *missing.values()]
        raise ConfigError("\n".join(lines))
    return found


def _merged(config: Paper, own: Path) -> pd.DataFrame:
    """Return the rows of the record that are compared, and the new ones."""
    assert config.record is not None
    published = read_table(config.record.folder / "scores.csv.gz", **_TEXT)
    new = read_table(own, **_TEXT)
    repeats = {name: config.n_repeats(name) for name in config.experiments}
    mine = published["experiment"].map(repeats)
    of_record = ~published["method"].isin(config.own or [])
    is_compared = pd.to_numeric(published["repeat"], errors="coerce").fillna(0) < mine
    both = pd.concat([published[is_compared & of_record], new], ignore_index=True)
    return both[new.columns].fillna("")


def build_step(context: Context, artefact: StepTable) -> PrintedTable:
    """Return the numbers of a step of the paper as they are."""
    (step,) = artefact.steps
    numbers = context.steps[step]
    header = list(map(str, numbers))
    body = [[value_text(v) for v in row] for row in numbers.itertuples(index=False)]
    return PrintedTable(artefact.title, numbers, header, body, artefact.notes)


LAYOUTS: dict[str, Callable[[Context, Any], PrintedTable]] = {
    "cells": build_table,
    "ranking": build_ranking,
    "rank_tests": build_rank_tests,
    "method_scores": build_method_scores,
    "method_ranks": build_method_ranks,
    "method_pairs": build_method_pairs,
    "method_posteriors": build_method_posteriors,
    "baselines": build_baselines,
    "left_out": build_left_out,
    "decisions": build_decisions,
    "step": build_step,
    "reach": build_reach,
    "bounds": build_bounds,
}


def build(context: Context, artefact: AnyTable) -> PrintedTable:
    """Return a configured table in its layout."""
    printed = LAYOUTS[artefact.layout](context, artefact)
    if not isinstance(artefact, MethodTable):
        return printed
    return replace(printed, notes=[*printed.notes, *artefact.notes])
