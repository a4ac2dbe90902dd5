"""The methods, one file each, as scikit-learn estimators with a ``task`` argument."""

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Editors and type checkers see the classes; a test holds these lines equal to
    # the registry's.
    # ruff: noqa: F401
    from mtmkl.methods.aggregate_ridge import AggregateRidge
    from mtmkl.methods.cmtl import CMTL
    from mtmkl.methods.co_clus import CoClus
    from mtmkl.methods.controls import OracleControl, TaskMeanControl
    from mtmkl.methods.flex_clus import FlexClus
    from mtmkl.methods.group_feature_sharing import GroupFeatureSharing
    from mtmkl.methods.hierarchical_bayes import HierarchicalBayes
    from mtmkl.methods.independent_ridge import IndependentRidge
    from mtmkl.methods.independent_svm import IndependentSVM, IndependentSVR
    from mtmkl.methods.me_ta_g import MeTaG
    from mtmkl.methods.med_adaptive_pooling import MEDAdaptivePooling
    from mtmkl.methods.med_graph_structure import MEDGraphStructure
    from mtmkl.methods.med_kernel_selection import MEDKernelSelection
    from mtmkl.methods.med_regression import MEDRegression
    from mtmkl.methods.mkmtfl import MKMTFLClassifier, MKMTFLRegressor
    from mtmkl.methods.mkmtsfl import MKMTSFLClassifier, MKMTSFLRegressor
    from mtmkl.methods.multi_task_feature_learning import MultiTaskFeatureLearning
    from mtmkl.methods.multi_task_mkl import MultiTaskMKL
    from mtmkl.methods.multi_task_variable_selection import MultiTaskVariableSelection
    from mtmkl.methods.neighbourhood_selection import NeighbourhoodSelection
    from mtmkl.methods.pooled_svm import PooledSVM
    from mtmkl.methods.rr_het import RRHet
    from mtmkl.methods.shared_mkl import SharedMKL
    from mtmkl.methods.single_task_mkl import SingleTaskMKL, SingleTaskMKLRegressor
    from mtmkl.methods.whom import Whom

_MODULES: dict[str, str] = {
    "AggregateRidge": "aggregate_ridge",
    "CMTL": "cmtl",
    "CoClus": "co_clus",
    "FlexClus": "flex_clus",
    "GroupFeatureSharing": "group_feature_sharing",
    "HierarchicalBayes": "hierarchical_bayes",
    "IndependentRidge": "independent_ridge",
    "IndependentSVM": "independent_svm",
    "IndependentSVR": "independent_svm",
    "MEDAdaptivePooling": "med_adaptive_pooling",
    "MEDGraphStructure": "med_graph_structure",
    "MEDKernelSelection": "med_kernel_selection",
    "MEDRegression": "med_regression",
    "MKMTFLClassifier": "mkmtfl",
    "MKMTFLRegressor": "mkmtfl",
    "MKMTSFLClassifier": "mkmtsfl",
    "MKMTSFLRegressor": "mkmtsfl",
    "MeTaG": "me_ta_g",
    "MultiTaskFeatureLearning": "multi_task_feature_learning",
    "MultiTaskMKL": "multi_task_mkl",
    "MultiTaskVariableSelection": "multi_task_variable_selection",
    "NeighbourhoodSelection": "neighbourhood_selection",
    "OracleControl": "controls",
    "PooledSVM": "pooled_svm",
    "RRHet": "rr_het",
    "SharedMKL": "shared_mkl",
    "SingleTaskMKL": "single_task_mkl",
    "SingleTaskMKLRegressor": "single_task_mkl",
    "TaskMeanControl": "controls",
    "Whom": "whom",
}

__all__ = ["REGISTRY", "resolve", *_MODULES]


class _Registry(Mapping[str, type]):
    """The methods by name, imported when they are first asked for."""

    def __getitem__(self, name: str) -> type:
        module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
        method: type = getattr(module, name)
        return method

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


#: Every method of the package by the name that configurations use.
REGISTRY: Mapping[str, type] = _Registry()


def resolve(name: str) -> type:
    """Return the class of a method.

    Parameters
    ----------
    name : str
        A name in ``REGISTRY``, or ``package.module:Class`` for a class of one's own.

    Returns
    -------
    type

    Raises
    ------
    ValueError
        If there is no such method, or its module cannot be imported; the message
        says which there are, or where the module has to be.
    """
    if name in REGISTRY:
        return REGISTRY[name]
    module_name, separator, class_name = name.partition(":")
    if not separator:
        raise ValueError(
            f"unknown method {name!r}; known methods: {', '.join(sorted(REGISTRY))}; "
            "a class of your own is written package.module:Class"
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
    # The module may be there, and what it imports may not.
    missing = isinstance(error, ModuleNotFoundError)
    if missing and f"{module_name}.".startswith(f"{error.name}."):
        return (
            "; a module of your own must be in a folder on PYTHONPATH "
            "(PYTHONPATH=. mtmkl … for the working folder)"
        )
    return ""


def __getattr__(name: str) -> type:
    if name in _MODULES:
        return REGISTRY[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
