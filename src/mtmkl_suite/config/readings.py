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

from mtmkl.errors import unknown
from mtmkl_suite.config.load import load_paper, paper_folder, read_part
from mtmkl_suite.config.models import (
    TIERS,
    Artefact,
    DataChange,
    DataSets,
    Experiment,
    Factor,
    MadeSpecification,
    Method,
    MethodChange,
    MethodEntry,
    Origin,
    Paper,
    Reading,
    ReadingChange,
    Readings,
    ReadingsFigure,
    ReadingsFile,
    Run,
    Specification,
    Tier,
)
from mtmkl_suite.config.readings_checks import (
    MAIN,
    check_readings,
)
from mtmkl_suite.config.readings_shown import experiment_id, shown_figures, shown_tables
from mtmkl_suite.config.selectors import naming_file, require
from mtmkl_suite.data.protocols import Protocol
from mtmkl_suite.documents import validated
from mtmkl_suite.errors import ConfigError

FILE = "readings.yaml"
"""File of a paper's folder that holds its readings."""

USES_TEST_DATA = ("optimistic", "bound")
"""Kinds of an alternative that chooses by test rows."""

Factors = Mapping[str, str]
"""Factor -> alternative."""


def has_readings(paper: str | Path) -> bool:
    """Tell whether a paper's folder has readings."""
    return (paper_folder(paper) / FILE).is_file()


def load_all_readings(run: Run) -> list[Paper]:
    """Return the readings of the papers of a run, of those that have some."""
    papers, tier, wanted = run.papers, run.tier, run.readings
    read = {
        paper: load_readings(paper, tier) for paper in papers if has_readings(paper)
    }
    if not read:
        raise ConfigError(
            f"key 'readings': none of the papers {', '.join(papers)} has a {FILE}; "
            "take others with papers"
        )
    if not isinstance(wanted, list):
        return list(read.values())
    known = {
        paper: list(made.readings.factors)
        for paper, made in read.items()
        if made.readings is not None
    }
    everywhere = list(dict.fromkeys(f for factors in known.values() for f in factors))
    for factor in wanted:
        if factor not in everywhere:
            raise ConfigError(
                f"key 'readings': {unknown('factor', factor, everywhere)}"
            )
    own = {p: [f for f in wanted if f in factors] for p, factors in known.items()}
    return [load_readings(p, tier, factors) for p, factors in own.items() if factors]


def load_readings(
    paper: str | Path, tier: Tier, factors: Sequence[str] | None = None
) -> Paper:
    """Return a configuration whose experiments are the readings of a paper's.

    It has no claims, and its artefacts are the table ``reach``, that of bounds
    if there are any, and figures. Its ``readings`` say where the experiments come from.
    """
    path = paper_folder(paper) / FILE
    if not path.is_file():
        raise ConfigError(
            f"paper {path.parent.name!r} has no readings: write them to {path}, or "
            "leave the paper out of a run of readings"
        )
    by_tier = {each: load_paper(paper, each) for each in TIERS}
    documents = {
        each: read_part(path.parent, path.stem, ReadingsFile, each) for each in TIERS
    }
    with naming_file(path.parent.name, path.stem):
        for each in TIERS:
            check_readings(documents[each], list(by_tier.values()))
        return _expanded(by_tier[tier], documents[tier], factors)


def _expanded(
    main: Paper, document: ReadingsFile, chosen: Sequence[str] | None
) -> Paper:
    readings = document.readings
    names = list(readings if chosen is None else chosen)
    require("readings", "factor", readings, *names)
    expansion = _Expansion(main, readings)
    for factor in names:
        for alternative, reading in readings[factor].alternatives.items():
            for experiment in reading.experiments:
                if experiment in main.experiments:
                    expansion.add(experiment, {factor: alternative})
    artefacts: dict[str, Artefact] = dict(
        shown_tables(readings, expansion.origins, expansion.fits_of)
    )
    claims = {claim.id: claim for claim in main.claims}
    specifications = {}
    for name, specification in document.specifications.items():
        claim = claims.get(specification.claim)
        if claim is None or not set(specification.factors) <= set(names):
            continue
        made = expansion.add_all(specification, claim.args)
        specifications[name] = MadeSpecification(
            **{
                **dict(specification),
                "experiments": made,
                "repeats": expansion.fewest_repeats(made),
            }
        )
        artefacts[f"specification_{name}"] = ReadingsFigure(
            kind="figure",
            specification=name,
            title=specification.title,
            experiments=expansion.fits_of(made),
        )
    figures, drawn = shown_figures(document.figures, main, names, expansion.fits_of)
    artefacts |= drawn
    if not expansion.experiments:
        if expansion.origins:
            raise ConfigError(
                f"the readings {', '.join(names)} read the main scores alone, so there "
                "is nothing to run: name another factor beside them"
            )
        raise ConfigError(
            f"no experiment of the {main.tier} tier has one of the readings "
            f"{', '.join(names)}: take the other tier"
        )
    used = {e.protocol for e in expansion.experiments.values()}
    made_of = Readings(
        factors={name: readings[name] for name in names},
        specifications=specifications,
        figures=figures,
        experiments=expansion.origins,
        main=main,
    )
    found = {
        "protocols": {k: v for k, v in expansion.protocols.items() if k in used},
        "experiments": expansion.experiments,
        "artefacts": artefacts,
        "claims": [],
        "seconds": expansion.seconds,
        "readings": made_of,
    }
    return main.model_copy(update=found)


