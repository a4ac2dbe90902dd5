"""Readings of a protocol that a paper leaves open, as experiments of their own.

A *factor* is one open choice, with *alternatives* to what the main protocol does. Each
alternative is a small change of data set, protocol, methods or metrics. Applied to an
experiment ``E`` it gives the experiment ``E@factor=alternative``, which every step runs
like any other. Whatever the change leaves alone is that of ``E``: draws, splits, the
points of a search, and seeds. Combinations are named ``E@first=one+second=two``.

Nothing is fitted twice: alternatives that differ only in the metric that they read
(``in_place``) share one experiment, and one that changes nothing else reads the main
scores. An alternative of kind ``bound`` shows which numbers no such method can reach.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl.documents import ConfigError, read_yaml
from mtmkl_suite.config.load import TIERS, load_paper, paper_folder, read_part
from mtmkl_suite.config.readings_checks import (
    MAIN,
    ReadingError,
    check_readings,
    fitted_part,
    require,
)
from mtmkl_suite.config.readings_shown import experiment_id, shown_figures, shown_tables
from mtmkl_suite.run.plan import variants

FILE = "readings.yaml"
"""File of a paper's folder that holds its readings."""

USES_TEST_DATA = ("optimistic", "bound")
"""Kinds of an alternative that chooses by test rows."""

_PLACES = ("published", "seconds")  # keys of a configuration that say where it lies

Factors = Mapping[str, str]
"""Factor -> alternative."""


def has_readings(paper: str | Path) -> bool:
    """Tell whether a paper's folder has readings."""
    return (paper_folder(paper) / FILE).is_file()


