"""The layouts that a configured table can have, by name."""

from collections.abc import Callable, Mapping
from typing import Any

from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.tables.decisions import build_decisions
from mtmkl_suite.report.tables.method_comparison import (
    build_left_out,
    build_method_pairs,
    build_method_ranks,
    build_method_scores,
)
from mtmkl_suite.report.tables.printed_table import PrintedTable
from mtmkl_suite.report.tables.rank_tests import build_rank_tests
from mtmkl_suite.report.tables.ranking import build_ranking
from mtmkl_suite.report.tables.tables import build_table

LAYOUTS: dict[str, Callable[[Context, Mapping[str, Any]], PrintedTable]] = {
    "cells": build_table,
    "ranking": build_ranking,
    "rank_tests": build_rank_tests,
    "method_scores": build_method_scores,
    "method_ranks": build_method_ranks,
    "method_pairs": build_method_pairs,
    "left_out": build_left_out,
    "decisions": build_decisions,
}

UNPUBLISHED = (
    "method_scores", "method_ranks", "method_pairs", "left_out", "decisions",
)  # fmt: skip
"""Layouts of tables whose numbers get no verdicts."""


def build(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return a configured table in its layout, ``cells`` if it names none."""
    return LAYOUTS[artefact.get("layout", "cells")](context, artefact)
