"""Names in a paper's files, looked up once, when these are loaded.

Experiments, methods, metrics, columns of the scores, published numbers and readings are
known from the files themselves. Names that only code knows are looked up by
:mod:`mtmkl_suite.run.checks`.
"""

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.config.models import (
    Artefact,
    Comparison,
    MethodTable,
    Paper,
    Ranking,
    RankTests,
    Reading,
    ReadingsFile,
    Selector,
    Table,
)
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.metrics import metric_behind

COLUMN_METRICS = ("n_iter", "gap", "fit_seconds", "at_grid_edge")
"""Columns of a scores table that can be asked for as if they were metrics."""

COLUMNS = (
    "experiment", "dataset", "method", "n_tasks", "subset", "train_size", "repeat",
    "fold", "setting", "task", "metric", "params", "at_grid_edge", "train_unit",
)  # fmt: skip
"""Columns of a scores table that a selector can name."""

NAMES = dict.fromkeys(("artefact", "id", "section", "row", "column"), str)
"""Columns of records and published tables that are names, also where all look like
numbers."""

_TYPES: dict[str, type] = {
    **dict.fromkeys(("dataset", "experiment", "method", "metric"), str),
    **dict.fromkeys(("n_tasks", "repeat", "train_size"), int),
}
"""Columns whose values are looked up, and the type of these."""

_VALIDATION = "validation_"  # before the name of a metric on validation rows
_WORDS = {
    "dataset": "data set",
    "n_tasks": "number of tasks",
    "train_size": "train size",
}
_SHOWN = 3  # more experiments are not listed in a message
_AXES = ("n_tasks", "subset", "train_size", "repeat", "fold")
_PARTS = {"metric": "metric", "control": "method", "baselines": "method"}
"""Arguments of tests, and the columns whose values they are."""


@contextmanager
def naming_file(folder: str, file: str = "") -> Iterator[None]:
    """Name the file of what is wrong: by default that of the key it begins with."""
    try:
        yield
    except ConfigError as error:
        for name in [file] if file else re.findall(r"^key '(\w+)", str(error)):
            raise ConfigError(f"{folder}/{name}.yaml: {error}") from error
        raise


def require(key: str, kind: str, known: Collection[str], *names: str) -> None:
    """Check that names are known."""
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ConfigError(f"key '{key}': {unknown(kind, name, known)}")


