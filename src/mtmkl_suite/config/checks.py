"""What only the code can tell of a paper's configuration, asked before any work."""

import ast
import importlib.util
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mtmkl.documents import ConfigError, unknown
from mtmkl_suite.run.plan import method_of, n_repeats, variants


def check_settings(config: Mapping[str, Any]) -> None:
    """Check data set options, methods and their parameters.

    The parameters are checked by the methods themselves: each is constructed with its
    fixed parameters and every value of its grid.
    """
    try:
        for name, method in config["methods"].items():
            _check_method(f"methods.{name}", method)
        for name in config["experiments"]:
            _check_experiment(name, config)
    except ConfigError as error:
        folder = Path(config["published"]).parent.name
        file = "readings" if "readings" in config else "experiments"
        raise ConfigError(f"{folder}/{file}.yaml: {error}") from error


def check_functions(config: Mapping[str, Any]) -> None:
    """Check that there are functions that draw the figures and compute the steps."""
    if "readings" in config:
        return  # drawn by what the file of readings says
    package = f"mtmkl_suite.papers.{config['paper']['id']}"
    source = f"{Path(config['published']).parent.name}/artefacts.yaml"
    for name, artefact in config["artefacts"].items():
        drawn = [name] if artefact["kind"] == "figure" else []
        for module, key, functions in (
            ("figures", "", drawn),
            ("steps", ".steps", artefact.get("steps", [])),
        ):
            known = _names_in(f"{package}.{module}") if functions else []
            for function in functions:
                if function not in known:
                    text = unknown(f"function of {package}.{module}", function, known)
                    raise ConfigError(f"{source}: key 'artefacts.{name}{key}': {text}")


