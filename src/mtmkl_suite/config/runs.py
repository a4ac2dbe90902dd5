"""The papers of a run: parts of them, other repeats, methods that join, and records.

A method of one's own is compared with a published record, whose methods are not fitted
again: the record has their scores on splits that follow from the seed and the data
alone. The method is fitted on the same splits, and its scores join those of the record.
Experiments whose data are missing here are left out.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from sklearn.base import ClassifierMixin

from mtmkl.errors import unknown
from mtmkl_suite.config.load import load_paper, published_folder
from mtmkl_suite.config.models import (
    TIERS,
    Artefact,
    Experiment,
    Figure,
    Method,
    MethodEntry,
    Paper,
    Record,
    Run,
    Table,
    claims_on,
)
from mtmkl_suite.config.overlay import Whole, of_paper, overlaid, settings_of
from mtmkl_suite.config.own_data import own_data_config
from mtmkl_suite.config.readings import load_all_readings
from mtmkl_suite.data.protocols import WITH_VALIDATION
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import read_json
from mtmkl_suite.methods import resolve
from mtmkl_suite.metrics import metric

_UNTUNED = " (untuned)"


def load_papers(run: Run) -> list[Paper]:
    """Return the configurations of the papers of a run."""
    settings = of_paper(settings_of(run.settings))
    papers = _loaded(run, settings)
    for kind, names, restricted in (
        ("experiments", run.experiments, _with_experiments),
        ("artefacts", run.artefacts, restricted_to_artefacts),
    ):
        if names is not None:
            papers = _restricted(kind, names, restricted, papers, run)
    if run.artefacts is not None:
        papers = [_with_remarks(paper, settings) for paper in papers]
    if run.against:
        papers = [comparable(paper) for paper in papers]
    if run.repeats is not None:
        few = run.against is not None
        papers = [with_repeats(each, run.repeats, at_most=few) for each in papers]
    papers = [_joined(paper, run) for paper in papers]
    return [with_record(p, run.seed) for p in papers] if run.against else papers


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
    restricted: Callable[[Paper, Sequence[str]], Paper],
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
            found.append(restricted(paper, chosen).model_copy(update=parts))
    return found


def _no_such(kind: str, name: str, known: Sequence[Sequence[str]], run: Run) -> str:
    """Say that an experiment or artefact is of the other tier, or unknown."""
    one = kind.removesuffix("s")
    for tier in TIERS:
        if any(name in getattr(load_paper(p, tier), kind) for p in run.papers):
            return f"{one} {name!r} is only in tier {tier}: add --tier {tier}"
    return unknown(one, name, [each for own in known for each in own])


def _with_experiments(
    config: Paper, names: Collection[str], *, comparing: bool = False
) -> Paper:
    """Return a configuration with some experiments, and what shows these alone.

    When a method is compared with a record, that is their tables, and no claims.
    Comparisons over data sets stay if several of these are left, or then if one is.
    """
    chosen = set(names)
    artefacts = {}
    for name, artefact in config.artefacts.items():
        shown, comparison = set(artefact.shown), artefact.comparison
        if comparing:
            is_kept = isinstance(artefact, Table) and artefact.experiment in chosen
        else:
            is_kept = chosen >= shown
        if comparison and comparison.pairs:
            is_kept |= len(chosen & shown) > (0 if comparing else 1)
        if is_kept:
            artefacts[name] = _of_experiments(artefact, chosen)
    claims = [] if comparing else config.claims
    found = {
        "experiments": {k: v for k, v in config.experiments.items() if k in chosen},
        "artefacts": artefacts,
        "claims": claims_on(claims, lambda s: s.args["experiment"] in chosen),
    }
    return config.model_copy(update=found)


def _of_experiments(artefact: Artefact, experiments: Collection[str]) -> Artefact:
    """Return an artefact whose comparison has the data sets of some experiments."""
    if (comparison := artefact.comparison) is None:
        return artefact
    rows = {k: v for k, v in comparison.rows.items() if v.experiment in experiments}
    found: dict[str, Any] = {"comparison": comparison.model_copy(update={"rows": rows})}
    if isinstance(artefact, Figure):
        found["experiments"] = [k for k in artefact.experiments if k in experiments]
    return artefact.model_copy(update=found)


def restricted_to_artefacts(config: Paper, names: Iterable[str]) -> Paper:
    """Return a configuration with some artefacts, their experiments and no claims."""
    artefacts = {name: config.artefacts[name] for name in names}
    used = {e for artefact in artefacts.values() for e in artefact.shown}
    experiments = {k: v for k, v in config.experiments.items() if k in used}
    found = {"experiments": experiments, "artefacts": artefacts, "claims": []}
    return config.model_copy(update=found)


def _with_remarks(config: Paper, settings: Mapping[str, Any]) -> Paper:
    """Return a configuration that says which experiments settings leave as they are."""
    changed = {key.split(".")[1] for key in settings if key.startswith("experiments.")}
    left = [name for name in config.experiments if name not in changed]
    if not (left and changed & {*config.experiments}):
        return config
    remark = f"--set changes {', '.join(sorted(changed))}, and not {', '.join(left)}."
    return config.model_copy(update={"remarks": [remark]})


def with_repeats(config: Paper, repeats: int, *, at_most: bool = False) -> Paper:
    """Return a configuration in which every experiment has so many repeats, or fewer.

    The splits of a repeat depend on its number alone: fewer are the first of more.
    """
    counts = {name: config.n_repeats(name) for name in config.experiments}
    wanted = {k: min(repeats, n) if at_most else repeats for k, n in counts.items()}
    if wanted == counts:
        return config
    overlay: dict[str, Any] = {"changes": {"repeats": repeats}}
    if at_most:
        overlay["experiments"] = {k: {"repeats": n} for k, n in wanted.items()}
    else:
        used = {each.protocol for each in config.experiments.values()}
        overlay["protocols"] = {name: {"repeats": repeats} for name in used}
        overlay["experiments"] = {name: {"repeats": None} for name in counts}
    found: Paper = overlaid(config, overlay)
    return found


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
    given = {n for n, grid in zip(run.methods, grids, strict=True) if grid is not None}
    known = given & set(config.methods)
    is_of_all = run.grid is not None and not isinstance(run.grid, list)
    if known == given if is_of_all else known:
        raise ConfigError(
            "--grid needs --method package.module:Class: configured methods have "
            "their grid in the paper's configuration"
        )
    remarks = list(config.remarks)
    for name, grid in zip(run.methods, grids, strict=True):
        suited = [e for e in config.experiments if _can_join(config, e, name)]
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


def _can_join(config: Paper, experiment: str, class_name: str) -> bool:
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


def comparable(config: Paper) -> Paper:
    """Return the experiments that choose parameters, and what compares in them."""
    chosen = [k for k, each in config.experiments.items() if each.mode == "select"]
    if not chosen:
        raise ConfigError(
            f"--against published: {', '.join(config.experiments)} records a path "
            "and compares nothing: take another --experiment"
        )
    return _with_experiments(config, chosen, comparing=True)


def with_record(config: Paper, seed: int) -> Paper:
    """Return a configuration of which only methods that joined are fitted."""
    if not config.own:
        raise ConfigError(
            "--against published needs --method NAME or package.module:Class that is "
            "not among the methods of the record"
        )
    joined = [
        name
        for name, experiment in config.experiments.items()
        if {entry.method for entry in experiment.methods} & {*config.own}
    ]
    config = _with_experiments(config, joined, comparing=True)
    folder = published_folder(config.paper.id)
    published = read_json(folder / "provenance.json")
    if published["seed"] != seed:
        raise ConfigError(
            f"--against published: the record has splits of seed {published['seed']}, "
            f"not {seed}: leave out the key 'seed'"
        )
    machine = published.get("machine", {}).get("processor", "another machine")
    note = (
        f"Scores of all other methods are those of the published record, commit "
        f"{str(published.get('commit'))[:12]}; their seconds were measured on "
        f"{machine}, those of the joining method here."
    )
    return config.model_copy(update={"record": Record(folder=folder, note=note)})


def with_data(config: Paper, missing: Collection[str]) -> Paper:
    """Return a configuration with the experiments whose data sets are not missing."""
    kept = [k for k, v in config.experiments.items() if v.datasets.name not in missing]
    return _with_experiments(config, kept, comparing=True)