class Names:
    """Names in the experiments of a paper, whatever the tier, and in printed tables."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.published = papers[0].published
        self._of: dict[str, list[dict[str, Collection[Any] | None]]] = {}
        for paper in papers:
            for name in paper.experiments:
                self._of.setdefault(name, []).append(_columns(paper, name))
        self._printed: dict[str, set[tuple[str, str]]] = {}
        self.properties = dict.fromkeys(
            each
            for paper in papers
            for artefact in paper.artefacts.values()
            if artefact.comparison
            for row in artefact.comparison.rows.values()
            for each in row.properties
        )

    @property
    def experiments(self) -> list[str]:
        """All experiments."""
        return list(self._of)

    def values(self, column: str, experiments: Iterable[str]) -> list[Any] | None:
        """Return what a column of the scores of experiments holds; None if unknown."""
        if column == "experiment":
            return self.experiments
        parts = [of[column] for name in experiments for of in self._of.get(name, [])]
        if any(part is None for part in parts):
            return None
        return list(dict.fromkeys(value for part in parts for value in part or []))

    def axes(self, experiments: Collection[str]) -> list[str]:
        """Return what can be the axis of a curve: of numbers in the scores."""
        options, parameters = (
            self.values(column, experiments) or [] for column in ("option", "parameter")
        )
        return list(dict.fromkeys([*_AXES, *options, *parameters]))

    def check_value(
        self, key: str, column: str, value: Any, experiments: Collection[str]
    ) -> None:
        """Check a value of a column of the scores of experiments."""
        if column == "setting":
            self._check_setting(key, value, experiments)
        if column not in _TYPES:
            return
        if not isinstance(value, _TYPES[column]) or isinstance(value, bool):
            kind = "a whole number" if _TYPES[column] is int else "text"
            raise ConfigError(f"key '{key}': {value!r} is not {kind}")
        known = self.values(column, experiments)
        if column == "metric":
            value = str(value).removeprefix(_VALIDATION)
            behind = metric_behind(value)
            if value in COLUMN_METRICS or (behind and behind.name in (known or ())):
                return
        if known is not None and value not in known:
            few = 0 < len(experiments) <= _SHOWN
            where = ", ".join(experiments) if few else "the paper"
            kind = f"{_WORDS.get(column, column)} of {where}"
            require(key, kind, list(map(str, known)), value)

    def _check_setting(
        self, key: str, value: Any, experiments: Collection[str]
    ) -> None:
        try:
            setting = json.loads(value) if value else {}
        except (TypeError, ValueError):
            setting = None
        if not isinstance(setting, dict):
            raise ConfigError(
                f"key '{key}': {value!r} is no setting: write \"\" for what was "
                'chosen, or JSON such as {"C": 1.0}'
            )
        known = self.values("parameter", experiments) or []
        require(key, "parameter of the grids", known, *setting)

    def check_selector(
        self, key: str, selector: Selector, beside: Sequence[str]
    ) -> None:
        """Check the columns that a selector names, and their values."""
        names = _experiments_of([selector]) or list(beside)
        for column, value in selector.items():
            require(key, "column", COLUMNS, column)
            for each in _listed(value):
                self.check_value(f"{key}.{column}", column, each, names)

    def check_printed(
        self, key: str, file: str, places: Iterable[tuple[str, str]]
    ) -> None:
        """Check that numbers are in a published file, by their rows and columns."""
        if not self.published.is_dir():
            return  # the experiments can be run without it
        files = sorted(path.name for path in self.published.glob("*.csv"))
        require(f"{key}.file", "file of published numbers", files, file)
        if file not in self._printed:
            self._printed[file] = _places(self.published / file)
        there = self._printed[file]
        for row, column in places:
            rows = sorted({each for each, _ in there})
            require(key, f"row of {file}", rows, row)
            columns = sorted(c for r, c in there if r == row)
            require(key, f"column of {file}", columns, column)


def _columns(paper: Paper, name: str) -> dict[str, Collection[Any] | None]:
    """Return what columns hold; None if data, or a default, decide."""
    experiment = paper.experiments[name]
    protocol = paper.protocols[experiment.protocol]
    sizes = protocol.train_sizes or protocol.train_percent or protocol.train_samples
    n_tasks = [entry.n_tasks for entry in experiment.methods]
    grids = [paper.method_of(entry).grid for entry in experiment.methods]
    return {
        "dataset": [variant.id for variant in experiment.variants],
        "method": [entry.method for entry in experiment.methods],
        "metric": experiment.metrics,
        "repeat": range(experiment.repeats or protocol.repeats),
        "n_tasks": [n for each in n_tasks for n in each] if all(n_tasks) else None,
        "train_size": [sizes] if isinstance(sizes, int) else sizes,
        "parameter": [parameter for grid in grids for parameter in grid],
        "option": [*experiment.datasets.options, *experiment.datasets.vary],
    }


def _places(path: Path) -> set[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        try:
            return {(line["row"], line["column"]) for line in csv.DictReader(file)}
        except KeyError as error:
            raise ConfigError(f"{path} has no column {error}") from error


def _experiments_of(selectors: Iterable[Selector]) -> list[str]:
    named = [e for each in selectors for e in _listed(each.get("experiment", []))]
    return [name for name in named if isinstance(name, str)]


# Experiments, artefacts and claims


def check_experiments(config: Paper) -> None:
    """Check that experiments name protocols and methods."""
    for name, experiment in config.experiments.items():
        key = f"experiments.{name}"
        require(f"{key}.protocol", "protocol", config.protocols, experiment.protocol)
        for position, entry in enumerate(experiment.methods):
            place = f"{key}.methods.{position}.method"
            require(place, "method", config.methods, entry.method)


def check_names(config: Paper, known: Sequence[Paper]) -> None:
    """Check that artefacts and claims name what some papers' experiments have."""
    names, artefacts = Names(known), config.artefacts.values()
    for name, artefact in config.artefacts.items():
        _check_artefact(f"artefacts.{name}", artefact, names)
    steps = sorted({step for artefact in artefacts for step in artefact.steps})
    if main := config.main_claim:
        n_settings = {claim.id: len(claim.settings) for claim in config.claims}
        require("main_claim.claim", "claim", n_settings, main.claim)
        require("main_claim.artefact", "artefact", config.artefacts, main.artefact)
        n, n_rows, n_printed = n_settings[main.claim], len(main.rows), len(main.printed)
        if n % n_rows or n_printed not in (0, n_rows):
            raise ConfigError(
                f"key 'main_claim.rows': {n_rows} labels cannot share {n} settings and "
                f"{n_printed} printed effects"
            )
    seen = set()
    for claim in config.claims:
        key = f"claims.{claim.id}"
        if claim.id in seen:
            raise ConfigError(f"key {key!r} comes twice")
        seen.add(claim.id)
        require(f"{key}.evidence", "artefact", config.artefacts, *claim.evidence)
        for number, tested in enumerate(claim.settings):
            place, args = f"{key}.settings.{number}", tested.args
            if "step" in args:
                kind = "step of an artefact"
                require(f"{place}.args.step", kind, steps, args["step"])
            _check_test(f"{place}.args", args, names)
            own = {"experiment": args["experiment"], **tested.over_tasks}
            _check_test(f"{place}.over_tasks", own, names)


