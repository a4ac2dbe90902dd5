"""Judge published scores anew: tables, verdicts, claims, statistics, without fits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.files import read_json, write_json, write_table
from mtmkl_suite.config.models import Paper, Run, StepTable
from mtmkl_suite.report.context import Context, load_context
from mtmkl_suite.report.figures.drawing import FigureAndNumbers
from mtmkl_suite.report.record.artefacts import (
    drawn,
    printed,
    write_figure_files,
    write_table_files,
)
from mtmkl_suite.report.record.overlaps import overlaps_table
from mtmkl_suite.report.record.publish import READING_SCORES, write_galleries
from mtmkl_suite.report.record.record import published_claims, statistics_table
from mtmkl_suite.report.tables.text import PrintedTable
from mtmkl_suite.run.folders import PaperFolder, RunFolder
from mtmkl_suite.run.provenance import check_same, of_the_code


class NotPublishedError(Exception):
    """Arrays or numbers of a step were asked for, which only a run of the paper has."""


def rejudge(
    configs: Sequence[Paper],
    run: RunFolder,
    figures: Path,
    *,
    settings: Run,
) -> None:
    """Write what follows from the published scores of papers anew.

    These are the tables, the figures that show nothing but scores, ``verdicts.csv``,
    ``claims.csv``, ``statistics.csv``, ``overlaps.csv`` and the galleries. Scores stay,
    and figures and claims on arrays of fits or on the numbers of a step. Readings have
    scores of their own, and tables and figures alone follow from them.
    ``provenance.json`` keeps what it says of them, and gets ``judged``: the code and
    the configuration of what was computed from the scores.
    """
    judged = [_judge(config, run, figures, settings) for config in configs]
    for config, (tables, pictures, record, provenance) in zip(
        configs, judged, strict=True
    ):
        folder = _Published(figures / config.paper.id)
        for name, table in tables.items():
            write_table_files(folder, name, table)
        for name, (figure, numbers) in pictures.items():
            write_figure_files(folder, name, figure, numbers)
        for name, content in record.items():
            write_table(folder.path / name, content)
        write_json(folder.provenance, provenance)
    write_galleries(configs, figures)


class _Published(PaperFolder):
    """A paper's folder below ``figures``, where artefacts lie beside the record."""

    def artefact(self, name: str, ending: str) -> Path:
        return self.path / f"{name}.{ending}"


def _judge(
    config: Paper,
    run: RunFolder,
    figures: Path,
    settings: Run,
) -> tuple[
    dict[str, PrintedTable],
    dict[str, FigureAndNumbers],
    dict[str, pd.DataFrame],
    dict[str, Any],
]:
    """Return tables and figures by artefact, the record by file, and the provenance."""
    paper = config.paper.id
    published, folder = _Published(figures / paper), run.paper(paper)
    provenance = read_json(published.provenance)
    is_main = config.readings is None
    scores = published.scores if is_main else published.path / READING_SCORES
    context = load_context(config, folder, scores=scores)
    of_scores = provenance if is_main else _with_data_of(context.scores, provenance)
    check_same(of_scores, context.data_info, tier=settings.tier, seed=settings.seed)
    tables, figures_made, verdicts = {}, {}, []
    for name, artefact in config.artefacts.items():
        if isinstance(artefact, StepTable):
            continue
        table, shown = printed(context, name)
        verdicts.append(shown.verdicts)
        if table is not None:
            tables[name] = table
            continue
        try:
            figures_made[name] = drawn(name, _of_scores(context))
        except NotPublishedError:
            continue
    if not is_main:
        return tables, figures_made, {}, provenance
    filled = [each for each in verdicts if len(each)] or verdicts[:1]
    record = {
        published.verdicts.name: pd.concat(filled, ignore_index=True),
        published.claims.name: published_claims(context, published),
        published.statistics.name: statistics_table(context, seed=settings.seed),
        published.overlaps.name: overlaps_table(context.overlaps or {}),
    }
    return tables, figures_made, record, provenance | {"judged": of_the_code(config)}


def _with_data_of(
    scores: pd.DataFrame, provenance: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the provenance of readings: the main one, but for the data."""
    first = scores[scores["repeat"] == 0].groupby("dataset")["data_digest"].first()
    data = {name: {"digest": digest} for name, digest in first.items()}
    return {**provenance, "data": data}


def _of_scores(context: Context) -> Context:
    """Return a context that refuses what is not published, and says nothing of gaps."""
    return replace(context, arrays=_NotPublished(), steps=_NotPublished())


class _NotPublished(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise NotPublishedError(key)

    def __iter__(self) -> Iterator[str]:
        raise NotPublishedError

    def __len__(self) -> int:
        raise NotPublishedError
