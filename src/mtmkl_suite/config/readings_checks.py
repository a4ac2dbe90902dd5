"""Checks of a paper's readings: what they name exists, and something changes."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from mtmkl_suite.config.models import (
    CurveFigure,
    Factor,
    Panel,
    Paper,
    Reading,
    ReadingsFile,
)
from mtmkl_suite.config.published import Wanted, check_places
from mtmkl_suite.config.selectors import Experiments, check_selector, require
from mtmkl_suite.errors import ConfigError

MAIN = "main"
"""Level of a factor that stands for what the main protocol does."""


def check_readings(document: ReadingsFile, mains: Sequence[Paper]) -> None:
    """Check that the readings of a paper, read for both tiers, name what exists."""
    methods, readings = mains[0].methods, document.readings
    experiments = Experiments(mains)
    claims = list(dict.fromkeys(c.id for main in mains for c in main.claims))
    artefacts = {name for main in mains for name in main.artefacts}
    for factor, settings in readings.items():
        for alternative, reading in settings.alternatives.items():
            key = f"readings.{factor}.alternatives.{alternative}"
            if alternative == MAIN:
                raise ConfigError(
                    f"key {key!r}: {MAIN!r} stands for the main protocol; take "
                    "another name"
                )
            _check_reading(reading, methods, experiments, key)
    for name, specification in document.specifications.items():
        key = f"specifications.{name}"
        require(f"{key}.factors", "factor", readings, *specification.factors)
        require(f"{key}.claim", "claim", claims, specification.claim)
    for name, figure in document.figures.items():
        key = f"figures.{name}"
        if name in {"reach", "bounds", *artefacts}:
            raise ConfigError(f"key {key!r}: there is an artefact of this name")
        if figure.levels:
            require(f"{key}.axis", "factor", readings, figure.axis)
        for position, panel in enumerate(figure.panels):
            _check_panel(figure, panel, readings, methods, f"{key}.panels.{position}")
        _check_drawn(figure, readings, experiments, key)
    check_places(_printed(document), mains[0].published)


def _check_reading(
    reading: Reading, methods: Collection[str], experiments: Experiments, key: str
) -> None:
    """Check what a reading is of, and the names and metrics of its change."""
    change = reading.change
    names = reading.experiments
    require(f"{key}.experiments", "experiment", experiments.names, *names)
    for experiment, own in reading.experiments.items():
        place = f"{key}.experiments.{experiment}"
        require(f"{place}.methods", "method", methods, *own.methods)
        if change.is_fitted:
            continue
        if own.methods or own.repeats:
            raise ConfigError(
                f"key {place!r}: a change of in_place alone takes the main scores of "
                "all methods; leave methods and repeats out"
            )
        metrics = experiments.values("metric", [experiment]) or []
        named = [*change.in_place, *change.in_place.values()]
        require(f"{key}.change.in_place", "metric", metrics, *named)
    known = experiments.values("metric", reading.experiments) or []
    if change.select_by is not None:
        metrics = [*change.metrics, *known]
        require(f"{key}.change.select_by", "metric", metrics, change.select_by)
    require(f"{key}.change.in_place", "metric", known, *change.in_place)
    # A paper's own way to choose may measure more.
    if not any(":" in (entry.selection or "") for entry in change.methods):
        metrics = [*known, *change.metrics]
        stand_ins = change.in_place.values()
        require(f"{key}.change.in_place", "metric", metrics, *stand_ins)
    for position, entry in enumerate(change.methods):
        place = f"{key}.change.methods.{position}.of"
        require(place, "method", methods, *entry.of)


def _check_panel(
    figure: CurveFigure,
    panel: Panel,
    readings: Mapping[str, Factor],
    methods: Collection[str],
    key: str,
) -> None:
    """Check that every curve of a panel is of a reading of its experiment."""
    key_of_curves = f"{key}.curves"
    require(key_of_curves, "method", methods, *(c.method for c in panel.curves))
    drawn = [(figure.axis, level) for level in figure.levels]
    drawn += [each for curve in panel.curves for each in curve.reading.items()]
    for factor, alternative in drawn:
        if alternative == MAIN:
            continue
        require(key_of_curves, "factor", readings, factor)
        alternatives = readings[factor].alternatives
        require(key_of_curves, "alternative", alternatives, alternative)
        known = alternatives[alternative].experiments
        require(f"{key}.experiment", "experiment", known, panel.experiment)


def _check_drawn(
    figure: CurveFigure,
    readings: Mapping[str, Factor],
    experiments: Experiments,
    key: str,
) -> None:
    """Check metric, axis and selectors of a figure against its experiments."""
    names = [panel.experiment for panel in figure.panels]
    changes = [
        reading.change
        for factor in readings.values()
        for reading in factor.alternatives.values()
    ]
    if all(figure.metric not in change.metrics for change in changes):
        check_selector(key, {"metric": figure.metric}, names, experiments)
    if not figure.levels:
        options = [o for c in changes if c.datasets for o in c.datasets.options]
        axes = [*experiments.axes(names), *options]
        require(f"{key}.axis", "axis", axes, figure.axis)
    for number, panel in enumerate(figure.panels):
        for position, curve in enumerate(panel.curves):
            place = f"{key}.panels.{number}.curves.{position}.where"
            check_selector(place, curve.where, names, experiments)


def _printed(document: ReadingsFile) -> Iterator[Wanted]:
    """Yield the published numbers that figures show."""
    for name, figure in document.figures.items():
        for number, panel in enumerate(figure.panels):
            if printed := panel.printed:
                key = f"figures.{name}.panels.{number}.printed"
                yield key, printed.file, [(printed.row, printed.column)]
