"""Readings of a protocol that a paper leaves open, as experiments of their own.

A *factor* is one open choice, with *alternatives* to what the main protocol does. Each
alternative is a small change of data set, protocol, methods or metrics. Applied to an
experiment ``E`` it gives the experiment ``E@factor=alternative``, which every step runs
like any other. Whatever the change leaves alone is that of ``E``: draws, splits, the
points of a search, and seeds. Combinations are named ``E@first=one+second=two``.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl.config import (
    TIERS,
    ConfigError,
    load_paper,
    paper_folder,
    read_part,
    read_yaml,
)
from mtmkl.evaluation.plan import variants

FILE = "readings.yaml"
"""File of a paper's folder that holds its readings."""

MAIN = "main"
"""Level of a factor that stands for what the main protocol does."""

_PLACES = ("published", "seconds")  # keys of a configuration that say where it lies

Factors = Mapping[str, str]
"""Factor -> alternative."""


def has_readings(paper: str | Path) -> bool:
    """Tell whether a paper's folder has readings."""
    return (paper_folder(paper) / FILE).is_file()


def load_papers(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a run is about: its papers, or the readings of those that have some.

    Parameters
    ----------
    run : mapping
        From :func:`mtmkl.config.load_run_config`.

    Raises
    ------
    ConfigError
        If a configuration is wrong, or no paper has the wanted readings.
    """
    papers, tier, wanted = run["papers"], run["tier"], run["readings"]
    if not wanted:
        return [load_paper(paper, tier) for paper in papers]
    known = {
        paper: list(load_readings(paper, tier)["readings"]["factors"])
        for paper in papers
        if has_readings(paper)
    }
    if not known:
        raise ConfigError(
            f"key 'readings': none of the papers {', '.join(papers)} has a {FILE}; "
            "take others with papers"
        )
    if wanted is True:
        return [load_readings(paper, tier) for paper in known]
    everywhere = list(dict.fromkeys(f for factors in known.values() for f in factors))
    for factor in wanted:
        if factor not in everywhere:
            from mtmkl.schema_errors import unknown

            raise ConfigError(
                f"key 'readings': {unknown('factor', factor, everywhere)}"
            )
    own = {p: [f for f in wanted if f in factors] for p, factors in known.items()}
    return [load_readings(p, tier, factors) for p, factors in own.items() if factors]


def load_readings(
    paper: str | Path, tier: str, factors: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return a configuration whose experiments are the readings of a paper's.

    Parameters
    ----------
    paper : str or Path
        As for :func:`mtmkl.config.load_paper`.
    tier : {"quick", "paper"}
    factors : sequence of str or None
        Which are read differently; None is all. A specification curve is part of it
        if all its factors are.

    Returns
    -------
    dict
        As of :func:`~mtmkl.config.load_paper`, without claims. The artefacts are the
        table ``explanations`` and a figure per specification. ``readings`` says where
        the experiments come from: ``factors`` and ``specifications`` of the
        file; ``experiments``, each with ``of`` (the main experiment), ``factors``
        and ``is_whole`` (whether nothing of the main experiment can stand beside it);
        and ``main``, the paper's main configuration.

    Raises
    ------
    ConfigError
        If the paper has no readings, a key is wrong, or a name is unknown; names
        file, key and value.
    """
    path = paper_folder(paper) / FILE
    if not path.is_file():
        raise ConfigError(
            f"paper {path.parent.name!r} has no readings: write them to {path}, or "
            "leave the paper out of a run of readings"
        )
    by_tier = {each: load_paper(paper, each) for each in TIERS}
    lists = read_yaml(path.with_name("experiments.yaml")).get("lists", {})
    documents = {each: read_part(path, each, lists)[0] for each in TIERS}
    try:
        for each in TIERS:
            _check_names(documents[each], by_tier.values())
        return _expanded(by_tier[tier], documents[tier], factors)
    except _ReadingError as error:
        raise ConfigError(f"{path.parent.name}/{FILE}: {error}") from error


class _ReadingError(ValueError):
    """A reading names what does not exist, or changes nothing."""


def _check_names(
    document: Mapping[str, Any], mains: Iterable[Mapping[str, Any]]
) -> None:
    mains = list(mains)
    methods = mains[0]["methods"]
    experiments = list(dict.fromkeys(e for main in mains for e in main["experiments"]))
    claims = list(dict.fromkeys(c["id"] for main in mains for c in main["claims"]))
    readings = document["readings"]
    for factor, settings in readings.items():
        for alternative, reading in settings["alternatives"].items():
            key = f"readings.{factor}.alternatives.{alternative}"
            if alternative == MAIN:
                raise _ReadingError(
                    f"key {key!r}: {MAIN!r} stands for the main protocol; take "
                    "another name"
                )
            _require(experiments, list(reading["experiments"]), f"{key}.experiments")
            for experiment, own in reading["experiments"].items():
                place = f"{key}.experiments.{experiment}.methods"
                _require(methods, own.get("methods", []), place)
            for position, entry in enumerate(reading["change"].get("methods", [])):
                place = f"{key}.change.methods.{position}.of"
                _require(methods, entry["of"], place)
    for name, specification in document.get("specifications", {}).items():
        key = f"specifications.{name}"
        _require(readings, specification["factors"], f"{key}.factors")
        _require(claims, [specification["claim"]], f"{key}.claim")


def _require(known: Iterable[str], names: Sequence[str], key: str) -> None:
    from mtmkl.schema_errors import unknown

    for name in names:
        if name not in known:
            raise _ReadingError(f"key {key!r}: {unknown('name', name, list(known))}")


def _expanded(
    main: dict[str, Any],
    document: Mapping[str, Any],
    chosen: Sequence[str] | None,
) -> dict[str, Any]:
    readings = document["readings"]
    names = list(readings if chosen is None else chosen)
    _require(readings, names, "readings")
    expansion = _Expansion(main, readings)
    for factor in names:
        for alternative, reading in readings[factor]["alternatives"].items():
            for experiment in reading["experiments"]:
                if experiment in main["experiments"]:
                    expansion.add(experiment, {factor: alternative})
    artefacts: dict[str, Any] = {
        "explanations": {
            "kind": "table",
            "layout": "explanations",
            "title": "Readings of the protocol, and what each explains (ours)",
            "experiments": list(expansion.experiments),
        }
    }
    bounded = [
        name
        for name, origin in expansion.origins.items()
        if any(
            readings[factor]["alternatives"][alternative]["kind"] == "bound"
            for factor, alternative in origin["factors"].items()
        )
    ]
    if bounded:
        artefacts["bounds"] = {
            "kind": "table",
            "layout": "bounds",
            "title": "Printed numbers beside an upper bound (ours)",
            "experiments": bounded,
        }
    claims = {claim["id"]: claim for claim in main["claims"]}
    specifications = {}
    for name, specification in document.get("specifications", {}).items():
        claim = claims.get(specification["claim"])
        if claim is None or not set(specification["factors"]) <= set(names):
            continue
        made = expansion.add_all(specification, claim["args"])
        specifications[name] = {**specification, "experiments": made}
        artefacts[f"specification_{name}"] = {
            "kind": "figure",
            "specification": name,
            "title": specification["title"],
            "experiments": [each for each in made if each in expansion.experiments],
        }
    if not expansion.experiments:
        raise _ReadingError(
            f"no experiment of the {main['tier']} tier has one of the readings "
            f"{', '.join(names)}: take the other tier"
        )
    used = {e["protocol"] for e in expansion.experiments.values()}
    return {
        **main,
        "protocols": {k: v for k, v in expansion.protocols.items() if k in used},
        "experiments": expansion.experiments,
        "artefacts": artefacts,
        "claims": [],
        "seconds": expansion.seconds,
        "readings": {
            "factors": {name: readings[name] for name in names},
            "specifications": specifications,
            "experiments": expansion.origins,
            "main": {k: v for k, v in main.items() if k not in _PLACES},
        },
    }


def experiment_id(of: str, factors: Factors) -> str:
    """Return the name of an experiment under some alternatives, or its own."""
    if not factors:
        return of
    return f"{of}@{'+'.join(f'{name}={level}' for name, level in factors.items())}"


class _Expansion:
    """Experiments under readings, as they are added."""

    def __init__(self, main: dict[str, Any], readings: Mapping[str, Any]) -> None:
        self._main = main
        self._readings = readings
        self.experiments: dict[str, dict[str, Any]] = {}
        self.origins: dict[str, dict[str, Any]] = {}
        self.protocols: dict[str, Any] = dict(main["protocols"])
        self.seconds: dict[str, float] = {}

    def add_all(
        self, specification: Mapping[str, Any], args: Mapping[str, Any]
    ) -> dict[str, dict[str, str]]:
        """Add every combination of some factors to the experiment of a claim.

        Optimistic alternatives are no part of it. Returns the factors of each
        experiment; that of the main experiment is among them.
        """
        of = args["experiment"]
        sides = [
            value["method"]
            for value in args.values()
            if isinstance(value, Mapping) and isinstance(value.get("method"), str)
        ]
        levels = [
            [(factor, level) for level in (MAIN, *self._legitimate(factor, of))]
            for factor in specification["factors"]
        ]
        made = {}
        for combination in itertools.product(*levels):
            factors = {factor: level for factor, level in combination if level != MAIN}
            name = experiment_id(of, factors)
            if factors:
                self.add(of, factors, sides, specification.get("repeats"))
            made[name] = dict(combination)
        return made

    def _legitimate(self, factor: str, experiment: str) -> list[str]:
        return [
            name
            for name, each in self._readings[factor]["alternatives"].items()
            if experiment in each["experiments"] and each["kind"] == "legitimate"
        ]

    def add(
        self,
        of: str,
        factors: Factors,
        sides: Sequence[str] = (),
        repeats: int | None = None,
    ) -> None:
        """Add an experiment under some alternatives, or methods to it.

        Parameters
        ----------
        of : str
            The main experiment.
        factors : mapping of str to str
        sides : sequence of str
            The methods; by default those that the readings name, or change, or all
            but controls where the change is not one of methods alone.
        repeats : int or None
            By default the fewest that the readings name.
        """
        base = self._main["experiments"][of]
        each = [self._readings[f]["alternatives"][a] for f, a in factors.items()]
        changes = [reading["change"] for reading in each]
        is_whole = any(set(change) - {"methods"} for change in changes)
        experiment = {
            k: v for k, v in base.items() if k not in ("tiers", "arrays", "record_path")
        }
        labels = "; ".join(reading["label"] for reading in each)
        experiment["title"] = f"{base['title']}: {labels}"
        if any(reading["kind"] == "optimistic" for reading in each):
            experiment["title"] += " (uses test data)"
        for change in changes:
            experiment |= {
                k: change[k] for k in ("metrics", "select_by") if k in change
            }
            experiment["datasets"] = _with_data(
                experiment["datasets"], change.get("datasets", {})
            )
        if "select_by" in experiment and "metrics" in experiment:
            experiment = {
                k: v
                for k, v in experiment.items()
                if k != "select_by" or v in experiment["metrics"]
            }
        experiment["protocol"] = self._protocol(base["protocol"], factors)
        own = [reading["experiments"][of] for reading in each]
        fewest = [settings["repeats"] for settings in own if "repeats" in settings]
        fewest += [] if repeats is None else [repeats]
        fewest += [base["repeats"]] if "repeats" in base else []
        if fewest:
            available = self.protocols[experiment["protocol"]]["repeats"]
            experiment["repeats"] = min(*fewest, available)
        entries = {entry["method"]: entry for entry in base["methods"]}
        named = [m for settings in own for m in settings.get("methods", [])]
        wanted = sides or named or self._methods(changes, entries, is_whole=is_whole)
        name = experiment_id(of, factors)
        present = {
            entry["method"]: entry
            for entry in self.experiments.get(name, {"methods": []})["methods"]
        }
        for method in dict.fromkeys(wanted):
            if method in entries:
                present.setdefault(method, self._entry(entries[method], changes))
        if not present:
            raise _ReadingError(
                f"experiment {of!r} has none of the methods {', '.join(wanted)} of "
                f"reading {name!r}: leave it out of its experiments"
            )
        if name in self.experiments:
            # Methods that join for a curve must not cut the repeats of the others.
            experiment.pop("repeats", None)
            experiment |= {k: v for k, v in self.experiments[name].items()
                           if k == "repeats"}  # fmt: skip
        experiment["methods"] = list(present.values())
        self.experiments[name] = experiment
        self.origins[name] = {"of": of, "factors": dict(factors), "is_whole": is_whole}
        self._remember_seconds(name, of)

    def _methods(
        self,
        changes: Sequence[Mapping[str, Any]],
        entries: Mapping[str, Any],
        *,
        is_whole: bool,
    ) -> list[str]:
        """Return the methods that changes concern: all but controls, or those named."""
        from mtmkl.statistics.comparison import is_control

        if is_whole:
            return [m for m in entries if not is_control(self._main["methods"][m])]
        named = [
            m for change in changes for each in change["methods"] for m in each["of"]
        ]
        return [m for m in dict.fromkeys(named) if m in entries]

    def _entry(
        self, entry: Mapping[str, Any], changes: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the entry of a method with the settings that readings give it."""
        configured = self._main["methods"][entry["method"]]
        settings = dict(configured)
        for change in changes:
            for each in change.get("methods", []):
                if entry["method"] in each["of"]:
                    settings = _with_settings(settings, each)
        own = {k: v for k, v in entry.items() if k != "tiers"}
        return own if settings == configured else {**own, "settings": settings}

    def _protocol(self, name: str, factors: Factors) -> str:
        """Return the id of a protocol under readings, which no other change renames."""
        changed = {
            factor: level
            for factor, level in factors.items()
            if "protocol" in self._readings[factor]["alternatives"][level]["change"]
        }
        made = experiment_id(name, changed)
        protocol = dict(self._main["protocols"][name])
        for factor, level in changed.items():
            reading = self._readings[factor]["alternatives"][level]
            protocol |= reading["change"]["protocol"]
        self.protocols[made] = protocol
        return made

    def _remember_seconds(self, name: str, of: str) -> None:
        """Expect of each method what it took in the main experiment."""
        before = variants(self._main["experiments"][of])
        after = variants(self.experiments[name])
        for first, second in zip(before, after, strict=True):
            for entry in self.experiments[name]["methods"]:
                method = entry["method"]
                known = self._main["seconds"].get(f"{of}/{first.id}/{method}")
                if known is not None:
                    self.seconds[f"{name}/{second.id}/{method}"] = known


def _with_data(
    datasets: Mapping[str, Any], change: Mapping[str, Any]
) -> dict[str, Any]:
    options = {**datasets.get("options", {}), **change.get("options", {})}
    if change.get("name", datasets["name"]) != datasets["name"]:
        # Another data set has options of its own.
        options = change.get("options", {})
    made = {**datasets, "name": change.get("name", datasets["name"])}
    return {**made, "options": options} if options else made


def _with_settings(
    settings: Mapping[str, Any], change: Mapping[str, Any]
) -> dict[str, Any]:
    made = {**settings, **{k: change[k] for k in ("class", "selection") if k in change}}
    for part in ("params", "grid"):
        merged = {**made.get(part, {}), **change.get(part, {})}
        made[part] = {k: v for k, v in merged.items() if v is not None}
    if "search" in change:
        made["search"] = change["search"]
    if made["selection"] == "none":
        made |= {"grid": None, "search": None}
    return {k: v for k, v in made.items() if v not in ({}, None)}
