"""Layouts that a configured table can have, by name."""

from collections.abc import Callable
from typing import Any

from mtmkl_suite.config.models import AnyTable, StepTable
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.cells import build_table
from mtmkl_suite.report.tables.comparison import (
    build_left_out,
    build_method_pairs,
    build_method_ranks,
    build_method_scores,
)
from mtmkl_suite.report.tables.decisions import build_decisions
from mtmkl_suite.report.tables.ranking import build_rank_tests, build_ranking
from mtmkl_suite.report.tables.text import PrintedTable, value_text


def build_step(context: Context, artefact: StepTable) -> PrintedTable:
    """Return the numbers of a step of the paper as they are."""
    (step,) = artefact.steps
    numbers = context.steps[step]
    return PrintedTable(
        title=artefact.title,
        cells=numbers,
        header=list(map(str, numbers)),
        body=[[value_text(v) for v in row] for row in numbers.itertuples(index=False)],
        notes=artefact.notes,
    )


LAYOUTS: dict[str, Callable[[Context, Any], PrintedTable]] = {
    "cells": build_table,
    "ranking": build_ranking,
    "rank_tests": build_rank_tests,
    "method_scores": build_method_scores,
    "method_ranks": build_method_ranks,
    "method_pairs": build_method_pairs,
    "left_out": build_left_out,
    "decisions": build_decisions,
    "step": build_step,
}


def build(context: Context, artefact: AnyTable) -> PrintedTable:
    """Return a configured table in its layout."""
    return LAYOUTS[artefact.layout](context, artefact)
