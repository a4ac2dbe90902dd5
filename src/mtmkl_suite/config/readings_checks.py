"""Checks of a paper's readings: what they name exists, and something changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl.documents import ConfigError, unknown
from mtmkl_suite.config.published import Wanted, check_places
from mtmkl_suite.config.selectors import Experiments, check_selector

MAIN = "main"
"""Level of a factor that stands for what the main protocol does."""


class ReadingError(ValueError):
    """A reading names what does not exist, or changes nothing."""


def check_readings(
    document: Mapping[str, Any], mains: Iterable[Mapping[str, Any]]
) -> None:
    """Check that the readings of a paper name what exists."""
    mains = list(mains)
    methods = mains[0]["methods"]
    experiments = list(dict.fromkeys(e for main in mains for e in main["experiments"]))
    claims = list(dict.fromkeys(c["id"] for main in mains for c in main["claims"]))
    artefacts = {name for main in mains for name in main["artefacts"]}
    readings = document["readings"]
    for factor, settings in readings.items():
        for alternative, reading in settings["alternatives"].items():
            key = f"readings.{factor}.alternatives.{alternative}"
            if alternative == MAIN:
                raise ReadingError(
                    f"key {key!r}: {MAIN!r} stands for the main protocol; take "
                    "another name"
                )
            require(experiments, list(reading["experiments"]), f"{key}.experiments")
            for experiment, own in reading["experiments"].items():
                place = f"{key}.experiments.{experiment}"
                require(methods, own.get("methods", []), f"{place}.methods")
                if not reading.change.is_fitted:
                    _check_main_scores(reading, experiment, mains, place)
            _check_select_by(reading, mains, f"{key}.change.select_by")
            _check_in_place(reading, mains, f"{key}.change.in_place")
            for position, entry in enumerate(reading["change"].get("methods", [])):
                place = f"{key}.change.methods.{position}.of"
                require(methods, entry["of"], place)
    for name, specification in document.get("specifications", {}).items():
        key = f"specifications.{name}"
        require(readings, specification["factors"], f"{key}.factors")
        require(claims, [specification["claim"]], f"{key}.claim")
    for name, figure in document.get("figures", {}).items():
        key = f"figures.{name}"
        if name in {"reach", "bounds", *artefacts}:
            raise ReadingError(f"key {key!r}: there is an artefact of this name")
        if "levels" in figure:
            require(readings, [figure["axis"]], f"{key}.axis")
        for position, panel in enumerate(figure["panels"]):
            _check_panel(figure, panel, readings, methods, f"{key}.panels.{position}")
        try:
            _check_drawn(figure, readings, Experiments(mains), key)
        except ConfigError as error:
            raise ReadingError(str(error)) from error
    published = Path(mains[0]["published"])
    source = f"{published.parent.name}/readings.yaml"
    check_places(_printed(document), published, source)


def _check_panel(
    figure: Mapping[str, Any],
    panel: Mapping[str, Any],
    readings: Mapping[str, Any],
    methods: Iterable[str],
    key: str,
) -> None:
    """Check that every curve of a panel is of a reading of its experiment."""
    drawn = [{figure["axis"]: level} for level in figure.get("levels", ())]
    for curve in panel["curves"]:
        require(methods, [curve["method"]], f"{key}.curves")
        drawn.append(curve.get("reading", {}))
    for reading in drawn:
        for factor, alternative in reading.items():
            if alternative == MAIN:
                continue
            require(readings, [factor], f"{key}.curves")
            alternatives = readings[factor]["alternatives"]
            require(alternatives, [alternative], f"{key}.curves")
            known = alternatives[alternative]["experiments"]
            require(known, [panel["experiment"]], f"{key}.experiment")


def _check_drawn(
    figure: Mapping[str, Any],
    readings: Mapping[str, Any],
    experiments: Experiments,
    key: str,
) -> None:
    """Check metric, axis and selectors of a figure against its experiments."""
    names = [panel["experiment"] for panel in figure["panels"]]
    changes = [
        alternative["change"]
        for factor in readings.values()
        for alternative in factor["alternatives"].values()
    ]
    changed = [metric for change in changes for metric in change.get("metrics", [])]
    if figure["metric"] not in changed:
        check_selector(key, {"metric": figure["metric"]}, names, experiments)
    options = [o for c in changes for o in c.get("datasets", {}).get("options", {})]
    if "levels" not in figure:
        require([*experiments.axes(names), *options], [figure["axis"]], f"{key}.axis")
    for number, panel in enumerate(figure["panels"]):
        for position, curve in enumerate(panel["curves"]):
            place = f"{key}.panels.{number}.curves.{position}.where"
            check_selector(place, curve.get("where", {}), names, experiments)


def _printed(document: Mapping[str, Any]) -> Iterator[Wanted]:
    """Yield the published numbers that figures show."""
    for name, figure in document.get("figures", {}).items():
        for number, panel in enumerate(figure["panels"]):
            if printed := panel.get("printed"):
                key = f"figures.{name}.panels.{number}.printed"
                yield key, printed["file"], [(printed["row"], printed["column"])]


def _check_select_by(
    reading: Mapping[str, Any], mains: Iterable[Mapping[str, Any]], key: str
) -> None:
    """Check that a reading chooses by a metric that its experiments have."""
    change = reading["change"]
    if "select_by" not in change:
        return
    known = Experiments(list(mains)).values("metric", reading["experiments"]) or []
    require([*change.get("metrics", []), *known], [change["select_by"]], key)


def _check_in_place(
    reading: Mapping[str, Any], mains: Iterable[Mapping[str, Any]], key: str
) -> None:
    """Check that metrics stand for metrics, as far as a configuration knows them."""
    change = reading["change"]
    made = change.get("in_place", {})
    known = Experiments(list(mains)).values("metric", reading["experiments"]) or []
    require(known, list(made), key)
    chosen = [entry.get("selection", "") for entry in change.get("methods", [])]
    if not any(":" in selection for selection in chosen):  # which may measure more
        require([*known, *change.get("metrics", [])], list(made.values()), key)


def _check_main_scores(
    reading: Mapping[str, Any],
    experiment: str,
    mains: Iterable[Mapping[str, Any]],
    key: str,
) -> None:
    """Check an alternative that reads other metrics of the main scores, no more."""
    if reading["experiments"][experiment]:
        raise ReadingError(
            f"key {key!r}: a change of in_place alone takes the main scores of all "
            "methods; leave methods and repeats out"
        )
    metrics = [
        metric
        for main in mains
        if experiment in main["experiments"]
        for metric in main["experiments"][experiment]["metrics"]
    ]
    place = f"{key.partition('.experiments.')[0]}.change.in_place"
    change = reading["change"]["in_place"]
    require(list(dict.fromkeys(metrics)), [*change, *change.values()], place)


def require(known: Iterable[str], names: Sequence[str], key: str) -> None:
    """Refuse names that are not known."""
    for name in names:
        if name not in known:
            raise ReadingError(f"key {key!r}: {unknown('name', name, list(known))}")