def load_papers(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the papers of a run, or the readings of those that have some."""
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
            from mtmkl.documents import unknown

            raise ConfigError(
                f"key 'readings': {unknown('factor', factor, everywhere)}"
            )
    own = {p: [f for f in wanted if f in factors] for p, factors in known.items()}
    return [load_readings(p, tier, factors) for p, factors in own.items() if factors]


def load_readings(
    paper: str | Path, tier: str, factors: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return a configuration whose experiments are the readings of a paper's.

    Returns as of :func:`~mtmkl_suite.config.load.load_paper`, without claims. The
    artefacts are the table ``reach``, that of bounds if there are any, and
    figures. ``readings`` says where the experiments come from: ``factors``,
    ``specifications`` and ``figures`` of the file; ``experiments``, each with ``of``
    (the main experiment), ``factors``, ``fits`` (the experiment whose scores it reads:
    ``of`` if those of the main record), ``is_whole`` (whether nothing of the main
    experiment can stand beside them), ``times`` (how many repeats stand for each of the
    main experiment) and ``changes`` (methods that are not the main ones any more, run
    or not); and ``main``, the paper's main configuration. A specification has
    ``experiments`` and ``repeats``, the same for each of them.
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
            check_readings(documents[each], by_tier.values())
        return _expanded(by_tier[tier], documents[tier], factors)
    except ReadingError as error:
        raise ConfigError(f"{path.parent.name}/{FILE}: {error}") from error


def _expanded(
    main: dict[str, Any],
    document: Mapping[str, Any],
    chosen: Sequence[str] | None,
) -> dict[str, Any]:
    readings = document["readings"]
    names = list(readings if chosen is None else chosen)
    require(readings, names, "readings")
    expansion = _Expansion(main, readings)
    for factor in names:
        for alternative, reading in readings[factor]["alternatives"].items():
            for experiment in reading["experiments"]:
                if experiment in main["experiments"]:
                    expansion.add(experiment, {factor: alternative})
    artefacts = shown_tables(readings, expansion.origins, expansion.fits_of)
    claims = {claim["id"]: claim for claim in main["claims"]}
    specifications = {}
    for name, specification in document.get("specifications", {}).items():
        claim = claims.get(specification["claim"])
        if claim is None or not set(specification["factors"]) <= set(names):
            continue
        made = expansion.add_all(specification, claim["args"])
        specifications[name] = {
            **specification,
            "experiments": made,
            "repeats": expansion.fewest_repeats(made),
        }
        artefacts[f"specification_{name}"] = {
            "kind": "figure",
            "specification": name,
            "title": specification["title"],
            "experiments": expansion.fits_of(made),
        }
    figures, drawn = shown_figures(
        document.get("figures", {}), main, names, expansion.fits_of
    )
    artefacts |= drawn
    if not expansion.experiments:
        if expansion.origins:
            raise ReadingError(
                f"the readings {', '.join(names)} read the main scores alone, so there "
                "is nothing to run: name another factor beside them"
            )
        raise ReadingError(
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
            "figures": figures,
            "experiments": expansion.origins,
            "main": {k: v for k, v in main.items() if k not in _PLACES},
        },
    }


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

        Alternatives that use test data are no part of it. Methods that a combination
        leaves as they are keep their main scores. Returns the factors of each
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

    def fits_of(self, names: Iterable[str]) -> list[str]:
        """Return the experiments whose fits some readings take."""
        fits = [self.origins[name]["fits"] for name in names if name in self.origins]
        return [name for name in dict.fromkeys(fits) if name in self.experiments]

    def fewest_repeats(self, names: Iterable[str]) -> int:
        """Return how many repeats each of some experiments has, the main ones too."""
        known = {**self._main["experiments"], **self.experiments}
        made = [known[name] for name in (*self.fits_of(names), *names) if name in known]
        return min(
            each.get("repeats", self.protocols[each["protocol"]]["repeats"])
            for each in made
        )

    def add(
        self,
        of: str,
        factors: Factors,
        sides: Sequence[str] = (),
        repeats: int | None = None,
    ) -> None:
        """Add an experiment under some alternatives, or methods to it.

        ``sides``: The methods that are compared; by default those that the readings
        name, or all but controls. Where the change is one of methods alone, only those
        of them that it concerns are run.
        """
        fitted = self._fitted_factors(factors)
        fits = experiment_id(of, fitted)
        changes = [
            self._readings[f]["alternatives"][a]["change"] for f, a in fitted.items()
        ]
        is_whole = any(set(fitted_part(change)) - {"methods"} for change in changes)
        self.origins[experiment_id(of, factors)] = {
            "of": of, "factors": dict(factors), "fits": fits,
            "is_whole": is_whole, "times": self._times(of, fitted),
            "changes": _changed_methods(changes),
        }  # fmt: skip
        if fitted:
            self._add_fits(of, fits, fitted, sides, repeats, is_whole=is_whole)

    def _times(self, of: str, factors: Factors) -> int:
        """Return how many times the repeats of its protocol a reading has."""
        before = self._main["experiments"][of]["protocol"]
        after = self._protocol(before, factors)
        usual, wanted = (self.protocols[name]["repeats"] for name in (before, after))
        if wanted % usual:
            raise ReadingError(
                f"reading {experiment_id(of, factors)!r} has {wanted} repeats, the "
                f"main protocol {usual}: take a multiple, for claims that name repeats "
                "name as many times more; experiments say where fewer are run"
            )
        return int(wanted // usual)

    def _fitted_factors(self, factors: Factors) -> dict[str, str]:
        """Return the alternatives that need fits, each the first with the same fits."""

        def key(alternative: Mapping[str, Any]) -> Any:
            change = fitted_part(alternative["change"])
            return change, alternative["experiments"], alternative["kind"]

        made = {}
        for factor, level in factors.items():
            alternatives = self._readings[factor]["alternatives"]
            if fitted_part(alternatives[level]["change"]):
                same = [
                    k
                    for k, v in alternatives.items()
                    if key(v) == key(alternatives[level])
                ]
                made[factor] = same[0]
        return made

    def _add_fits(
        self,
        of: str,
        name: str,
        factors: Factors,
        sides: Sequence[str],
        repeats: int | None,
        *,
        is_whole: bool,
    ) -> None:
        base = self._main["experiments"][of]
        each = [self._readings[f]["alternatives"][a] for f, a in factors.items()]
        changes = [reading["change"] for reading in each]
        experiment = {
            k: v for k, v in base.items() if k not in ("tiers", "arrays", "record_path")
        }
        labels = "; ".join(reading["label"] for reading in each)
        experiment["title"] = f"{base['title']}: {labels}"
        if any(reading["kind"] in USES_TEST_DATA for reading in each):
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
        concerned = self._methods(changes, entries, is_whole=is_whole)
        wanted = sides or named or concerned
        if sides and not is_whole:
            wanted = [method for method in sides if method in concerned]
        present = {
            entry["method"]: entry
            for entry in self.experiments.get(name, {"methods": []})["methods"]
        }
        for method in dict.fromkeys(wanted):
            if method in entries:
                present.setdefault(method, self._entry(entries[method], changes))
        if not present:
            raise ReadingError(
                f"experiment {of!r} has none of the methods "
                f"{', '.join(wanted or sides)} that reading {name!r} changes: leave it "
                "out of its experiments"
            )
        if name in self.experiments:
            # Methods that join for a curve must not cut the repeats of the others.
            experiment.pop("repeats", None)
            experiment |= {k: v for k, v in self.experiments[name].items()
                           if k == "repeats"}  # fmt: skip
        experiment["methods"] = list(present.values())
        self.experiments[name] = experiment
        self._remember_seconds(name, of)

    def _methods(
        self,
        changes: Sequence[Mapping[str, Any]],
        entries: Mapping[str, Any],
        *,
        is_whole: bool,
    ) -> list[str]:
        """Return the methods that changes concern: all but controls, or those named."""
        from mtmkl_suite.judge.comparison import is_control

        if is_whole:
            return [m for m in entries if not is_control(self._main["methods"][m])]
        return [method for method in _changed_methods(changes) if method in entries]

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


def _changed_methods(changes: Sequence[Mapping[str, Any]]) -> list[str]:
    entries = [each for change in changes for each in change.get("methods", [])]
    return list(dict.fromkeys(method for each in entries for method in each["of"]))


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
