"""Selectors of scores in a paper's files, asked for what its experiments have."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.config.models import (
    Artefact,
    Comparison,
    ComparisonRow,
    Figure,
    MethodComparison,
    MethodTable,
    MetricPanel,
    Paper,
    Selector,
    Selectors,
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

_VALIDATION = "validation_"  # before the name of a metric on validation rows
_WORDS = {
    "dataset": "data set",
    "n_tasks": "number of tasks",
    "train_size": "train size",
}
_SHOWN = 3  # more experiments are not listed in a message
_AXES = ("n_tasks", "subset", "train_size", "repeat", "fold")
_DIRECTIONS = {
    "trend": ("increasing", "decreasing"),
    "monotone": ("nonincreasing", "nondecreasing"),
}
_SIDES = ("lower", "higher", "first", "second", "where", "minus", "choose")


class Experiments:
    """What the experiments of a paper have, whatever the tier."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._papers = papers

    @property
    def names(self) -> list[str]:
        """All experiments."""
        return list(
            dict.fromkeys(e for paper in self._papers for e in paper.experiments)
        )

    def values(self, column: str, names: Collection[str]) -> list[Any] | None:
        """Return what a column of the scores of experiments holds; None if unknown."""
        if column == "experiment":
            return self.names
        found: list[Any] = []
        for paper, name in self._each(names):
            part = _values(column, paper, name)
            if part is None:
                return None
            found += part
        return list(dict.fromkeys(found))

    def axes(self, names: Collection[str]) -> list[str]:
        """Return what can be the axis of a curve: of numbers in the scores."""
        datasets = [p.experiments[name].datasets for p, name in self._each(names)]
        options = [o for each in datasets for o in (*each.options, *each.vary)]
        return list(dict.fromkeys([*_AXES, *options, *self.parameters(names)]))

    def parameters(self, names: Collection[str]) -> list[str]:
        """Return the parameters in the grids of experiments."""
        return list(
            dict.fromkeys(
                parameter
                for paper, name in self._each(names)
                for entry in paper.experiments[name].methods
                for parameter in paper.method_of(entry).grid
            )
        )

    def _each(self, names: Collection[str]) -> Iterator[tuple[Paper, str]]:
        for paper in self._papers:
            yield from ((paper, name) for name in names if name in paper.experiments)


def _values(column: str, paper: Paper, name: str) -> list[Any] | None:
    """Return what a column holds; None if data, or a default, decide."""
    experiment = paper.experiments[name]
    match column:
        case "dataset":
            return [variant.id for variant in experiment.variants]
        case "method":
            return [entry.method for entry in experiment.methods]
        case "metric":
            return list(experiment.metrics)
        case "repeat":
            return list(range(paper.n_repeats(name)))
        case "n_tasks":
            numbers = [entry.n_tasks for entry in experiment.methods]
            return [n for each in numbers for n in each] if all(numbers) else None
    protocol = paper.protocols[experiment.protocol]
    sizes = protocol.train_sizes or protocol.train_percent or protocol.train_samples
    return [sizes] if isinstance(sizes, int) else sizes


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


def check_selectors(config: Paper, known: Sequence[Paper]) -> None:
    """Check that tables, quoted numbers and claims select what experiments have."""
    experiments = Experiments(known)
    found = (
        each
        for paper in known
        for artefact in paper.artefacts.values()
        if isinstance(artefact.comparison, MethodComparison)
        for row in artefact.comparison.rows.values()
        for each in row.properties
    )
    properties = list(dict.fromkeys(found))
    for name, artefact in config.artefacts.items():
        _check_artefact(f"artefacts.{name}", artefact, experiments)
        settings = artefact.settings if isinstance(artefact, MethodTable) else []
        for number, setting in enumerate(settings):
            key = f"artefacts.{name}.settings.{number}.property"
            require(key, "property of a data set", properties, setting.property)
    for claim in config.claims:
        key = f"claims.{claim.id}"
        _check_claim(f"{key}.args", claim.test, claim.args, experiments)
        own = {"experiment": claim.args["experiment"], **claim.over_tasks}
        _check_claim(f"{key}.over_tasks", claim.test, own, experiments)


def _check_artefact(key: str, artefact: Artefact, experiments: Experiments) -> None:
    if isinstance(artefact, Table):
        columns = _selectors(key, artefact, "columns", "extra_columns")
        rows = _selectors(key, artefact, "rows", "extra_rows")
        for mine, others in ((columns, rows), (rows, columns)):
            beside = _experiments_of(others.values())
            if len(beside) < max(len(others), 1):
                beside.append(artefact.experiment)
            for place, selector in mine.items():
                check_selector(place, selector, beside, experiments)
    for number, cell in enumerate(artefact.quoted.cells if artefact.quoted else []):
        place = f"{key}.quoted.cells.{number}.where"
        check_selector(place, cell.where, experiments.names, experiments)
    if artefact.comparison is not None:
        _check_comparison(f"{key}.comparison", artefact.comparison, experiments)
    panels = artefact.panels if isinstance(artefact, Figure) else []
    for number, panel in enumerate(panels):
        _check_panel(f"{key}.panels.{number}", panel, experiments)


def _selectors(key: str, table: Table, *parts: str) -> Selectors:
    return {
        f"{key}.{part}.{label}": selector
        for part in parts
        for label, selector in getattr(table, part).items()
    }


