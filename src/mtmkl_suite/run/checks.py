"""Check a paper's configuration against data sets, methods, metrics and claims.

This is done before any work. Names that the files themselves define are looked up when
they are loaded (:mod:`mtmkl_suite.config.names`).
"""

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from mtmkl.kernels.base import from_spec
from mtmkl.kernels.task_kernel_specs import _BUILDERS
from mtmkl.kernels.terms import check_kernels
from mtmkl.specs import read_spec
from mtmkl_suite.config.models import (
    Claim,
    DataSets,
    Experiment,
    Figure,
    Method,
    Paper,
)
from mtmkl_suite.config.names import naming_file, require
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.loaders.own import is_file, outputs_of
from mtmkl_suite.data.protocols import WITH_VALIDATION
from mtmkl_suite.data.registry import option_problem
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.evaluation.selectors import resolve_selector
from mtmkl_suite.judge.claims import split_arguments, subject_of
from mtmkl_suite.methods import resolve
from mtmkl_suite.metrics import METRICS, metric
from mtmkl_suite.run.fingerprint import module_file
from mtmkl_suite.run.pipeline import load_variant


def check_names(config: Paper) -> None:
    """Check the names and values of a paper's configuration, before any work.

    Methods check their parameters themselves, with every value of their grids.
    """
    file = "experiments" if config.readings is None else "readings"
    with naming_file(config.folder.name, file):
        for name, method in config.methods.items():
            _check_method(f"methods.{name}", method)
        for name in config.experiments:
            _check_experiment(name, config)
    with naming_file(config.folder.name):
        check_functions(config)
        for claim in config.claims:
            _check_claim(f"claims.{claim.id}", claim)


def check_functions(config: Paper) -> None:
    """Check that there are functions that draw the figures and compute the steps."""
    package = f"mtmkl_suite.papers.{config.paper.id}"
    for name, artefact in config.artefacts.items():
        drawn = []
        if isinstance(artefact, Figure):
            drawn = [artefact.function or name]
        for module, key, functions in (
            ("figures", "", drawn),
            ("steps", ".steps", artefact.steps),
        ):
            known = _names_in(f"{package}.{module}") if functions else []
            kind = f"function of {package}.{module}"
            require(f"artefacts.{name}{key}", kind, known, *functions)


def _check_claim(key: str, claim: Claim) -> None:
    """Check that a claim names a test and the arguments that this takes."""
    subject, tests = subject_of(claim.settings[0].args)
    require(f"{key}.test", "test", tests, claim.test)
    with _naming_key(f"{key}.args"):
        for each in claim.settings:
            for args in (each.args, each.args | each.over_tasks):
                about, own = split_arguments(args)
                inspect.signature(subject).bind(None, **about)
                inspect.signature(tests[claim.test]).bind(None, **own)


