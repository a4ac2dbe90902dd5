"""Parts of a paper's configuration, other repeats, and methods that join."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sklearn.base import ClassifierMixin

from mtmkl_suite.config.models import (
    Artefact,
    Experiment,
    Figure,
    Method,
    MethodEntry,
    Paper,
    Table,
    claims_on,
)
from mtmkl_suite.config.overlay import Whole, overlaid
from mtmkl_suite.data.protocols import WITH_VALIDATION
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.methods import resolve
from mtmkl_suite.metrics import metric

_UNTUNED = " (untuned)"


def with_repeats(config: Paper, repeats: int, *, at_most: bool = False) -> Paper:
    """Return a configuration in which every experiment has so many repeats, or fewer.

    The splits of a repeat depend on its number alone: fewer are the first of more.
    """
    counts = {name: config.n_repeats(name) for name in config.experiments}
    wanted = {k: min(repeats, n) if at_most else repeats for k, n in counts.items()}
    if wanted == counts:
        return config
    protocols = {each.protocol for each in config.experiments.values()}
    overlay = {
        "protocols": {}
        if at_most
        else {each: {"repeats": repeats} for each in protocols},
        "experiments": {
            name: {"repeats": n if at_most else None} for name, n in wanted.items()
        },
        "changes": {"repeats": repeats},
    }
    found: Paper = overlaid(config, overlay)
    return found


def with_experiments(
    config: Paper, names: Collection[str], artefacts: Iterable[str]
) -> Paper:
    """Return a configuration with some experiments, their claims and some artefacts.

    Methods are compared over those of the data sets that are left.
    """
    found = {
        "experiments": {k: v for k, v in config.experiments.items() if k in names},
        "artefacts": {
            k: _of_experiments(config.artefacts[k], names) for k in artefacts
        },
        "claims": claims_on(config.claims, lambda s: s.args["experiment"] in names),
    }
    return config.model_copy(update=found)


def _of_experiments(artefact: Artefact, experiments: Collection[str]) -> Artefact:
    """Return an artefact whose comparison has the data sets of some experiments."""
    comparison = artefact.comparison
    if comparison is None:
        return artefact
    gone = [k for k, v in comparison.rows.items() if v.experiment not in experiments]
    if not gone:
        return artefact
    overlay: dict[str, Any] = {"comparison": {"rows": dict.fromkeys(gone)}}
    if isinstance(artefact, Figure):
        kept = [name for name in artefact.experiments if name in experiments]
        overlay["experiments"] = kept
    found: Artefact = overlaid(artefact, overlay)
    return found


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

    Values of its ``grid`` are chosen on validation rows where the protocol has some, or
    by cross-validation; without one it has the defaults of the class, and its label
    says so. Its label is the name of its class, or all of ``class_name`` where that is
    another's label.
    """
    current = config.experiments[experiment]
    if any(entry.method == class_name for entry in current.methods):
        return config
    name, method = class_name, config.methods.get(class_name)
    if method is None:
        name, method = _new_method(config, current, class_name, grid)
    shown = {
        artefact: overlay
        for artefact, of in config.artefacts.items()
        if (overlay := _with_label(of, experiment, current, name, method.label))
    }
    found: Paper = overlaid(
        config,
        {
            "own": list(dict.fromkeys([*(config.own or []), name])),
            "methods": {name: method},
            "experiments": {
                experiment: {"methods": [*current.methods, MethodEntry(method=name)]}
            },
            "artefacts": shown,
        },
    )
    return found


def can_join(config: Paper, experiment: str, class_name: str) -> bool:
    """Tell whether a method suits an experiment: a classifier needs labels."""
    metrics = config.experiments[experiment].metrics
    if any(metric(name).labels for name in metrics):
        return True
    known = config.methods.get(class_name)
    try:
        found = resolve(known.class_name if known else class_name)
    except ValueError:  # said when all names are checked
        return True
    return not issubclass(found, ClassifierMixin)


def _new_method(
    config: Paper,
    experiment: Experiment,
    class_name: str,
    grid: Mapping[str, list[Any]] | None,
) -> tuple[str, Method]:
    """Return id and settings of a class that is not configured."""
    methods = config.methods
    # PerTask(sklearn.svm:SVC) is PerTask(SVC).
    own_name = re.sub(r"[\w.]+[:.](?=\w+\)*$)", "", class_name)
    name = re.sub(r"\W+", "_", own_name.rstrip(")")).lower()
    while name in methods and methods[name].class_name != class_name:
        name += "_own"
    if name in methods:
        return name, methods[name]
    labels = {each.label.removesuffix(_UNTUNED) for each in methods.values()}
    label = class_name if own_name in labels else own_name
    document: dict[str, Any] = {"label": f"{label}{_UNTUNED}", "selection": "none"}
    if grid:
        kind = config.protocols[experiment.protocol].kind
        selection = "validation" if kind in WITH_VALIDATION else "common"
        document = {"label": label, "grid": dict(grid), "selection": selection}
    return name, Method.model_validate({**document, "class": class_name})


def _with_label(
    artefact: Artefact, name: str, experiment: Experiment, method: str, label: str
) -> dict[str, Any] | None:
    """Return what shows one more method of an experiment, if an artefact shows it."""
    if isinstance(artefact, Table) and artefact.experiment == name:
        return {"extra_rows": {label: Whole({"method": method})}}
    comparison = artefact.comparison
    # Another kind stands beside the ranks that a paper printed of its methods.
    if not (comparison and comparison.pairs) or name not in artefact.shown:
        return None
    present = {entry.method for entry in experiment.methods} - {method}
    for column, methods in comparison.methods.items():
        sharing = set(methods)
        if method in sharing and present & sharing:
            raise ConfigError(
                f"method {method!r} cannot join experiment {name!r}: "
                f"{min(present & sharing)!r} has its column {column!r} there; name "
                "the others with --experiment"
            )
        if method in sharing:
            return None
    own = f"{label} (joined)" if label in comparison.columns else label
    return {"comparison": {"columns": {own: [method]}}}
