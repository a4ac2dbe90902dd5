"""Methods by the names that configurations use."""

import importlib
import re

from mtmkl.errors import unknown
from mtmkl.methods import REGISTRY
from mtmkl_suite.baselines.wrapped import light_gbm, wrapped

_BASELINES = {
    "GPBoostClassifier": "random_effects",
    "GPBoostRegressor": "random_effects",
    "LinearMixedClassifier": "random_effects",
    "LinearMixedRegressor": "random_effects",
    "OracleControl": "controls",
    "TaskGaussianProcessClassifier": "gaussian_process",
    "TaskGaussianProcessRegressor": "gaussian_process",
    "TaskInteractionClassifier": "linear",
    "TaskInteractionRegressor": "linear",
    "TaskMeanControl": "controls",
}
_LIGHT_GBM = ("LGBMClassifier", "LGBMRegressor")
_WRAPPED = re.compile(r"(PerTask|Pooled)\((.*)\)")


def resolve(name: str) -> type:
    """Return the class of a method by its name or as ``package.module:Class``.

    ``PerTask(...)`` and ``Pooled(...)`` are estimators for each task and for all: of
    scikit-learn, ``sklearn.ensemble:RandomForestClassifier``, or of LightGBM,
    ``LGBMClassifier``.
    """
    if name in REGISTRY:
        return REGISTRY[name]
    found = _WRAPPED.fullmatch(name)
    if found:
        wrapper, inside = found.groups()
        if inside in _LIGHT_GBM:
            return wrapped(wrapper, inside, light_gbm(inside))
        if not inside.startswith("sklearn."):
            raise ValueError(
                f"method {name!r}: in {wrapper}(...) stands sklearn.module:Class, "
                f"{' or '.join(_LIGHT_GBM)}"
            )
        return wrapped(wrapper, inside.rpartition(":")[2], resolve(inside))
    if name in _BASELINES:
        name = f"mtmkl_suite.baselines.{_BASELINES[name]}:{name}"
    module_name, separator, class_name = name.partition(":")
    if not separator:
        known = [*REGISTRY, *_BASELINES]
        raise ValueError(
            f"{unknown('method', name, known)}; a class of your own is written "
            "package.module:Class"
        )
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ValueError(
            f"method {name!r}: {error}{_hint(error, module_name)}"
        ) from error
    method = getattr(module, class_name, None)
    if not isinstance(method, type):
        raise ValueError(f"method {name!r}: {module_name} has no class {class_name}")
    return method


def _hint(error: ImportError, module_name: str) -> str:
    """Return the remedy if the module itself is missing, not one that it imports."""
    missing = isinstance(error, ModuleNotFoundError)
    if missing and f"{module_name}.".startswith(f"{error.name}."):
        return (
            "; a module of your own must be in a folder on PYTHONPATH "
            "(PYTHONPATH=. mtmkl … for the working folder)"
        )
    return ""