@cache
def _names_in(module: str) -> list[str]:
    """Return the public names of a module without importing it; none if it is not."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return []
    if spec is None or spec.origin is None:
        return []
    names = []
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
    return [name for name in names if not name.startswith("_")]


def _check_experiment(name: str, config: Mapping[str, Any]) -> None:
    key = f"experiments.{name}"
    experiment = config["experiments"][name]
    repeats = n_repeats(config, name)
    _check_datasets(f"{key}.datasets", experiment["datasets"])
    _check_metrics(name, experiment)
    selections = {
        entry["method"]: method_of(config, entry)["selection"]
        for entry in experiment["methods"]
    }
    _check_criterion(name, experiment, selections)
    kind = config["protocols"][experiment["protocol"]]["kind"]
    seen = set()
    for position, entry in enumerate(experiment["methods"]):
        place, method = f"{key}.methods.{position}", entry["method"]
        if method in seen:
            raise ConfigError(
                f"key '{place}.method': {method!r} stands here twice; name each "
                "method once, with all its n_tasks"
            )
        seen.add(method)
        spec = method_of(config, entry)
        if "settings" in entry:
            _check_method(f"{place}.{method}", spec)
        _check_entry(place, entry, spec.get("grid", {}), repeats)
        if experiment.get("mode") != "path":
            _check_selection(place, entry["method"], spec["selection"], kind)


def _check_datasets(key: str, datasets: Mapping[str, Any]) -> None:
    from mtmkl.datasets import default_registry

    registry = default_registry()
    fixed, varied = datasets.get("options", {}), datasets.get("vary", {})
    first = {name: values[0] for name, values in varied.items()}
    try:
        registry.check_options(datasets["name"], {**fixed, **first})
    except ValueError as error:
        raise ConfigError(f"key '{key}': {error}") from error
    for name, values in varied.items():
        for value in values:
            try:
                registry.check_options(
                    datasets["name"], {**fixed, **first, name: value}
                )
            except ValueError as error:
                raise ConfigError(f"key '{key}.vary.{name}': {error}") from error


def _check_entry(
    key: str, entry: Mapping[str, Any], grid: Mapping[str, Any], repeats: int
) -> None:
    hold = entry.get("hold", {})
    for part, names in (("hold", hold), ("along", entry.get("along", []))):
        for parameter in names:
            if parameter not in grid:
                text = unknown("parameter of the grid", parameter, grid)
                raise ConfigError(f"key '{key}.{part}': {text}")
    for parameter, repeat in hold.items():
        if repeat >= repeats:
            raise ConfigError(
                f"key '{key}.hold.{parameter}': {repeat} is no repeat; there are "
                f"{repeats}, numbered from 0"
            )


def _check_selection(key: str, method: str, selection: str, kind: str) -> None:
    """Check that splits of this kind have what a method is selected by."""
    from mtmkl.datasets.protocols import WITH_VALIDATION
    from mtmkl_suite.evaluation.selectors import resolve_selector

    has_validation = kind in WITH_VALIDATION
    needs = resolve_selector(selection).needs
    if needs and has_validation != (needs == "validation"):
        rows = "validation rows" if has_validation else "folds and no validation rows"
        wanted = "validation" if has_validation else "common, per_task or alone"
        raise ConfigError(
            f"key '{key}.method': {method!r} has selection: {selection}, but a "
            f"protocol of kind {kind!r} has {rows}: take a method with selection: "
            f"{wanted}"
        )


def _check_method(key: str, method: Any) -> None:
    from mtmkl.methods import resolve
    from mtmkl_suite.evaluation.selectors import resolve_selector

    name, grid = method["class"], method.get("grid", {})
    try:
        found = resolve(name)
    except ValueError as error:
        raise ConfigError(f"key '{key}.class': {error}") from error
    _check_is_method(key, name, found)
    try:
        takes = resolve_selector(method["selection"]).takes
    except ValueError as error:
        raise ConfigError(f"key '{key}.selection': {error}") from error
    known = inspect.signature(takes or found).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for part in ("params", "grid"):
        for parameter in method.get(part, {}):
            if not takes_any and parameter not in known:
                text = unknown(f"parameter of {name}", parameter, known)
                raise ConfigError(f"key '{key}.{part}.{parameter}': {text}")
    if takes is not None:
        _check_arguments(key, name, takes, method)
        return
    if method["selection"] == "per_task":
        allowed = getattr(found, "per_task_params", ())
        for parameter in grid:
            if parameter not in allowed:
                raise ConfigError(
                    f"key '{key}.selection': {name} takes no {parameter!r} for each "
                    "task, only one for all: write selection: common"
                )
    from mtmkl_suite.config.terms import check_terms

    for point in _covering_points(grid):
        _check_values(key, name, found, method.get("params", {}), point)
        check_terms(f"{key}.grid.terms", point.get("terms"))
    check_terms(f"{key}.params.terms", method.get("params", {}).get("terms"))


def _check_arguments(
    key: str, name: str, takes: Callable[..., Any], method: Mapping[str, Any]
) -> None:
    """Check the arguments of a way to choose by what it says of them."""
    from mtmkl.datasets.options import option_problem
    from mtmkl.kernels.terms import check_kernels

    given = [(f"params.{p}", p, v) for p, v in method.get("params", {}).items()]
    for parameter, values in method.get("grid", {}).items():
        given += [(f"grid.{parameter}", parameter, value) for value in values]
    for place, parameter, value in given:
        wanted = option_problem(takes, parameter, value)
        if parameter == "kernels":
            try:
                check_kernels(value)
            except (TypeError, ValueError) as error:
                raise ConfigError(f"key '{key}.{place}': {error}") from error
        if wanted is not None:
            raise ConfigError(
                f"key '{key}.{place}': {name}: {parameter} is {value!r}, "
                f"wanted {wanted}"
            )


def _check_is_method(key: str, name: str, found: type) -> None:
    for function in ("fit", "predict", "decision_function"):
        member = getattr(found, function, None)
        if member is None and function == "decision_function":
            continue
        if member is None or not _takes_task(member):
            lacks = f"{function} takes no task" if member else f"has no {function}"
            raise ConfigError(
                f"key '{key}.class': {name!r}: {lacks}; a method is a class with "
                "fit(X, y, task) and predict(X, task), and with "
                "decision_function(X, task) if it has scores"
            )


def _takes_task(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == "task" or p.kind is p.VAR_KEYWORD for p in parameters)


def _covering_points(grid: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the fewest points of a grid in which every value occurs."""
    longest = max(map(len, grid.values()), default=1)
    for k in range(longest):
        yield {name: values[k % len(values)] for name, values in grid.items()}


