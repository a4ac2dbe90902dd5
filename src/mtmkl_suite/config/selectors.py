"""Selectors of scores in a paper's files, asked for what its experiments have."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from mtmkl.documents import ConfigError, unknown
from mtmkl_suite.run.plan import method_of, n_repeats, variants

COLUMN_METRICS = ("n_iter", "gap", "fit_seconds", "at_grid_edge")
"""Columns of a scores table that can be asked for as if they were metrics."""

_RECORDED = {
    "auc": r"auc_tasks|auc_constant",
    "roc": r"true_positive_rate_.+",
    "row_norms": r"row_norm_(\d+|top5)",
}
"""What a metric records beside its own name, or in place of it."""

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
_SIZES = ("train_sizes", "train_percent", "train_samples")
_AXES = ("n_tasks", "subset", "train_size", "repeat", "fold")
_DIRECTIONS = {
    "trend": ("increasing", "decreasing"),
    "monotone": ("nonincreasing", "nondecreasing"),
}
_SIDES = ("lower", "higher", "first", "second", "where", "minus", "choose")

Wrong = tuple[str, str, str]
"""File without its ending, key, and what is wrong with its value."""


class Experiments:
    """What the experiments of a paper have, whatever the tier."""

    def __init__(self, configs: Sequence[Mapping[str, Any]]) -> None:
        self._configs = configs

    def values(self, column: str, names: Collection[str]) -> list[Any] | None:
        """Return what a column of the scores of experiments holds; None if unknown."""
        finders: dict[str, Callable[..., list[Any] | None]] = {
            "dataset": _datasets,
            "method": _methods,
            "metric": _metrics,
            "n_tasks": _n_tasks,
            "repeat": _repeats,
            "train_size": _train_sizes,
        }
        if column == "experiment":
            return list(
                dict.fromkeys(e for c in self._configs for e in c[f"{column}s"])
            )
        found: list[Any] = []
        for config, name in self._each(names):
            part = finders[column](config, name)
            if part is None:
                return None
            found += part
        return list(dict.fromkeys(found))

    def axes(self, names: Collection[str]) -> list[str]:
        """Return what can be the axis of a curve: of numbers in the scores."""
        found = [*_AXES]
        for config, name in self._each(names):
            datasets = config["experiments"][name]["datasets"]
            found += [*datasets.get("options", {}), *datasets.get("vary", {})]
            found += _parameters(config, name)
        return list(dict.fromkeys(found))

    def parameters(self, names: Collection[str]) -> list[str]:
        """Return the parameters in the grids of experiments."""
        found = [
            p for config, name in self._each(names) for p in _parameters(config, name)
        ]
        return list(dict.fromkeys(found))

    def _each(self, names: Collection[str]) -> Iterator[tuple[Mapping[str, Any], str]]:
        for config in self._configs:
            yield from (
                (config, name) for name in names if name in config["experiments"]
            )


def _datasets(config: Mapping[str, Any], name: str) -> list[Any]:
    return [variant.id for variant in variants(config["experiments"][name])]


def _methods(config: Mapping[str, Any], name: str) -> list[Any]:
    return [entry["method"] for entry in config["experiments"][name]["methods"]]


def _metrics(config: Mapping[str, Any], name: str) -> list[Any]:
    return list(config["experiments"][name]["metrics"])


def _n_tasks(config: Mapping[str, Any], name: str) -> list[Any] | None:
    """Return the numbers of tasks; None where a method learns all there are."""
    found = [e.get("n_tasks") for e in config["experiments"][name]["methods"]]
    return None if None in found else [n for numbers in found for n in numbers]


def _repeats(config: Mapping[str, Any], name: str) -> list[Any]:
    return list(range(n_repeats(config, name)))


def _train_sizes(config: Mapping[str, Any], name: str) -> list[Any] | None:
    """Return the sizes that a protocol states; None if the data or a default decide."""
    protocol = config["protocols"][config["experiments"][name]["protocol"]]
    stated = [protocol[key] for key in _SIZES if key in protocol]
    if not stated:
        return None
    return list(stated[0]) if isinstance(stated[0], list) else stated[:1]


def _parameters(config: Mapping[str, Any], name: str) -> list[str]:
    entries = config["experiments"][name]["methods"]
    return [p for e in entries for p in method_of(config, e).get("grid", {})]


def check_selectors(
    config: Mapping[str, Any], known: Sequence[Mapping[str, Any]], folder: str
) -> None:
    """Check that tables, quoted numbers and claims select what experiments have."""
    try:
        experiments = Experiments(known)
        for name, artefact in config["artefacts"].items():
            _check_artefact(f"artefacts.{name}", artefact, experiments)
            others = [a for each in known for a in each["artefacts"].values()]
            _check_settings(f"artefacts.{name}.settings", artefact, others)
        for claim in config["claims"]:
            _check_claim(f"claims.{claim['id']}.args", claim, experiments)
    except ConfigError as error:
        file = str(error).removeprefix("key '").partition(".")[0]
        raise ConfigError(f"{folder}/{file}.yaml: {error}") from error


def _check_artefact(
    key: str, artefact: Mapping[str, Any], experiments: Experiments
) -> None:
    if "columns" in artefact:
        sides = [
            {
                f"{key}.{part}.{label}": selector
                for part in parts
                for label, selector in artefact.get(part, {}).items()
            }
            for parts in (("columns", "extra_columns"), ("rows", "extra_rows"))
        ]
        for mine, others in (sides, sides[::-1]):
            beside = _experiments_of(others.values())
            if len(beside) < max(len(others), 1):
                beside.append(artefact["experiment"])
            for place, selector in mine.items():
                check_selector(place, selector, beside, experiments)
    for number, cell in enumerate(artefact.get("quoted", {}).get("cells", [])):
        place = f"{key}.quoted.cells.{number}.where"
        everywhere = experiments.values("experiment", ()) or []
        check_selector(place, cell["where"], everywhere, experiments)
    if "comparison" in artefact:
        _check_comparison(f"{key}.comparison", artefact["comparison"], experiments)


def _check_comparison(
    key: str, comparison: Mapping[str, Any], experiments: Experiments
) -> None:
    for label, row in comparison["rows"].items():
        place, names = f"{key}.rows.{label}", [row["experiment"]]
        for part, metrics in (
            ("metric", [row["metric"]]),
            *((p, row.get(p, {}).values()) for p in ("readings", "beside")),
        ):
            for metric in metrics:
                _check_value(f"{place}.{part}", "metric", metric, names, experiments)
        for block in row.get("blocks", []):
            if block not in comparison["blocks"]:
                text = unknown("block", block, comparison["blocks"])
                raise ConfigError(f"key '{place}.blocks': {text}")
    names = _experiments_of(comparison["rows"].values())
    # A column may gather methods of data sets that this tier leaves out.
    everywhere = experiments.values("experiment", ()) or []
    for label, methods in comparison["columns"].items():
        for method in [methods] if isinstance(methods, str) else methods:
            place = f"{key}.columns.{label}"
            _check_value(place, "method", method, everywhere, experiments)
    for label, selector in comparison["blocks"].items():
        check_selector(f"{key}.blocks.{label}", selector, names, experiments)


def _check_settings(
    key: str, artefact: Mapping[str, Any], others: Sequence[Mapping[str, Any]]
) -> None:
    """Check that the settings of a decision name properties that data sets have."""
    known = dict.fromkeys(
        each
        for other in others
        for row in other.get("comparison", {}).get("rows", {}).values()
        for each in row.get("properties", [])
    )
    for number, setting in enumerate(artefact.get("settings", [])):
        if setting["property"] not in known:
            text = unknown("property of a data set", setting["property"], known)
            raise ConfigError(f"key '{key}.{number}.property': {text}")


def _experiments_of(selectors: Collection[Mapping[str, Any]]) -> list[str]:
    named = [each["experiment"] for each in selectors if "experiment" in each]
    return [e for n in named for e in (n if isinstance(n, list) else [n])]


def check_selector(
    key: str,
    selector: Mapping[str, Any],
    beside: Sequence[str],
    experiments: Experiments,
) -> None:
    """Check the columns that a selector names, and their values."""
    names = _experiments_of([selector]) or list(beside)
    for column, value in selector.items():
        if column not in COLUMNS:
            raise ConfigError(f"key '{key}': {unknown('column', column, COLUMNS)}")
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
        patterns = (_RECORDED[each] for each in known or () if each in _RECORDED)
        if text in COLUMN_METRICS or any(re.fullmatch(p, text) for p in patterns):
            return
        value = text
    if known is not None and value not in known:
        where = ", ".join(names) if 0 < len(names) <= _SHOWN else "the paper"
        kind = _WORDS.get(column, column)
        known = list(map(str, known))
        raise ConfigError(f"key '{key}': {unknown(f'{kind} of {where}', value, known)}")


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
    known = experiments.parameters(names)
    for parameter in setting:
        if parameter not in known:
            text = unknown("parameter of the grids", parameter, known)
            raise ConfigError(f"key '{key}': {text}")


def _check_claim(key: str, claim: Mapping[str, Any], experiments: Experiments) -> None:
    args, test = claim["args"], claim["test"]
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
    if "axis" in args and args["axis"] not in experiments.axes(names):
        text = unknown("axis", args["axis"], experiments.axes(names))
        raise ConfigError(f"key '{key}.axis': {text}")
    wanted = _DIRECTIONS.get(test)
    if wanted and args.get("direction", wanted[0]) not in wanted:
        text = f"{args['direction']!r} is not {' or '.join(wanted)}"
        raise ConfigError(f"key '{key}.direction': {text}")
    if "margin" in args and not args["margin"] > 0:
        raise ConfigError(f"key '{key}.margin': {args['margin']} is not above 0")