@contextmanager
def _naming_key(key: str) -> Iterator[None]:
    """Name the key of what is wrong."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ConfigError(f"key '{key}': {error}") from error


@cache
def _names_in(module: str) -> list[str]:
    """Return the public names of a module without importing it; none if it is not."""
    path, names = module_file(module), []
    if path is None:
        return []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
    return [name for name in names if not name.startswith("_")]


def _check_experiment(name: str, config: Paper) -> None:
    key, experiment = f"experiments.{name}", config.experiments[name]
    repeats = config.n_repeats(name)
    _check_datasets(f"{key}.datasets", experiment.datasets)
    _check_metrics(f"{key}.metrics", experiment)
    methods = {entry.method: config.method_of(entry) for entry in experiment.methods}
    _check_criterion(f"{key}.select_by", experiment, methods)
    kind = config.protocols[experiment.protocol].kind
    seen = set()
    for position, entry in enumerate(experiment.methods):
        place = f"{key}.methods.{position}"
        if entry.method in seen:
            raise ConfigError(
                f"key '{place}.method': {entry.method!r} stands here twice; name each "
                "method once, with all its n_tasks"
            )
        seen.add(entry.method)
        method = methods[entry.method]
        if entry.settings is not None:
            _check_method(f"{place}.{entry.method}", method)
        for part, names in (("hold", entry.hold), ("along", entry.along)):
            require(f"{place}.{part}", "parameter of the grid", method.grid, *names)
        for parameter, repeat in entry.hold.items():
            if repeat >= repeats:
                raise ConfigError(
                    f"key '{place}.hold.{parameter}': {repeat} is no repeat; there are "
                    f"{repeats}, numbered from 0"
                )
        if experiment.mode != "path":
            _check_selection(place, entry.method, method.selection, kind)


def _check_datasets(key: str, datasets: DataSets) -> None:
    registry = default_registry()
    first = {name: values[0] for name, values in datasets.vary.items()}
    points: list[tuple[str, dict[str, Any]]] = [(key, {})]
    points += [
        (f"{key}.vary.{name}", {name: value})
        for name, values in datasets.vary.items()
        for value in values
    ]
    for place, point in points:
        options = {**datasets.options, **first, **point}
        with _naming_key(place):
            registry.check_options(datasets.name, options)


def _check_selection(key: str, method: str, selection: str, kind: str) -> None:
    """Check that splits of this kind have what a method is selected by."""
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


def _check_method(key: str, method: Method) -> None:
    name = method.class_name
    with _naming_key(f"{key}.class"):
        found = resolve(name)
    _check_is_method(key, name, found)
    with _naming_key(f"{key}.selection"):
        takes = resolve_selector(method.selection).takes
    known = inspect.signature(takes or found).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for part, parameters in (("params", method.params), ("grid", method.grid)):
        for parameter in () if takes_any else parameters:
            place = f"{key}.{part}.{parameter}"
            require(place, f"parameter of {name}", known, parameter)
    if takes is not None:
        _check_arguments(key, name, takes, method)
        return
    if method.selection == "per_task":
        allowed = getattr(found, "per_task_params", ())
        for parameter in method.grid:
            if parameter not in allowed:
                raise ConfigError(
                    f"key '{key}.selection': {name} takes no {parameter!r} for each "
                    "task, only one for all: write selection: common"
                )
    for point in _covering_points(method.grid):
        _check_values(key, name, found, method.params, point)
        check_terms(f"{key}.grid.terms", point.get("terms"))
    check_terms(f"{key}.params.terms", method.params.get("terms"))


def _check_arguments(
    key: str, name: str, takes: Callable[..., Any], method: Method
) -> None:
    """Check the arguments of a way to choose by what it says of them."""
    given = [(f"params.{p}", p, value) for p, value in method.params.items()]
    for parameter, values in method.grid.items():
        given += [(f"grid.{parameter}", parameter, value) for value in values]
    for place, parameter, value in given:
        with _naming_key(f"{key}.{place}"):
            if parameter == "kernels":
                check_kernels(value)
            if wanted := option_problem(takes, parameter, value):
                raise ValueError(f"{name}: {parameter} is {value!r}: {wanted}")


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
        try:
            estimator = found(**{**params, **point})
        except TypeError:
            # An argument that a class of one's own needs: the run says so, as a gap.
            return
        if check := getattr(estimator, "_check_params", None):
            check()
    except AttributeError as error:
        # The rest of the check is about the data of a fit, as in `self.tasks_`.
        if not str(error.name).endswith("_"):
            raise
    except (TypeError, ValueError) as error:
        # By convention these messages begin with the name of the parameter.
        parameter = str(error).partition(" ")[0].rstrip(":")
        if parameter in params or parameter in point:
            part = "grid" if parameter in point else "params"
            key = f"{key}.{part}.{parameter}"
        raise ConfigError(f"key '{key}': {name}: {error}") from error


def _check_metrics(key: str, experiment: Experiment) -> None:
    require(key, "metric", METRICS, *experiment.metrics)
    data = default_registry()[experiment.datasets.name]
    outputs: str = data.outputs
    if outputs == "unknown" and any(metric(m).labels for m in experiment.metrics):
        # Data of one's own, which no registry describes.
        own = experiment.variants[0]
        asked = own.options.get("outputs") if is_file(own.name) else None
        outputs = outputs_of(load_variant(own, 0).y, asked)

    def lacks(wanted: str) -> str:
        needs = metric(wanted)
        if needs.labels and outputs != "labels":
            return "labels −1 and +1"
        if needs.truth is not None and needs.truth not in data.truth:
            return f"{needs.truth!r} of the ground truth"
        return ""

    for wanted in experiment.metrics:
        if lacks(wanted):
            possible = ", ".join(other for other in METRICS if not lacks(other))
            raise ConfigError(
                f"key '{key}': {wanted!r} needs {lacks(wanted)}, which data set "
                f"{data.name!r} does not have; it can have {possible}"
            )


def _check_criterion(
    key: str, experiment: Experiment, methods: Mapping[str, Method]
) -> None:
    """Check what the methods of an experiment are to be chosen by, if they choose."""
    given = experiment.select_by
    criterion = given or experiment.metrics[0]
    require(key, "metric of the experiment", experiment.metrics, criterion)
    if experiment.mode == "path":
        return
    for name, method in methods.items():
        if method.selection in ("per_task", "alone") and given:
            raise ConfigError(
                f"key '{key}': method {name!r} has selection {method.selection!r}, "
                "which takes the smallest squared error of each task; give it "
                "selection 'common' or 'validation', or leave select_by out"
            )
        by_metric = ("validation", "common") if given else ("validation",)
        if method.selection in by_metric and not _is_criterion(criterion):
            asks = metric(criterion).truth
            why = "asks for the truth" if asks else "is not better or worse"
            possible = [m for m in experiment.metrics if _is_criterion(m)]
            raise ConfigError(
                f"key '{key}': method {name!r} cannot be chosen by {criterion!r}, "
                f"which {why}; choose by {' or '.join(possible) or 'another metric'}"
            )


def _is_criterion(name: str) -> bool:
    return metric(name).better is not None and metric(name).truth is None


def check_terms(key: str, terms: Any) -> None:
    """Check the kernels and task kernels of terms, which only a fit can compute."""
    for number, term in enumerate(terms if isinstance(terms, list) else []):
        place = f"{key}.{number}"
        if isinstance(term, Mapping) and set(term) == {"kernel", "task_kernel"}:
            term = [term["kernel"], term["task_kernel"]]
        if not isinstance(term, list) or len(term) != 2:
            raise ConfigError(
                f"key '{place}': {term!r} is no mapping of kernel and task_kernel"
            )
        kernel, specs = term
        with _naming_key(f"{place}.kernel"):
            from_spec(kernel)
        with _naming_key(f"{place}.task_kernel"):
            for spec in specs if isinstance(specs, list) else [specs]:
                if not isinstance(spec, list):  # a row of a matrix
                    _check_task_kernel(spec)


def _check_task_kernel(spec: Any) -> None:
    _, values = read_spec("task kernel", spec, _BUILDERS, more=["normalize"])
    if not isinstance(normalize := values.get("normalize", False), bool):
        raise ValueError(f"normalize is {normalize!r}, wanted true or false")
