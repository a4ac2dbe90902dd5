"""Readings of a protocol that a paper leaves open, as experiments of their own.

An alternative of a factor, laid over an experiment ``E``, gives the experiment
``E@factor=alternative``, which every step runs like any other; combinations are named
``E@first=one+second=two``. Nothing is fitted twice: alternatives that differ only in
the metric (``in_place``) or in the methods (``only``) that are read share one
experiment, and one that changes the metric alone reads the main scores.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl_suite.config.load import load_tiers, paper_folder, read_part
from mtmkl_suite.config.models import (
    TIERS,
    Artefact,
    Experiment,
    Factor,
    Figure,
    MadeSpecification,
    Method,
    MethodEntry,
    Origin,
    Paper,
    Reading,
    ReadingChange,
    Readings,
    ReadingsFile,
    ReadingsTable,
    Run,
    Specification,
    Tier,
)
from mtmkl_suite.config.names import MAIN, check_readings, naming_file, require
from mtmkl_suite.config.overlay import Whole, overlaid
from mtmkl_suite.data.protocols import Protocol
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


def experiment_id(of: str, factors: Factors) -> str:
    """Return the name of an experiment under some alternatives, or its own."""
    if not factors:
        return of
    return f"{of}@{'+'.join(f'{name}={level}' for name, level in factors.items())}"


def load_all_readings(run: Run) -> list[Paper]:
    """Return the readings of the papers of a run, of those that have some."""
    known = {
        paper: list(_document(paper, run.tier).readings)
        for paper in run.papers
        if has_readings(paper)
    }
    if not known:
        raise ConfigError(
            f"key 'readings': none of the papers {', '.join(run.papers)} has a "
            f"{FILE}; take others with papers"
        )
    if not isinstance(run.readings, list):
        return [load_readings(paper, run.tier) for paper in known]
    everywhere = dict.fromkeys(f for factors in known.values() for f in factors)
    require("readings", "factor", everywhere, *run.readings)
    chosen = {p: [f for f in run.readings if f in known[p]] for p in known}
    return [load_readings(p, run.tier, own) for p, own in chosen.items() if own]


def _document(paper: str | Path, tier: Tier) -> ReadingsFile:
    return read_part(paper_folder(paper), "readings", ReadingsFile, tier)


def load_readings(
    paper: str | Path, tier: Tier, factors: Sequence[str] | None = None
) -> Paper:
    """Return a configuration whose experiments are the readings of a paper's.

    It has no claims, and its artefacts are the table ``reach``, that of bounds
    if there are any, and figures. Its ``readings`` say where the experiments come from.
    """
    path = paper_folder(paper) / FILE
    mains = load_tiers(paper)
    documents = {each: _document(paper, each) for each in TIERS}
    with naming_file(path.parent.name, path.stem):
        for document in documents.values():
            check_readings(document, list(mains.values()))
        return _expanded(mains[tier], documents[tier], factors)


def _expanded(
    main: Paper, document: ReadingsFile, chosen: Sequence[str] | None
) -> Paper:
    names = list(document.readings if chosen is None else chosen)
    require("readings", "factor", document.readings, *names)
    readings = {name: document.readings[name] for name in names}
    made = _Expansion(main, readings)
    for factor, settings in readings.items():
        for alternative, reading in settings.alternatives.items():
            for experiment in reading.experiments:
                if experiment in main.experiments:
                    made.add(experiment, {factor: alternative})
    artefacts = _tables(made)
    specifications = {}
    for name, specification in document.specifications.items():
        is_here = specification.args["experiment"] in main.experiments
        if not is_here or not set(specification.factors) <= set(names):
            continue
        under = made.add_all(specification)
        specifications[name] = MadeSpecification(
            **{
                **dict(specification),
                "experiments": under,
                "repeats": made.fewest_repeats(under),
            }
        )
        artefacts[f"specification_{name}"] = Figure(
            kind="figure",
            title=specification.title,
            experiments=made.fits_of(under),
        )
    figures = {}
    for name, figure in document.figures.items():
        # Panels of experiments that the tier does not run are left out, and a figure
        # if a factor was not chosen.
        panels = [p for p in figure.panels if p.experiment in main.experiments]
        drawn = [
            (panel.experiment, {factor: alternative})
            for panel in panels
            for factor, alternative in figure.drawn(panel)
            if alternative != MAIN
        ]
        if panels and all(factor in names for _, under in drawn for factor in under):
            figures[name] = figure.model_copy(update={"panels": panels})
            artefacts[name] = Figure(
                kind="figure",
                title=figure.title,
                experiments=made.fits_of(experiment_id(*each) for each in drawn),
            )
    if not made.experiments:
        raise ConfigError(
            f"the {main.tier} tier fits nothing for the readings {', '.join(names)}: "
            "take the other tier, or another factor beside them"
        )
    used = {e.protocol for e in made.experiments.values()}
    found = {
        "protocols": {k: v for k, v in made.protocols.items() if k in used},
        "experiments": made.experiments,
        "artefacts": artefacts,
        "claims": [],
        "seconds": made.seconds,
        "readings": Readings(
            factors=readings,
            specifications=specifications,
            figures=figures,
            experiments=made.origins,
            main=main,
        ),
    }
    return main.model_copy(update=found)


class _Expansion:
    """Experiments under readings, as they are added."""

    def __init__(self, main: Paper, readings: Mapping[str, Factor]) -> None:
        self.main = main
        self._readings = readings
        self.experiments: dict[str, Experiment] = {}
        self.origins: dict[str, Origin] = {}
        self.protocols: dict[str, Protocol] = dict(main.protocols)
        self.seconds: dict[str, float] = {}

    def readings_of(self, factors: Factors) -> list[Reading]:
        """Return the alternatives of some factors."""
        return [self._readings[f].alternatives[a] for f, a in factors.items()]

    def add_all(self, specification: Specification) -> dict[str, dict[str, str]]:
        """Add every combination of some factors to the experiment of a comparison.

        Alternatives that use test data are no part of it. Methods that a combination
        leaves as they are keep their main scores. Returns the factors of each
        experiment; that of the main experiment is among them.
        """
        of = specification.args["experiment"]
        sides = [
            value["method"]
            for value in specification.args.values()
            if isinstance(value, Mapping) and isinstance(value.get("method"), str)
        ]
        levels = [
            [
                (factor, MAIN),
                *(
                    (factor, name)
                    for name, each in self._readings[factor].alternatives.items()
                    if of in each.experiments and each.kind == "legitimate"
                ),
            ]
            for factor in specification.factors
        ]
        made = {}
        for combination in itertools.product(*levels):
            factors = {factor: level for factor, level in combination if level != MAIN}
            if factors:
                self.add(of, factors, sides, specification.repeats)
            made[experiment_id(of, factors)] = dict(combination)
        return made

    def fits_of(self, names: Iterable[str]) -> list[str]:
        """Return the experiments whose fits some readings take."""
        fits = [self.origins[name].fits for name in names if name in self.origins]
        return [name for name in dict.fromkeys(fits) if name in self.experiments]

    def fewest_repeats(self, names: Iterable[str]) -> int:
        """Return how many repeats each of some experiments has, the main ones too."""
        known = {**self.main.experiments, **self.experiments}
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

        ``sides`` are the methods that are compared; by default those that the readings
        name, or all but controls. If only methods change, these alone are run.
        """
        fitted = {
            factor: self._first_alike(factor, level)
            for factor, level in factors.items()
            if self._readings[factor].alternatives[level].change.is_fitted
        }
        fits = experiment_id(of, fitted)
        readings = self.readings_of(fitted)
        changes = [reading.change for reading in readings]
        is_whole = any(
            change.model_fields_set - {"methods", "in_place"} for change in changes
        )
        changed = [m for change in changes for each in change.methods for m in each.of]
        only = [m for each in self.readings_of(factors) for m in each.only]
        protocol = self._protocol(self.main.experiments[of].protocol, fitted)
        self.origins[experiment_id(of, factors)] = Origin(
            of=of,
            factors=dict(factors),
            fits=fits,
            is_whole=is_whole,
            times=self._times(of, fits, protocol),
            changes=only or list(dict.fromkeys(changed)),
            only=only,
        )
        if not fitted:
            return
        base = self.main.experiments[of]
        concerned = [
            entry.method
            for entry in base.methods
            if not self.main.methods[entry.method].is_control
        ]
        if not is_whole:
            concerned = list(dict.fromkeys(changed))
        own = [reading.experiments[of] for reading in readings]
        wanted = [m for settings in own for m in settings.methods] or concerned
        if sides:
            wanted = [m for m in sides if is_whole or m in concerned]
        before = self.experiments.get(fits)
        present = {entry.method: entry for entry in before.methods} if before else {}
        for method in dict.fromkeys(wanted):
            for entry in base.methods:
                if entry.method == method and method not in present:
                    present[method] = self._entry(entry, changes)
        if not present:
            raise ConfigError(
                f"experiment {of!r} has none of the methods "
                f"{', '.join(wanted or sides)} that reading {fits!r} changes: leave it "
                "out of its experiments"
            )
        counts = [*(settings.repeats for settings in own), repeats, base.repeats]
        fewest = [count for count in counts if count is not None]
        if fewest:
            fewest.append(self.protocols[protocol].repeats)
        made = self._under(base, readings)
        self.experiments[fits] = made.model_copy(
            update={
                "protocol": protocol,
                # Methods that join for a curve must not cut the repeats of the others.
                "repeats": before.repeats if before else min(fewest, default=None),
                "methods": list(present.values()),
            }
        )
        self._remember_seconds(fits, of)

    def _first_alike(self, factor: str, level: str) -> str:
        """Return the first alternative of a factor that has the same fits."""

        def key(reading: Reading) -> Any:
            change = reading.change.model_copy(update={"in_place": {}})
            return change, reading.experiments, reading.kind

        alternatives = self._readings[factor].alternatives
        wanted = key(alternatives[level])
        return next(k for k, v in alternatives.items() if key(v) == wanted)

    def _times(self, of: str, name: str, protocol: str) -> int:
        """Return how many times the repeats of its protocol a reading has."""
        usual = self.protocols[self.main.experiments[of].protocol].repeats
        wanted = self.protocols[protocol].repeats
        if wanted % usual:
            raise ConfigError(
                f"reading {name!r} has {wanted} repeats, the main protocol {usual}: "
                "take a multiple, for claims that name repeats name as many times "
                "more; experiments say where fewer are run"
            )
        return wanted // usual

    def _under(self, base: Experiment, readings: Sequence[Reading]) -> Experiment:
        """Return an experiment with the title, data and metrics of some readings."""
        title = f"{base.title}: {'; '.join(reading.label for reading in readings)}"
        if any(reading.kind in USES_TEST_DATA for reading in readings):
            title += " (uses test data)"
        of_main_run = dict.fromkeys(("tiers", "record_path", "arrays"))
        made: Experiment = overlaid(base, {"title": title, **of_main_run})
        for change in (reading.change for reading in readings):
            overlay = change.given(
                but={"datasets", "protocol", "methods", "in_place", "sizes"}
            )
            if data := change.datasets:
                name, options = data.name or made.datasets.name, data.options
                # Options that are given with another data set are all of its own.
                if name == made.datasets.name or not options:
                    options = {**made.datasets.options, **options}
                overlay["datasets"] = {"name": name, "options": Whole(options)}
            made = overlaid(made, overlay, f"experiment {base.title!r}")
        if made.select_by not in made.metrics:
            made = made.model_copy(update={"select_by": None})
        return made

    def _entry(
        self, entry: MethodEntry, changes: Sequence[ReadingChange]
    ) -> MethodEntry:
        """Return the entry of a method with the settings that readings give it."""
        configured = settings = self.main.methods[entry.method]
        for each in (method for change in changes for method in change.methods):
            if entry.method in each.of:
                keys = {
                    k: getattr(each, k) for k in each.model_fields_set - {"of", "hold"}
                }
                settings = _with_settings(settings, keys)
                if each.hold is not None:
                    entry = entry.model_copy(update={"hold": each.hold})
        if settings != configured:
            entry = entry.model_copy(update={"settings": settings})
        return entry

    def _protocol(self, name: str, factors: Factors) -> str:
        """Return the id of a protocol under readings, which no other change renames."""
        changes = {
            factor: reading.change.protocol
            for factor, reading in zip(factors, self.readings_of(factors), strict=True)
            if reading.change.protocol
        }
        made = experiment_id(name, {f: a for f, a in factors.items() if f in changes})
        protocol = self.main.protocols[name]
        for change in changes.values():
            protocol = overlaid(protocol, change, f"protocol {made!r}")
        self.protocols[made] = protocol
        return made

    def _remember_seconds(self, name: str, of: str) -> None:
        """Expect of each method what it took in the main experiment."""
        before = self.main.experiments[of].variants
        after = self.experiments[name].variants
        for first, second in zip(before, after, strict=True):
            for entry in self.experiments[name].methods:
                known = self.main.seconds.get(f"{of}/{first.id}/{entry.method}")
                if known is not None:
                    self.seconds[f"{name}/{second.id}/{entry.method}"] = known


def _with_settings(settings: Method, keys: Mapping[str, Any]) -> Method:
    """Return a method with other settings, each of them a value as a whole."""
    overlay: dict[str, Any] = {
        "class" if key == "class_name" else key: (
            {k: v if v is None else Whole(v) for k, v in value.items()}
            if key in ("params", "grid")
            else value
        )
        for key, value in keys.items()
    }
    if overlay.get("selection", settings.selection) == "none":
        overlay |= {"grid": None, "search": None}
    made: Method = overlaid(settings, overlay, f"method {settings.label!r}")
    return made


def _tables(made: _Expansion) -> dict[str, Artefact]:
    """Return the table of reach, and that of upper bounds if there are any."""
    bounded = [
        name
        for name, origin in made.origins.items()
        if any(each.kind == "bound" for each in made.readings_of(origin.factors))
    ]
    tables: dict[str, Artefact] = {
        "reach": ReadingsTable(
            layout="reach",
            title="Readings of the protocol, and what comes within reach (ours)",
            experiments=made.fits_of(made.origins),
        )
    }
    if bounded:
        tables["bounds"] = ReadingsTable(
            layout="bounds",
            title="Printed numbers beside an upper bound (ours)",
            experiments=made.fits_of(bounded),
        )
    return tables
