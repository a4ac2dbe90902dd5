"""From a paper's configuration to the list of fit jobs: pure data, light imports."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mtmkl.documents import ConfigError
from mtmkl_suite.config.models import (
    Artefact,
    Experiment,
    Method,
    MethodComparison,
    MethodEntry,
    Paper,
    Table,
    Variant,
)
from mtmkl_suite.evaluation.jobs import FitJob, MethodSpec

JOB_SECONDS = 300.0
"""What the repeats in one job take at most, on one core, but for less than a repeat."""

UNMEASURED_REPEATS = 5
"""Repeats in one job of a method whose seconds were never measured."""

_UNTUNED = " (untuned)"


def variants(experiment: Any) -> list[Variant]:
    """Return the data sets of an experiment: the product of what it varies."""
    datasets = experiment["datasets"]
    options = datasets.get("options", {})
    axes = datasets.get("vary", {})
    return [
        Variant(datasets["name"], {**options, **dict(zip(axes, values, strict=True))})
        for values in itertools.product(*axes.values())
    ]


def method_of(config: Any, entry: Any) -> Any:
    """Return the definition of a method as an experiment uses it."""
    return entry.get("settings") or config["methods"][entry["method"]]


def entry_of(config: Any, experiment: str, method: str) -> Any:
    """Return the entry of a method among those of an experiment."""
    for entry in config["experiments"][experiment]["methods"]:
        if entry["method"] == method:
            return entry
    raise KeyError(method)


def method_specs(config: Any, experiment: str) -> dict[str, MethodSpec]:
    """Return the configured methods of an experiment by their id."""
    specs = {}
    for entry in config["experiments"][experiment]["methods"]:
        method = method_of(config, entry)
        specs[entry["method"]] = MethodSpec(
            id=entry["method"],
            class_name=method["class"],
            params=method.get("params", {}),
            grid=method.get("grid", {}),
            selection=method["selection"],
            n_tasks=tuple(entry.get("n_tasks", ())),
            hold=entry.get("hold", {}),
            along=tuple(entry.get("along", ())),
            search=method.get("search", {}).get("points"),
        )
    return specs


def n_repeats(config: Any, experiment: str) -> int:
    """Return the number of repeats of an experiment: the first of its protocol's."""
    settings = config["experiments"][experiment]
    available: int = config["protocols"][settings["protocol"]]["repeats"]
    wanted: int = settings.get("repeats", available)
    if wanted > available:
        raise ConfigError(
            f"key 'experiments.{experiment}.repeats': {wanted} is more than the "
            f"{available} of protocol {settings['protocol']!r}"
        )
    return wanted


def fit_jobs(config: Any) -> Iterator[FitJob]:
    """Yield every fit job of a paper, in the order of its configuration.

    In the paper tier a method's repeats are cut into jobs of about
    :data:`JOB_SECONDS`, by the seconds that were once measured; never by the machine
    at hand, so that the plan is the same everywhere.
    """
    for name, experiment in config["experiments"].items():
        repeats = n_repeats(config, name)
        # What a record has of other methods is not fitted again.
        own = config.own if config.record is not None else None
        specs = method_specs(config, name)
        for variant in variants(experiment):
            for spec in specs.values():
                if own is not None and spec.id not in own:
                    continue
                size = _repeats_per_job(config, name, variant, spec, repeats)
                for chunk, first in enumerate(range(0, repeats, size)):
                    yield FitJob(
                        name,
                        variant.id,
                        spec.id,
                        chunk,
                        tuple(range(first, min(first + size, repeats))),
                    )


def _repeats_per_job(
    config: Any,
    experiment: str,
    variant: Variant,
    spec: MethodSpec,
    repeats: int,
) -> int:
    if config.get("tier") != "paper":
        return repeats
    place = f"{experiment}/{variant.id}/{spec.id}"
    measured = config.get("seconds", {}).get(place)
    if measured is None:
        size = min(UNMEASURED_REPEATS, repeats)
    else:
        size = math.ceil(repeats / max(1, math.ceil(measured * repeats / JOB_SECONDS)))
    # The first job chooses what the others hold.
    return max(size, *(repeat + 1 for repeat in spec.hold.values()), 1)


