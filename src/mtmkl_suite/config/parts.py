"""Parts of a paper's configuration, other repeats, and methods that join."""

from collections.abc import Iterable, Mapping
from typing import Any

from mtmkl_suite.config.models import (
    Artefact,
    Experiment,
    Method,
    MethodComparison,
    MethodEntry,
    Paper,
    Table,
)
from mtmkl_suite.errors import ConfigError

_UNTUNED = " (untuned)"


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
        own_name = class_name.rpartition(":")[2].rpartition(".")[2].rstrip(")")
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