def _check_artefact(key: str, artefact: Artefact, names: Names) -> None:
    require(f"{key}.experiment", "experiment", names.experiments, *artefact.shown)
    if isinstance(artefact, Table):
        _check_table(key, artefact, names)
    if quoted := artefact.quoted:
        places = [(cell.row, cell.column) for cell in quoted.cells]
        names.check_printed(f"{key}.quoted", quoted.file, places)
        for number, cell in enumerate(quoted.cells):
            place = f"{key}.quoted.cells.{number}.where"
            names.check_selector(place, cell.where, names.experiments)
    comparison = artefact.comparison
    if comparison is not None:
        _check_comparison(f"{key}.comparison", comparison, names)
    if isinstance(artefact, Ranking):
        places = [
            (f"{label}, {block}", column)
            for label, row in artefact.comparison.rows.items()
            for block in row.blocks or artefact.comparison.blocks
            for column in artefact.comparison.columns
        ]
        names.check_printed(key, artefact.file, places)
    if isinstance(artefact, RankTests):
        names.check_printed(key, artefact.file, [])
    if isinstance(artefact, MethodTable):
        columns, rows = artefact.comparison.columns, artefact.comparison.rows
        require(f"{key}.baselines", "column", columns, *artefact.baselines)
        require(f"{key}.proposed", "column", columns, *artefact.proposed)
        for entry in artefact.left_out:
            require(f"{key}.left_out.methods", "column", columns, *entry.methods)
            require(f"{key}.left_out.rows", "row", rows, *(entry.rows or []))
        for number, setting in enumerate(artefact.settings):
            place, blocks = f"{key}.settings.{number}", artefact.comparison.blocks
            require(f"{place}.block", "block", blocks, setting.block)
            kind = "property of a data set"
            require(f"{place}.property", kind, names.properties, setting.property)


def _check_table(key: str, table: Table, names: Names) -> None:
    columns, rows = (
        {
            f"{key}.{part}.{label}": selector
            for part in parts
            for label, selector in getattr(table, part).items()
        }
        for parts in (("columns", "extra_columns"), ("rows", "extra_rows"))
    )
    for mine, others in ((columns, rows), (rows, columns)):
        beside = _experiments_of(others.values())
        if len(beside) < max(len(others), 1):
            beside.append(table.experiment)
        for place, selector in mine.items():
            names.check_selector(place, selector, beside)
    printed = [(row, column) for row in table.rows for column in table.columns]
    names.check_printed(key, table.file, printed)