class _Expansion:
    """Experiments under readings, as they are added."""

    def __init__(self, main: Paper, readings: Mapping[str, Factor]) -> None:
        self._main = main
        self._readings = readings
        self.experiments: dict[str, Experiment] = {}
        self.origins: dict[str, Origin] = {}
        self.protocols: dict[str, Protocol] = dict(main.protocols)
        self.seconds: dict[str, float] = {}

    def add_all(
        self, specification: Specification, args: Mapping[str, Any]
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
            for factor in specification.factors
        ]
        made = {}
        for combination in itertools.product(*levels):
            factors = {factor: level for factor, level in combination if level != MAIN}
            name = experiment_id(of, factors)
            if factors:
                self.add(of, factors, sides, specification.repeats)
            made[name] = dict(combination)
        return made

    def _legitimate(self, factor: str, experiment: str) -> list[str]:
        return [
            name
            for name, each in self._readings[factor].alternatives.items()
            if experiment in each.experiments and each.kind == "legitimate"
        ]

    def fits_of(self, names: Iterable[str]) -> list[str]:
        """Return the experiments whose fits some readings take."""
        fits = [self.origins[name].fits for name in names if name in self.origins]
        return [name for name in dict.fromkeys(fits) if name in self.experiments]

    def fewest_repeats(self, names: Iterable[str]) -> int:
        """Return how many repeats each of some experiments has, the main ones too."""
        known = {**self._main.experiments, **self.experiments}
        made = [known[name] for name in (*self.fits_of(names), *names) if name in known]
        return min(
            each.repeats or self.protocols[each.protocol].repeats for each in made
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
        readings = [self._readings[f].alternatives[a] for f, a in fitted.items()]
        changes = [reading.change for reading in readings]
        is_whole = any(
            change.model_fields_set - {"methods", "in_place"} for change in changes
        )
        self.origins[experiment_id(of, factors)] = Origin(
            of=of,
            factors=dict(factors),
            fits=fits,
            is_whole=is_whole,
            times=self._times(of, fitted),
            changes=_changed_methods(changes),
        )
        if fitted:
            self._add_fits(of, fits, fitted, sides, repeats, is_whole=is_whole)

    def _times(self, of: str, factors: Factors) -> int:
        """Return how many times the repeats of its protocol a reading has."""
        before = self._main.experiments[of].protocol
        after = self._protocol(before, factors)
        usual, wanted = (self.protocols[name].repeats for name in (before, after))
        if wanted % usual:
            raise ConfigError(
                f"reading {experiment_id(of, factors)!r} has {wanted} repeats, the "
                f"main protocol {usual}: take a multiple, for claims that name repeats "
                "name as many times more; experiments say where fewer are run"
            )
        return wanted // usual

    def _fitted_factors(self, factors: Factors) -> dict[str, str]:
        """Return the alternatives that need fits, each the first with the same fits."""

        def key(reading: Reading) -> Any:
            change = reading.change.model_copy(update={"in_place": {}})
            return change, reading.experiments, reading.kind

        made = {}
        for factor, level in factors.items():
            alternatives = self._readings[factor].alternatives
            if alternatives[level].change.is_fitted:
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
        base = self._main.experiments[of]
        each = [self._readings[f].alternatives[a] for f, a in factors.items()]
        changes = [reading.change for reading in each]
        title = f"{base.title}: {'; '.join(reading.label for reading in each)}"
        if any(reading.kind in USES_TEST_DATA for reading in each):
            title += " (uses test data)"
        datasets, metrics, select_by = base.datasets, base.metrics, base.select_by
        for change in changes:
            metrics = change.metrics or metrics
            select_by = change.select_by or select_by
            if change.datasets is not None:
                datasets = _with_data(datasets, change.datasets)
        protocol = self._protocol(base.protocol, factors)
        own = [reading.experiments[of] for reading in each]
        counts = [*(settings.repeats for settings in own), repeats, base.repeats]
        fewest = [count for count in counts if count is not None]
        if fewest:
            fewest.append(self.protocols[protocol].repeats)
        entries = {entry.method: entry for entry in base.methods}
        named = [m for settings in own for m in settings.methods]
        concerned = self._methods(changes, entries, is_whole=is_whole)
        wanted = sides or named or concerned
        if sides and not is_whole:
            wanted = [method for method in sides if method in concerned]
        before = self.experiments.get(name)
        present = {entry.method: entry for entry in before.methods} if before else {}
        for method in dict.fromkeys(wanted):
            if method in entries:
                present.setdefault(method, self._entry(entries[method], changes))
        if not present:
            raise ConfigError(
                f"experiment {of!r} has none of the methods "
                f"{', '.join(wanted or sides)} that reading {name!r} changes: leave it "
                "out of its experiments"
            )
        self.experiments[name] = Experiment(
            section=base.section,
            title=title,
            datasets=datasets,
            protocol=protocol,
            # Methods that join for a curve must not cut the repeats of the others.
            repeats=before.repeats if before else min(fewest, default=None),
            mode=base.mode,
            methods=list(present.values()),
            metrics=metrics,
            record_tasks=base.record_tasks,
            select_by=select_by if select_by in metrics else None,
        )
        self._remember_seconds(name, of)

    def _methods(
        self,
        changes: Sequence[ReadingChange],
        entries: Mapping[str, MethodEntry],
        *,
        is_whole: bool,
    ) -> list[str]:
        """Return the methods that changes concern: all but controls, or those named."""
        if is_whole:
            return [m for m in entries if not self._main.methods[m].is_control]
        return [method for method in _changed_methods(changes) if method in entries]

    def _entry(
        self, entry: MethodEntry, changes: Sequence[ReadingChange]
    ) -> MethodEntry:
        """Return the entry of a method with the settings that readings give it."""
        configured = settings = self._main.methods[entry.method]
        hold = entry.hold
        for change in changes:
            for each in change.methods:
                if entry.method in each.of:
                    settings = _with_settings(settings, each)
                    hold = hold if each.hold is None else each.hold
        if settings != configured:
            entry = entry.model_copy(update={"settings": settings})
        return entry if hold == entry.hold else entry.model_copy(update={"hold": hold})

    def _protocol(self, name: str, factors: Factors) -> str:
        """Return the id of a protocol under readings, which no other change renames."""
        changes = {
            factor: self._readings[factor].alternatives[level].change.protocol
            for factor, level in factors.items()
        }
        made = experiment_id(name, {f: a for f, a in factors.items() if changes[f]})
        protocol = self._main.protocols[name].given()
        for change in filter(None, changes.values()):
            protocol |= change.given()
        source = f"protocol {made!r}"
        self.protocols[made] = validated(Protocol, protocol, source=source)
        return made

    def _remember_seconds(self, name: str, of: str) -> None:
        """Expect of each method what it took in the main experiment."""
        before = self._main.experiments[of].variants
        after = self.experiments[name].variants
        for first, second in zip(before, after, strict=True):
            for entry in self.experiments[name].methods:
                known = self._main.seconds.get(f"{of}/{first.id}/{entry.method}")
                if known is not None:
                    self.seconds[f"{name}/{second.id}/{entry.method}"] = known


def _changed_methods(changes: Sequence[ReadingChange]) -> list[str]:
    entries = [each for change in changes for each in change.methods]
    return list(dict.fromkeys(method for each in entries for method in each.of))


def _with_data(datasets: DataSets, change: DataChange) -> DataSets:
    name = change.name or datasets.name
    options = {**datasets.options, **change.options}
    if name != datasets.name and change.options:
        # Options that are given with another data set are all of its own.
        options = change.options
    return datasets.model_copy(update={"name": name, "options": options})


def _with_settings(settings: Method, change: MethodChange) -> Method:
    made: dict[str, Any] = {
        "label": settings.label,
        "class": change.class_name or settings.class_name,
        "selection": change.selection or settings.selection,
    }
    for part in ("params", "grid"):
        merged = {**getattr(settings, part), **getattr(change, part)}
        made[part] = {k: v for k, v in merged.items() if v is not None}
    has_search = "search" in change.model_fields_set
    made["search"] = change.search if has_search else settings.search
    if made["selection"] == "none":
        made |= {"grid": None, "search": None}
    document = {key: value for key, value in made.items() if value}
    return validated(Method, document, source=f"method {settings.label!r}")
