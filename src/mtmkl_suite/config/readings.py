"""Readings of a protocol that a paper leaves open, as experiments of their own.

An alternative of a factor, laid over an experiment ``E``, gives the experiment
``E@factor=alternative``, which every step runs like any other. Nothing is fitted twice:
alternatives that differ only in the metric (``in_place``) or in the methods (``only``)
that are read share one experiment, and one that changes the metric alone reads the main
scores.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl_suite.config.load import load_tiers, paper_folder, read_part
from mtmkl_suite.config.models import (
    TIERS,
    Artefact,
    Experiment,
    Factor,
    Method,
    MethodEntry,
    Origin,
    Paper,
    Reading,
    Readings,
    ReadingsFile,
    ReadingsTable,
    Run,
    Tier,
)
from mtmkl_suite.config.names import check_readings, naming_file, require
from mtmkl_suite.config.overlay import Whole, overlaid
from mtmkl_suite.data.protocols import Protocol
from mtmkl_suite.errors import ConfigError

FILE = "readings.yaml"
"""File of a paper's folder that holds its readings."""

USES_TEST_DATA = ("optimistic", "bound")
"""Kinds of an alternative that chooses by test rows."""


def has_readings(paper: str | Path) -> bool:
    """Tell whether a paper's folder has readings."""
    return (paper_folder(paper) / FILE).is_file()


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
    if there are any, and the figures of its experiments. Its ``readings`` say where
    these come from.
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
    experiments: dict[str, Experiment] = {}
    origins: dict[str, Origin] = {}
    protocols: dict[str, Protocol] = {}
    bounded: list[str] = []
    for factor, settings in readings.items():
        for alternative, reading in settings.alternatives.items():
            name = f"{factor}={alternative}"
            # The first alternative that has the same fits.
            fitted = f"{factor}={_first_alike(settings, reading)}"
            for of in filter(main.experiments.__contains__, reading.experiments):
                fits = f"{of}@{fitted}" if reading.change.is_fitted else of
                used, protocol = _protocol(main, of, fitted, reading)
                origin = _origin(main, of, name, fits, protocol, reading)
                origins[f"{of}@{name}"] = origin
                if fits == f"{of}@{name}":
                    protocols[used] = protocol
                    made = _experiment(main, of, fits, used, protocol, reading)
                    experiments[fits] = made
                if reading.kind == "bound":
                    bounded.append(fits)
    if not experiments:
        raise ConfigError(
            f"the {main.tier} tier fits nothing for the readings {', '.join(names)}: "
            "take the other tier, or another factor beside them"
        )
    figures = {
        name: figure.model_copy(update={"experiments": shown})
        for name, figure in document.figures.items()
        if (shown := [each for each in figure.experiments if each in experiments])
    }
    found = {
        "protocols": protocols,
        "experiments": experiments,
        "artefacts": {**_tables(list(experiments), bounded), **figures},
        "claims": [],
        "seconds": _seconds(main, experiments, origins),
        "readings": Readings(factors=readings, experiments=origins, main=main),
    }
    return main.model_copy(update=found)


def _first_alike(factor: Factor, reading: Reading) -> str:
    """Return the first alternative of a factor that has the fits of another."""

    def key(each: Reading) -> Any:
        change = each.change.model_copy(update={"in_place": {}})
        return change, each.experiments, each.kind

    alike = (k for k, v in factor.alternatives.items() if key(v) == key(reading))
    return next(alike)


def _protocol(
    main: Paper, of: str, name: str, reading: Reading
) -> tuple[str, Protocol]:
    """Return the protocol of an experiment under a reading, and its id."""
    usual = main.experiments[of].protocol
    if not reading.change.protocol:
        return usual, main.protocols[usual]
    made = f"{usual}@{name}"
    changes = reading.change.protocol
    return made, overlaid(main.protocols[usual], changes, f"protocol {made!r}")


def _origin(
    main: Paper, of: str, name: str, fits: str, protocol: Protocol, reading: Reading
) -> Origin:
    usual = main.protocols[main.experiments[of].protocol].repeats
    if protocol.repeats % usual:
        raise ConfigError(
            f"reading {fits!r} has {protocol.repeats} repeats, the main protocol "
            f"{usual}: take a multiple, for claims that name repeats name as many "
            "times more; experiments say where fewer are run"
        )
    return Origin(
        of=of,
        reading=name,
        fits=fits,
        is_whole=_is_whole(reading),
        times=protocol.repeats // usual,
        changes=reading.only or _changed(reading),
        only=reading.only,
        in_place=reading.change.in_place,
        sizes=reading.change.sizes,
    )