def _check_comparison(key: str, comparison: Comparison, names: Names) -> None:
    blocks, columns = comparison.blocks, comparison.columns
    require(f"{key}.control", "column", columns, comparison.control)
    require(f"{key}.pairs", "column", columns, *comparison.pairs)
    require(f"{key}.main", "block", blocks, *filter(None, [comparison.main]))
    for label, row in comparison.rows.items():
        place, metrics = f"{key}.rows.{label}", [("metric", row.metric)]
        metrics += [("readings", metric) for metric in row.readings.values()]
        metrics += [("beside", metric) for metric in row.beside.values()]
        require(f"{place}.blocks", "block", blocks, *(row.blocks or []))
        for part, metric in metrics:
            names.check_value(f"{place}.{part}", "metric", metric, [row.experiment])
    # A column may gather methods of data sets that this tier leaves out.
    for label, methods in comparison.methods.items():
        for method in methods:
            place = f"{key}.columns.{label}"
            names.check_value(place, "method", method, names.experiments)
    of = [row.experiment for row in comparison.rows.values()]
    for label, selector in blocks.items():
        names.check_selector(f"{key}.blocks.{label}", selector, of)


def _check_test(key: str, args: Mapping[str, Any], names: Names) -> None:
    sides = [
        (f"{key}.{name}", side)
        for name, value in args.items()
        for side in _listed(value)
        if isinstance(side, dict)
    ]
    of = [args["experiment"], *_experiments_of(side for _, side in sides)]
    require(f"{key}.experiment", "experiment", names.experiments, *of)
    if "step" in args:
        return  # of the table of a step, whose columns only the step knows
    for place, side in sides:
        names.check_selector(place, side, of[:1])
    of = list(dict.fromkeys(of))
    for part, column in _PARTS.items():
        for name in _listed(args.get(part, [])):
            names.check_value(f"{key}.{part}", column, name, of)
    if "axis" in args:
        require(f"{key}.axis", "axis", names.axes(of), args["axis"])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# Readings


def check_readings(document: ReadingsFile, mains: Sequence[Paper]) -> None:
    """Check that the readings of a paper, read for both tiers, name what exists."""
    names, methods, readings = Names(mains), mains[0].methods, document.readings
    artefacts = {
        "reach",
        "bounds",
        *(name for main in mains for name in main.artefacts),
    }
    for factor, settings in readings.items():
        for alternative, reading in settings.alternatives.items():
            key = f"readings.{factor}.alternatives.{alternative}"
            _check_reading(key, reading, methods, names)
    made = [
        f"{experiment}@{factor}={alternative}"
        for factor, settings in readings.items()
        for alternative, reading in settings.alternatives.items()
        for experiment in reading.experiments
    ]
    for name, figure in document.figures.items():
        key = f"figures.{name}"
        if name in artefacts:
            raise ConfigError(f"key {key!r}: there is an artefact of this name")
        require(f"{key}.experiments", "experiment", made, *figure.experiments)


def _check_reading(
    key: str, reading: Reading, methods: Collection[str], names: Names
) -> None:
    """Check what a reading is of, and the names and metrics of its change."""
    change, of = reading.change, reading.experiments
    require(f"{key}.experiments", "experiment", names.experiments, *of)
    require(f"{key}.only", "method", methods, *reading.only)
    for experiment, own in of.items():
        place = f"{key}.experiments.{experiment}"
        require(f"{place}.methods", "method", methods, *own.methods)
        if change.is_fitted:
            continue
        if own.methods or own.repeats:
            raise ConfigError(
                f"key {place!r}: a change of in_place alone takes the main scores of "
                "all methods; leave methods and repeats out"
            )
        metrics = names.values("metric", [experiment]) or []
        named = [*change.in_place, *change.in_place.values()]
        require(f"{key}.change.in_place", "metric", metrics, *named)
    known = names.values("metric", of) or []
    measured = [*change.metrics, *known]
    if change.select_by is not None:
        require(f"{key}.change.select_by", "metric", measured, change.select_by)
    require(f"{key}.change.in_place", "metric", known, *change.in_place)
    # A paper's own way to choose may measure more.
    if not any(":" in (entry.selection or "") for entry in change.methods):
        stand_ins = change.in_place.values()
        require(f"{key}.change.in_place", "metric", measured, *stand_ins)
    for position, entry in enumerate(change.methods):
        require(f"{key}.change.methods.{position}.of", "method", methods, *entry.of)
