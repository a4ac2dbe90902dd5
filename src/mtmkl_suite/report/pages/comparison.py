"""The comparison of anybody's scores: one self-contained HTML page, and csv."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from mtmkl import __version__
from mtmkl.files import write_bytes, write_table, write_text
from mtmkl.statistics.matrix_tests import MatrixTests
from mtmkl.statistics.pairs import LEVEL, MIN_UNITS
from mtmkl_suite.report.figures.drawing import figure_style
from mtmkl_suite.report.figures.rank_figures import (
    critical_difference_figure,
    difference_figure,
    differences,
)
from mtmkl_suite.report.pages.rendering import environment, number
from mtmkl_suite.report.tables.text import p_text

PAGE = "comparison.html"

_PAIRS = (
    "first", "second", "n", "mean_first", "mean_second", "mean_difference",
    "interval_low", "interval_high", "effect_size", "wins", "ties", "losses",
    "p_wilcoxon", "p_wilcoxon_holm", "can_reject", "rope", "p_first_better",
    "p_equivalent", "p_second_better",
)  # fmt: skip
"""Columns of ``pairs.csv``."""

_CERTAIN = 0.95


def write_comparison(found: MatrixTests, folder: Path, *, source: str) -> Path:
    """Write the page, its figures and its tables.

    ``folder``: Gets ``comparison.html``, two figures as ``.svg``, and ``scores.csv``
    (what was compared), ``ranks.csv``, ``tests.csv``, ``pairs.csv``,
    ``differences.csv`` and, with a control, ``control.csv``.
    """
    images = {}
    for name, draw in (
        ("critical_difference", critical_difference_figure),
        ("differences", difference_figure),
    ):
        with figure_style():
            images[name] = _svg(draw(found))
        write_bytes(folder / f"{name}.svg", images[name])
    values = found.scores.values
    named = {
        "scores": values.rename_axis("dataset").reset_index(),
        "ranks": found.methods.rename_axis("method").reset_index(),
        "tests": found.overall(),
        "pairs": found.pairs[list(_PAIRS)],
        "differences": differences(found)[0].rename_axis("method").reset_index(),
    }
    if found.against_control is not None:
        named["control"] = found.against_control.rename_axis("method").reset_index()
    for name, table in named.items():
        write_table(folder / f"{name}.csv", table)
    page = folder / PAGE
    write_text(page, render(found, images, source=source, tables=list(named)))
    return page


def render(
    found: MatrixTests,
    images: dict[str, bytes],
    *,
    source: str,
    tables: Sequence[str] = (),
) -> str:
    """Return the page."""
    uris = {
        name: "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
        for name, svg in images.items()
    }
    control = found.against_control
    template = environment().get_template("comparison.html.j2")
    page = template.render(
        found=found,
        source=source,
        sentences=sentences(found),
        remarks=found.scores.remarks,
        methods=_records(found.methods),
        overall=found.overall().to_dict("records"),
        control=[] if control is None else _records(control),
        pairs=found.pairs.to_dict("records"),
        values=found.scores.values,
        images=uris,
        tables=tables,
        level=LEVEL,
        min_units=MIN_UNITS,
        version=__version__,
    )
    return page + "\n"


def _records(by_method: pd.DataFrame) -> list[dict[Any, Any]]:
    return by_method.reset_index(names="method").to_dict("records")


def sentences(found: MatrixTests) -> list[str]:
    """Return what the tests say in a few sentences, each with its numbers."""
    best = found.methods.index[0]
    lines = [
        f"{best} has the best mean rank, {found.methods['mean_rank'].iloc[0]:.2f}, "
        f"among {len(found.methods)} methods on {found.n} data sets."
    ]
    over_all = found.friedman
    if over_all is not None:
        differ = over_all.p_iman_davenport < LEVEL
        degrees = len(found.methods) - 1
        lines.append(
            f"{'The methods differ' if differ else 'No difference is shown'}: Iman and "
            f"Davenport's F({degrees}, {degrees * (found.n - 1)}) = "
            f"{number(over_all.f, '#.3g')}, p {_equals(over_all.p_iman_davenport)}."
        )
    if found.against_control is not None:
        lines.append(_control_sentence(found))
    tested = found.pairs[found.pairs["p_wilcoxon"].notna()]
    if len(tested):
        significant = int((tested["p_wilcoxon_holm"] < LEVEL).sum())
        lines.append(
            f"Wilcoxon's test with Holm's correction tells {significant} of "
            f"{len(tested)} pair{'s' * (len(tested) > 1)} apart at {LEVEL:g}."
        )
    lines.append(found.power_limit())
    if found.rope > 0 and len(tested):
        equal = int((tested["p_equivalent"] > _CERTAIN).sum())
        sides = tested[["p_first_better", "p_second_better"]]
        better = int((sides.max(axis=1) > _CERTAIN).sum())
        lines.append(
            f"With differences up to {found.rope:g} taken as none, the posterior is "
            f"above {_CERTAIN:g} for a better method in {better} of {len(tested)} "
            f"pairs, and for practical equivalence in {equal}."
        )
    return lines


def _control_sentence(found: MatrixTests) -> str:
    assert found.against_control is not None
    significant = found.against_control[found.against_control["p_holm"] < LEVEL]
    worse = [str(m) for m in significant.index[significant["z"] > 0]]
    better = [str(m) for m in significant.index[significant["z"] < 0]]
    parts = [
        f"{what} than {found.control}: {', '.join(names)}"
        for what, names in (("better", better), ("worse", worse))
        if names
    ]
    rest = len(found.against_control) - len(significant)
    if rest:
        plural = "s" * (rest > 1)
        parts.append(f"{rest} method{plural} not told apart from {found.control}")
    text = "; ".join(parts)
    return f"By mean ranks, with Holm's correction, {text}."


def _svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _equals(p: float) -> str:
    text = p_text(p)
    return text if text.startswith("<") else f"= {text}"
