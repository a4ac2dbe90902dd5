"""Tables and figures of a run of readings, as configured artefacts."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from mtmkl_suite.config.models import (
    CurveFigure,
    Factor,
    Origin,
    Panel,
    Paper,
    ReadingsFigure,
    ReadingsTable,
)
from mtmkl_suite.config.readings_checks import MAIN

Fits = Callable[[Iterable[str]], list[str]]
"""From experiments under readings to those whose fits they take."""


def experiment_id(of: str, factors: Mapping[str, str]) -> str:
    """Return the name of an experiment under some alternatives, or its own."""
    if not factors:
        return of
    return f"{of}@{'+'.join(f'{name}={level}' for name, level in factors.items())}"


def shown_tables(
    readings: Mapping[str, Factor], origins: Mapping[str, Origin], fits: Fits
) -> dict[str, ReadingsTable]:
    """Return the table of reach, and that of upper bounds if there are any."""
    bounded = [
        name
        for name, origin in origins.items()
        if any(
            readings[factor].alternatives[alternative].kind == "bound"
            for factor, alternative in origin.factors.items()
        )
    ]
    tables = {
        "reach": ReadingsTable(
            kind="table",
            layout="reach",
            title="Readings of the protocol, and what comes within reach (ours)",
            experiments=fits(origins),
        )
    }
    if bounded:
        tables["bounds"] = ReadingsTable(
            kind="table",
            layout="bounds",
            title="Printed numbers beside an upper bound (ours)",
            experiments=fits(bounded),
        )
    return tables


def shown_figures(
    figures: Mapping[str, CurveFigure], main: Paper, names: Sequence[str], fits: Fits
) -> tuple[dict[str, CurveFigure], dict[str, ReadingsFigure]]:
    """Return the figures that a run can draw, and the artefacts that they are.

    Panels of experiments that the tier does not run are left out, and a figure if a
    factor was not chosen.
    """
    drawn, artefacts = {}, {}
    for name, figure in figures.items():
        panels = [p for p in figure.panels if p.experiment in main.experiments]
        under = [(p.experiment, r) for p in panels for r in _readings_of(figure, p)]
        if panels and all(factor in names for _, r in under for factor in r):
            drawn[name] = figure.model_copy(update={"panels": panels})
            artefacts[name] = ReadingsFigure(
                kind="figure",
                title=figure.title,
                experiments=fits(experiment_id(of, r) for of, r in under),
            )
    return drawn, artefacts


def _readings_of(figure: CurveFigure, panel: Panel) -> list[Mapping[str, str]]:
    levels = [level for level in figure.levels if level != MAIN]
    return [
        *(curve.reading for curve in panel.curves if curve.reading),
        *({figure.axis: level} for level in levels),
    ]
