"""The papers of a run: what it takes of them, adds to them, and changes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.config import against
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import TIERS, Paper, Run
from mtmkl_suite.config.overlay import of_paper, settings_of
from mtmkl_suite.config.own_data import own_data_config
from mtmkl_suite.config.parts import (
    can_join,
    restricted_to_artefacts,
    with_experiments,
    with_method,
    with_repeats,
)
from mtmkl_suite.config.readings import load_all_readings
from mtmkl_suite.errors import ConfigError


def load_papers(run: Run) -> list[Paper]:
    """Return the configurations of the papers of a run."""
    settings = of_paper(settings_of(run.settings))
    papers = _loaded(run, settings)
    for kind, names, restrict in (
        ("experiments", run.experiments, _to_experiments),
        ("artefacts", run.artefacts, restricted_to_artefacts),
    ):
        if names is not None:
            papers = _restricted(kind, names, restrict, papers, run)
    if run.artefacts is not None:
        papers = [_with_remarks(paper, settings) for paper in papers]
    if run.against:
        papers = [against.compared_config(paper) for paper in papers]
    if run.repeats is not None:
        few = run.against is not None
        papers = [with_repeats(each, run.repeats, at_most=few) for each in papers]
    papers = [_joined(paper, run) for paper in papers]
    return [against.with_record(p, run.seed) for p in papers] if run.against else papers


def _loaded(run: Run, settings: Mapping[str, Any]) -> list[Paper]:
    first = next(iter(settings), None)
    if run.data:
        return [own_data_config(run.data, run.tier, settings)]
    if run.against and (run.tier != "paper" or run.readings):
        raise ConfigError(
            "--against published is of the paper tier and of the main protocol: "
            "leave out --tier and --readings; --repeats 2 makes it quick"
        )
    if run.against and settings:
        raise ConfigError(
            f"--set {first}: a record is compared with as it is; "
            "only keys of config/config.yaml can be set"
        )
    if run.readings and settings:
        raise ConfigError(
            f"--set {first} changes the experiments, and --readings runs "
            "others in their place: take one of the two"
        )
    if run.readings:
        return load_all_readings(run)
    return [load_paper(paper, run.tier, settings) for paper in run.papers]


def _restricted(
    kind: str,
    names: Sequence[str],
    restrict: Callable[[Paper, Sequence[str]], Paper],
    papers: Sequence[Paper],
    run: Run,
) -> list[Paper]:
    """Return the papers that have some experiments or artefacts, with these alone."""
    known = [list(getattr(paper, kind)) for paper in papers]
    for name in names:
        if not any(name in own for own in known):
            raise ConfigError(_no_such(kind, name, known, run))
    found = []
    for paper, own in zip(papers, known, strict=True):
        if chosen := [name for name in own if name in names]:
            is_whole = kind == "experiments" and chosen == own
            parts = {"parts": [] if is_whole else chosen}
            found.append(restrict(paper, chosen).model_copy(update=parts))
    return found


def _no_such(kind: str, name: str, known: Sequence[Sequence[str]], run: Run) -> str:
    """Say that an experiment or artefact is of the other tier, or unknown."""
    one = kind.removesuffix("s")
    for tier in TIERS:
        if any(name in getattr(load_paper(p, tier), kind) for p in run.papers):
            return f"{one} {name!r} is only in tier {tier}: add --tier {tier}"
    return unknown(one, name, [each for own in known for each in own])


def _to_experiments(config: Paper, names: Sequence[str]) -> Paper:
    """Return a configuration with some experiments, and what shows them alone.

    Methods are compared over those of the data sets that are left, if several are.
    """
    chosen = set(names)
    shown = [
        name
        for name, artefact in config.artefacts.items()
        if chosen >= set(artefact.shown)
        or (
            artefact.comparison
            and artefact.comparison.pairs
            and len(chosen & set(artefact.shown)) > 1
        )
    ]
    return with_experiments(config, chosen, shown)


def _with_remarks(config: Paper, settings: Mapping[str, Any]) -> Paper:
    """Return a configuration that says which experiments settings leave as they are."""
    changed = {key.split(".")[1] for key in settings if key.startswith("experiments.")}
    left = [name for name in config.experiments if name not in changed]
    if not (left and changed & {*config.experiments}):
        return config
    remark = f"--set changes {', '.join(sorted(changed))}, and not {', '.join(left)}."
    return config.model_copy(update={"remarks": [remark]})


def _grids(run: Run) -> list[dict[str, list[Any]] | None]:
    """Return the grid of each method that joins: its own, or the one of all."""
    if not isinstance(run.grid, list):
        return [run.grid] * len(run.methods)
    if len(run.grid) != len(run.methods):
        raise ConfigError(
            f"--grid is given {len(run.grid)} times and --method "
            f"{len(run.methods)} times: give one grid for all, or one for each method "
            "in their order ({} for one that stays at its defaults)"
        )
    return [grid or None for grid in run.grid]


def _joined(config: Paper, run: Run) -> Paper:
    """Return a configuration in which methods join the experiments they suit."""
    grids = _grids(run)
    if isinstance(run.grid, list):
        given = {n for n, grid in zip(run.methods, grids, strict=True) if grid}
        is_refused = bool(given & set(config.methods))
    else:
        is_refused = run.grid is not None and set(run.methods) <= set(config.methods)
    if is_refused:
        raise ConfigError(
            "--grid needs --method package.module:Class: configured methods have "
            "their grid in the paper's configuration"
        )
    remarks = list(config.remarks)
    for name, grid in zip(run.methods, grids, strict=True):
        suited = [e for e in config.experiments if can_join(config, e, name)]
        if left := [e for e in config.experiments if e not in suited]:
            if not suited:
                raise ConfigError(f"{name} is a classifier, and targets are numbers")
            remarks.append(f"{name} is a classifier: not run in {', '.join(left)}.")
        if not grid and name not in config.methods:
            remarks.append(
                f"{name} has the default parameters of its class; --grid gives it "
                "values to choose from, as the other methods have."
            )
        for experiment in suited:
            config = with_method(config, experiment, name, grid=grid)
    return config.model_copy(update={"remarks": remarks})