def with_repeats(config: Paper, repeats: int) -> Paper:
    """Return a configuration in which every experiment has so many repeats.

    Repeats are numbered, and the splits of each depend on its number alone: fewer are
    the first of more. If that changes what any of the experiments has, ``changes`` of
    the result says so.
    """
    experiments = config.experiments
    if all(config.n_repeats(name) == repeats for name in experiments):
        return config
    protocols = dict(config.protocols)
    for experiment in experiments.values():
        usual = protocols[experiment.protocol]
        protocols[experiment.protocol] = usual.model_copy(update={"repeats": repeats})
    found = {
        "protocols": protocols,
        "experiments": {
            name: each.model_copy(update={"repeats": None})
            for name, each in experiments.items()
        },
        "changes": {**config.changes, "repeats": repeats},
    }
    return config.model_copy(update=found)


def find_variant(config: Any, dataset: str) -> Variant:
    """Return the variant with this id."""
    for experiment in config["experiments"].values():
        for variant in variants(experiment):
            if variant.id == dataset:
                return variant
    raise KeyError(dataset)


def restricted_to_artefacts(config: Paper, names: Iterable[str]) -> Paper:
    """Return a configuration with some artefacts, their experiments and no claims."""
    artefacts = {name: config.artefacts[name] for name in names}
    used = {e for artefact in artefacts.values() for e in artefact.shown}
    experiments = {k: v for k, v in config.experiments.items() if k in used}
    found = {"experiments": experiments, "artefacts": artefacts, "claims": []}
    return config.model_copy(update=found)


def with_method(
    config: Paper,
    experiment: str,
    class_name: str,
    *,
    grid: Mapping[str, list[Any]] | None = None,
) -> Paper:
    """Return a configuration in which one more method joins an experiment.

    ``grid``: Hyper-parameter values, chosen as the experiment's other methods choose,
    on validation rows or by cross-validation; None takes the defaults of the class, and
    its label says so.

    Returns ``own`` lists the methods that joined. A new method is labelled with the
    name of its class, or with all of ``class_name`` where that is another's label.
    """
    if experiment not in config.experiments:
        known = ", ".join(config.experiments)
        raise ConfigError(f"experiment {experiment!r} is unknown; known: {known}")
    current = config.experiments[experiment]
    if any(entry.method == class_name for entry in current.methods):
        return config
    methods = dict(config.methods)
    method_id = class_name
    if class_name not in methods:
        own_name = class_name.rpartition(":")[2].rpartition(".")[2]
        method_id = own_name.lower()
        while method_id in methods and methods[method_id].class_name != class_name:
            method_id += "_own"
        labels = {
            each.label.removesuffix(_UNTUNED)
            for name, each in methods.items()
            if name != method_id
        }
        label = class_name if own_name in labels else own_name
        # Grids of a comparison are searched; what stays at its defaults is marked.
        others = {methods[entry.method].selection for entry in current.methods}
        selection = "validation" if "validation" in others else "common"
        methods[method_id] = Method.model_validate(
            {"label": label, "class": class_name, "grid": dict(grid)}
            | {"selection": selection}
            if grid
            else {"label": f"{label}{_UNTUNED}", "class": class_name}
            | {"selection": "none"}
        )
    entries = [*current.methods, MethodEntry(method=method_id)]
    changed = current.model_copy(update={"methods": entries})
    label = methods[method_id].label
    found = {
        "own": list(dict.fromkeys([*(config.own or []), method_id])),
        "methods": methods,
        "experiments": {**config.experiments, experiment: changed},
        "artefacts": {
            name: _with_label(artefact, experiment, changed, method_id, label)
            for name, artefact in config.artefacts.items()
        },
    }
    return config.model_copy(update=found)


def _with_label(
    artefact: Artefact, name: str, experiment: Experiment, method: str, label: str
) -> Artefact:
    """Return an artefact that shows one more method if it shows the experiment."""
    if isinstance(artefact, Table) and artefact.experiment == name:
        extra = {**artefact.extra_rows, label: {"method": method}}
        return artefact.model_copy(update={"extra_rows": extra})
    comparison = artefact.comparison
    # Another kind stands beside the ranks that a paper printed of its methods.
    if not isinstance(comparison, MethodComparison):
        return artefact
    if name not in {row.experiment for row in comparison.rows.values()}:
        return artefact
    present = {entry.method for entry in experiment.methods} - {method}
    for column, methods in comparison.columns.items():
        sharing = {methods} if isinstance(methods, str) else set(methods)
        if method in sharing and present & sharing:
            raise ConfigError(
                f"method {method!r} cannot join experiment {name!r}: "
                f"{min(present & sharing)!r} has its column {column!r} there; name "
                "the others with --experiment"
            )
        if method in sharing:
            return artefact
    own = f"{label} (joined)" if label in comparison.columns else label
    columns = {**comparison.columns, own: [method]}
    shown = comparison.model_copy(update={"columns": columns})
    return artefact.model_copy(update={"comparison": shown})
