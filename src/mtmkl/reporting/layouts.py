"""The layouts that a configured table can have, by name."""

from collections.abc import Callable, Mapping
from typing import Any

from mtmkl.reporting.bounds import build_bounds
from mtmkl.reporting.context import Context
from mtmkl.reporting.explanations import build_explanations
from mtmkl.reporting.printed_table import PrintedTable
from mtmkl.reporting.rank_tests import build_rank_tests
from mtmkl.reporting.ranking import build_ranking
from mtmkl.reporting.tables import build_table

LAYOUTS: dict[str, Callable[[Context, Mapping[str, Any]], PrintedTable]] = {
    "cells": build_table,
    "ranking": build_ranking,
    "rank_tests": build_rank_tests,
    "explanations": build_explanations,
    "bounds": build_bounds,
}


def build(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return a configured table in its layout, ``cells`` if it names none.

    Parameters
    ----------
    context : Context
    artefact : mapping
        A configured artefact of kind ``table``.

    Raises
    ------
    ValueError
        If a cell's selector matches several of our numbers, or a published number is
        missing.
    """
    return LAYOUTS[artefact.get("layout", "cells")](context, artefact)
