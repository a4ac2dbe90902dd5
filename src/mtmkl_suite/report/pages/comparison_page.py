"""The page of a comparison, on which the reader chooses; and the tables beside it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl import __version__
from mtmkl.errors import some
from mtmkl_suite.files import write_bytes, write_table, write_text
from mtmkl_suite.report.figures.drawing import figure_style, saved
from mtmkl_suite.report.figures.rank_figures import (
    critical_difference_figure,
    difference_figure,
    differences,
)
from mtmkl_suite.report.pages.comparison_parts import part_of_scores, parts_of_run
from mtmkl_suite.report.pages.rendering import environment
from mtmkl_suite.report.record import Record
from mtmkl_suite.report.text import many, number, p_equals
from mtmkl_suite.statistics.hierarchical import CERTAIN, in_words
from mtmkl_suite.statistics.matrix_tests import MatrixTests
from mtmkl_suite.statistics.pairs import LEVEL, MIN_UNITS
from mtmkl_suite.statistics.ranks import critical_difference

PAGE = "comparison.html"

_PAIRS = (
    "first", "second", "n", "mean_first", "mean_second", "mean_difference",
    "interval_low", "interval_high", "effect_size", "wins", "ties", "losses",
    "p_wilcoxon", "p_wilcoxon_holm", "can_reject", "rope", "p_first_better",
    "p_equivalent", "p_second_better",
)  # fmt: skip
"""Columns of ``pairs.csv``."""

_CERTAIN = 0.95
"""Of the signed-rank test."""

_SHOWN = 3


def write_comparison(found: MatrixTests, folder: Path, *, source: str) -> Path:
    """Write the page, its tables, and figures for print.

    ``folder``: Gets ``comparison.html``, two figures as ``.svg``, and ``scores.csv``
    (what was compared), ``ranks.csv``, ``tests.csv``, ``pairs.csv``,
    ``differences.csv``, with a control ``control.csv``, and ``posteriors.csv`` if
    repeats are compared.
    """
    files = []
    for name, draw in (
        ("critical_difference", critical_difference_figure),
        ("differences", difference_figure),
    ):
        files.append(f"{name}.svg")
        with figure_style():
            write_bytes(folder / files[-1], saved(draw(found)))

    def by_method(table: pd.DataFrame) -> pd.DataFrame:
        return table.rename_axis("method").reset_index()

    control = found.against_control
    for name, table in {
        "scores": found.scores.values.rename_axis("dataset").reset_index(),
        "ranks": by_method(found.methods),
        "tests": found.overall(),
        "pairs": found.pairs[list(_PAIRS)],
        "differences": by_method(differences(found)[0]),
        "control": None if control is None else by_method(control),
        "posteriors": found.posteriors,
    }.items():
        if table is None:  # there may be one of an earlier comparison
            (folder / f"{name}.csv").unlink(missing_ok=True)
        else:
            files.append(f"{name}.csv")
            write_table(folder / files[-1], table)
    better = "higher" if found.scores.higher_better else "lower"
    text = comparison_page(
        [part_of_scores(found)],
        title=f"{len(found.methods)} methods on {found.n} data sets",
        source=f"{found.scores.score}; {better} values are better. From {source}.",
        sentences=sentences(found),
        remarks=[*filter(None, [found.scores.read]), *found.scores.remarks],
        files=files,
    )
    page = folder / PAGE
    write_text(page, text)
    return page


def comparison_of(record: Record, *, source: str, report: str = "") -> str:
    """Return the page of a record's comparisons or experiments, "" if it has none."""
    parts = parts_of_run(record.context, record.folder)
    if not parts:
        return ""
    title = str(record.config.paper.title)
    return comparison_page(parts, title=title, source=source, report=report)


def comparison_page(
    parts: Sequence[dict[str, Any]],
    *,
    title: str,
    source: str,
    report: str = "",
    sentences: Sequence[str] = (),
    remarks: Sequence[str] = (),
    files: Sequence[str] = (),
) -> str:
    """Return the page of parts, which loads nothing; ``sentences`` are its first."""
    most = max(len(part["methods"]) for part in parts)
    # Nemenyi's critical difference on one data set, of two methods and more.
    critical = [critical_difference(k, 1) for k in range(2, most + 1)]
    data = json.dumps(
        {"parts": parts, "critical": critical, "certain": CERTAIN},
        ensure_ascii=False, allow_nan=False, separators=(",", ":"),
    )  # fmt: skip
    page = environment().get_template("comparison.html.j2")
    text = page.render(
        title=title,
        source=source,
        report=report,
        sentences=sentences,
        remarks=remarks,
        files=files,
        baselines=any(part["proposed"] for part in parts),
        # Nothing in it ends the element.
        data=data.replace("<", "\\u003c"),
        level=LEVEL,
        min_units=MIN_UNITS,
        version=__version__,
    )
    return text + "\n"


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
            f"{number(over_all.f, '#.3g')}, p {p_equals(over_all.p_iman_davenport)}."
        )
    if found.against_control is not None:
        lines.append(_control_sentence(found))
    tested = found.pairs[found.pairs["p_wilcoxon"].notna()]
    if len(tested):
        significant = int((tested["p_wilcoxon_holm"] < LEVEL).sum())
        lines.append(
            f"Wilcoxon's test with Holm's correction finds {significant} of "
            f"{many(len(tested), 'pair')} significantly different at {LEVEL:g}."
        )
    lines.append(found.power_limit())
    if found.rope > 0 and len(tested):
        equal = int((tested["p_equivalent"] > _CERTAIN).sum())
        sides = tested[["p_first_better", "p_second_better"]]
        better = int((sides.max(axis=1) > _CERTAIN).sum())
        lines.append(
            f"With differences up to {found.rope:g} taken as none, the posterior of "
            f"the signed-rank test is above {_CERTAIN:g} for a better method in "
            f"{better} of {many(len(tested), 'pair')}, and for practical equivalence "
            f"in {equal}."
        )
    if reversed_ := found.reversed_without():
        lines.append(f"These change if one data set is left out: {some(reversed_)}.")
    if found.posteriors is not None:
        rows = found.posteriors.sort_values(
            "probability", ascending=False, kind="stable"
        ).to_dict("records")
        shown = [row for row in rows if row["probability"] > CERTAIN]
        pairs = f"{len(shown)} of {len(rows)} pairs are"
        if len(rows) == 1:
            pairs = "the pair is" if shown else "the pair is not"
        lines.append(
            f"From all repeats, {pairs} decided with a probability above {CERTAIN:g}."
        )
        lines += [f"{in_words(row)}." for row in (shown or rows)[:_SHOWN]]
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
    if rest := len(found.against_control) - len(significant):
        others = f"{many(rest, 'method')} not significantly different"
        parts.append(f"{others} from {found.control}")
    return f"By mean ranks, with Holm's correction, {'; '.join(parts)}."