def _check_panel(key: str, panel: MetricPanel, experiments: Experiments) -> None:
    names = _experiments_of([{"experiment": panel.experiment}])
    for name in names:
        require(f"{key}.experiment", "experiment", experiments.names, name)
    _check_value(f"{key}.metric", "metric", panel.metric, names, experiments)
    require(f"{key}.axis", "axis", experiments.axes(names), panel.axis)
    for number, curve in enumerate(panel.curves):
        place = f"{key}.curves.{number}"
        check_selector(
            place, {"method": curve.method, **curve.where}, names, experiments
        )
        like, everywhere = curve.like or curve.method, experiments.names
        _check_value(f"{place}.like", "method", like, everywhere, experiments)


def _check_comparison(
    key: str, comparison: Comparison | MethodComparison, experiments: Experiments
) -> None:
    for label, row in comparison.rows.items():
        place, names = f"{key}.rows.{label}", [row.experiment]
        metrics = [("metric", row.metric)]
        if isinstance(row, ComparisonRow):
            metrics += [("readings", metric) for metric in row.readings.values()]
            metrics += [("beside", metric) for metric in row.beside.values()]
            require(f"{place}.blocks", "block", comparison.blocks, *(row.blocks or []))
        for part, metric in metrics:
            _check_value(f"{place}.{part}", "metric", metric, names, experiments)
    # A column may gather methods of data sets that this tier leaves out.
    for label, methods in comparison.columns.items():
        for method in [methods] if isinstance(methods, str) else methods:
            place = f"{key}.columns.{label}"
            _check_value(place, "method", method, experiments.names, experiments)
    names = [row.experiment for row in comparison.rows.values()]
    for label, selector in comparison.blocks.items():
        check_selector(f"{key}.blocks.{label}", selector, names, experiments)


def _experiments_of(selectors: Iterable[Selector]) -> list[str]:
    named = [each["experiment"] for each in selectors if "experiment" in each]
    return [e for n in named for e in (n if isinstance(n, list) else [n])]


def check_selector(
    key: str, selector: Selector, beside: Sequence[str], experiments: Experiments
) -> None:
    """Check the columns that a selector names, and their values."""
    names = _experiments_of([selector]) or list(beside)
    for column, value in selector.items():
        require(key, "column", COLUMNS, column)
        for each in value if isinstance(value, list) else [value]:
            _check_value(f"{key}.{column}", column, each, names, experiments)


def _check_value(
    key: str, column: str, value: Any, names: Collection[str], experiments: Experiments
) -> None:
    if column == "setting":
        _check_setting(key, value, names, experiments)
    if column not in _CHECKED:
        return
    wanted = _CHECKED[column]
    if not isinstance(value, wanted) or isinstance(value, bool):
        kind = "a whole number" if wanted is int else "text"
        raise ConfigError(f"key '{key}': {value!r} is not {kind}")
    known = experiments.values(column, names)
    if column == "metric":
        text = str(value).removeprefix(_VALIDATION)
        behind = metric_behind(text)
        if text in COLUMN_METRICS or (behind and behind.name in (known or ())):
            return
        value = text
    if known is not None and value not in known:
        where = ", ".join(names) if 0 < len(names) <= _SHOWN else "the paper"
        kind = f"{_WORDS.get(column, column)} of {where}"
        require(key, kind, list(map(str, known)), value)


_CHECKED = {
    "dataset": str,
    "experiment": str,
    "method": str,
    "metric": str,
    "n_tasks": int,
    "repeat": int,
    "train_size": int,
}


def _check_setting(
    key: str, value: Any, names: Collection[str], experiments: Experiments
) -> None:
    try:
        setting = json.loads(value) if value else {}
    except (TypeError, ValueError):
        setting = None
    if not isinstance(setting, dict):
        raise ConfigError(
            f"key '{key}': {value!r} is no setting: write \"\" for what was chosen, or "
            'JSON such as {"C": 1.0}'
        )
    require(key, "parameter of the grids", experiments.parameters(names), *setting)


def _check_claim(
    key: str, test: str, args: Mapping[str, Any], experiments: Experiments
) -> None:
    if "step" in args:
        return  # of the table of a step, whose columns only the step knows
    names = [args["experiment"]]
    for side in _SIDES:
        if isinstance(args.get(side), Mapping):
            check_selector(f"{key}.{side}", args[side], names, experiments)
            names += _experiments_of([args[side]])
    names = list(dict.fromkeys(names))
    if "metric" in args:
        _check_value(f"{key}.metric", "metric", args["metric"], names, experiments)
    if "axis" in args:
        require(f"{key}.axis", "axis", experiments.axes(names), args["axis"])
    rows = args.get("rows", [])
    if not isinstance(rows, list) or not all(isinstance(r, Mapping) for r in rows):
        raise ConfigError(f"key '{key}.rows': {rows!r} is no list of mappings")
    for number, row in enumerate(rows):
        check_selector(f"{key}.rows.{number}", row, names, experiments)
    names = list(dict.fromkeys([*names, *_experiments_of(rows)]))
    for part in ("control", "rivals"):
        methods = args.get(part, [])
        for method in [methods] if isinstance(methods, str) else methods:
            _check_value(f"{key}.{part}", "method", method, names, experiments)
    wanted = _DIRECTIONS.get(test)
    if wanted and args.get("direction", wanted[0]) not in wanted:
        text = f"{args['direction']!r} is not {' or '.join(wanted)}"
        raise ConfigError(f"key '{key}.direction': {text}")
    if "margin" in args and not args["margin"] > 0:
        raise ConfigError(f"key '{key}.margin': {args['margin']} is not above 0")