def _is_whole(reading: Reading) -> bool:
    return bool(reading.change.model_fields_set - {"methods", "in_place"})


def _changed(reading: Reading) -> list[str]:
    """Return the methods whose settings a reading changes."""
    return list(dict.fromkeys(m for each in reading.change.methods for m in each.of))


def _experiment(
    main: Paper, of: str, name: str, protocol: str, settings: Protocol, reading: Reading
) -> Experiment:
    """Return an experiment under a reading.

    Its methods are those that the reading names, or all but controls; if only methods
    change, these alone are run.
    """
    base, own = main.experiments[of], reading.experiments[of]
    concerned = _changed(reading)
    if _is_whole(reading):
        methods = [entry.method for entry in base.methods]
        concerned = [m for m in methods if not main.methods[m].is_control]
    wanted = own.methods or concerned
    entries = {entry.method: entry for entry in base.methods}
    present = [_entry(main, entries[m], reading) for m in wanted if m in entries]
    if not present:
        raise ConfigError(
            f"experiment {of!r} has none of the methods {', '.join(wanted)} that "
            f"reading {name!r} changes: leave it out of its experiments"
        )
    counts = [count for count in (own.repeats, base.repeats) if count is not None]
    repeats = min([*counts, settings.repeats]) if counts else None
    under = {"protocol": protocol, "repeats": repeats, "methods": present}
    return _under(base, reading).model_copy(update=under)


def _under(base: Experiment, reading: Reading) -> Experiment:
    """Return an experiment with the title, data and metrics of a reading."""
    title, change = f"{base.title}: {reading.label}", reading.change
    if reading.kind in USES_TEST_DATA:
        title += " (uses test data)"
    overlay = dict.fromkeys(("tiers", "record_path", "arrays")) | change.given(
        but={"datasets", "protocol", "methods", "in_place", "sizes"}
    )
    if data := change.datasets:
        name, options = data.name or base.datasets.name, data.options
        # Options that are given with another data set are all of its own.
        if name == base.datasets.name or not options:
            options = {**base.datasets.options, **options}
        overlay["datasets"] = {"name": name, "options": Whole(options)}
    made = overlaid(base, {"title": title, **overlay}, f"experiment {base.title!r}")
    if made.select_by not in made.metrics:
        made = made.model_copy(update={"select_by": None})
    return made


def _entry(main: Paper, entry: MethodEntry, reading: Reading) -> MethodEntry:
    """Return the entry of a method with the settings that a reading gives it."""
    configured = settings = main.methods[entry.method]
    for each in reading.change.methods:
        if entry.method in each.of:
            keys = {k: getattr(each, k) for k in each.model_fields_set - {"of", "hold"}}
            settings = _with_settings(settings, keys)
            if each.hold is not None:
                entry = entry.model_copy(update={"hold": each.hold})
    if settings != configured:
        entry = entry.model_copy(update={"settings": settings})
    return entry


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


def _seconds(
    main: Paper, experiments: Mapping[str, Experiment], origins: Mapping[str, Origin]
) -> dict[str, float]:
    """Return of each method what it took in the main experiment."""
    found = {}
    for name, experiment in experiments.items():
        of = origins[name].of
        before = main.experiments[of].variants
        for first, second in zip(before, experiment.variants, strict=True):
            for entry in experiment.methods:
                known = main.seconds.get(f"{of}/{first.id}/{entry.method}")
                if known is not None:
                    found[f"{name}/{second.id}/{entry.method}"] = known
    return found


def _tables(experiments: list[str], bounded: Iterable[str]) -> dict[str, Artefact]:
    """Return the table of reach, and that of upper bounds if there are any."""
    tables: dict[str, Artefact] = {
        "reach": ReadingsTable(
            layout="reach",
            title="Readings of the protocol, and what comes within reach (ours)",
            experiments=experiments,
        )
    }
    if bounds := [name for name in dict.fromkeys(bounded) if name in experiments]:
        tables["bounds"] = ReadingsTable(
            layout="bounds",
            title="Printed numbers beside an upper bound (ours)",
            experiments=bounds,
        )
    return tables