def _check_values(
    key: str,
    name: str,
    found: type,
    params: Mapping[str, Any],
    point: Mapping[str, Any],
) -> None:
    try:
        estimator = found(**{**params, **point})
    except TypeError:
        # An argument that a class of one's own needs: the run says so, as a gap.
        return
    except ValueError as error:
        raise _wrong_value(key, name, error, params, point) from error
    check = getattr(estimator, "_check_params", None)
    if check is None:
        return
    try:
        check()
    except AttributeError as error:
        # The rest of the check is about the data of a fit, as in `self.tasks_`.
        if not str(error.name).endswith("_"):
            raise
    except (TypeError, ValueError) as error:
        raise _wrong_value(key, name, error, params, point) from error


def _wrong_value(
    key: str,
    name: str,
    error: Exception,
    params: Mapping[str, Any],
    point: Mapping[str, Any],
) -> ConfigError:
    # By convention these messages begin with the name of the parameter.
    parameter = str(error).partition(" ")[0].rstrip(":")
    for part, values in (("grid", point), ("params", params)):
        if parameter in values:
            return ConfigError(f"key '{key}.{part}.{parameter}': {name}: {error}")
    return ConfigError(f"key '{key}': {name} with { ({**params, **point}) }: {error}")


def _check_metrics(name: str, experiment: Mapping[str, Any]) -> None:
    from mtmkl.datasets import default_registry
    from mtmkl_suite.evaluation.metrics import METRIC_NAMES, metric

    wanted_metrics = experiment["metrics"]
    data = default_registry()[experiment["datasets"]["name"]]
    outputs: str = data.outputs
    if outputs == "unknown" and any(metric(each).labels for each in wanted_metrics):
        outputs = _observed_outputs(experiment)

    def lacks(wanted: str) -> str:
        needs = metric(wanted)
        if needs.labels and outputs != "labels":
            return "labels −1 and +1"
        if needs.truth is not None and needs.truth not in data.truth:
            return f"{needs.truth!r} of the ground truth"
        return ""

    for wanted in wanted_metrics:
        if lacks(wanted):
            possible = ", ".join(other for other in METRIC_NAMES if not lacks(other))
            raise ConfigError(
                f"key 'experiments.{name}.metrics': {wanted!r} needs {lacks(wanted)}, "
                f"which data set {data.name!r} does not have; it can have {possible}"
            )


def _observed_outputs(experiment: Any) -> str:
    """Read data of one's own, which no registry describes."""
    import numpy as np

    from mtmkl_suite.run.pipeline import load_variant

    data = load_variant(variants(experiment)[0], 0)
    return "labels" if set(np.unique(data.y)) <= {-1.0, 1.0} else "numbers"


def _check_criterion(
    name: str, experiment: Mapping[str, Any], selections: Mapping[str, str]
) -> None:
    """Check what the methods of an experiment are to be chosen by, if they choose."""
    from mtmkl_suite.evaluation.metrics import metric

    key = f"key 'experiments.{name}.select_by'"
    given = experiment.get("select_by")
    criterion = given or experiment["metrics"][0]
    if criterion not in experiment["metrics"]:
        raise ConfigError(
            f"{key}: {criterion!r} is not among the metrics of the experiment: "
            f"{', '.join(experiment['metrics'])}"
        )
    if experiment.get("mode") == "path":
        return
    for entry in experiment["methods"]:
        selection = selections[entry["method"]]
        if selection in ("per_task", "alone") and given:
            raise ConfigError(
                f"{key}: method {entry['method']!r} has selection {selection!r}, which "
                "takes the smallest squared error of each task; give it selection "
                "'common' or 'validation', or leave select_by out"
            )
        if selection != "validation" and not (selection == "common" and given):
            continue
        found = metric(criterion)
        if found.better is None or found.truth is not None:
            why = "asks for the truth" if found.truth else "is not better or worse"
            possible = [m for m in experiment["metrics"] if _is_criterion(m)]
            raise ConfigError(
                f"{key}: method {entry['method']!r} cannot be chosen by {criterion!r}, "
                f"which {why}; choose by {' or '.join(possible) or 'another metric'}"
            )


def _is_criterion(name: str) -> bool:
    from mtmkl_suite.evaluation.metrics import metric

    return metric(name).better is not None and metric(name).truth is None
