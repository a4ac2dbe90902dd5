"""The methods, one file each, as scikit-learn estimators with a ``task`` argument."""

import importlib
from collections.abc import Iterator, Mapping

_MODULES: dict[str, str] = {
    "AggregateRidge": "aggregate_ridge",
    "CMTL": "cmtl",
    "CoClus": "co_clus",
    "FlexClus": "flex_clus",
    "GroupFeatureSharing": "group_feature_sharing",
    "HierarchicalBayes": "hierarchical_bayes",
    "IndependentRidge": "independent_ridge",
    "IndependentSVM": "independent_svm",
    "MEDAdaptivePooling": "med_adaptive_pooling",
    "MEDGraphStructure": "med_graph_structure",
    "MEDKernelSelection": "med_kernel_selection",
    "MEDRegression": "med_regression",
    "MeTaG": "me_ta_g",
    "MultiTaskFeatureLearning": "multi_task_feature_learning",
    "MultiTaskVariableSelection": "multi_task_variable_selection",
    "NeighbourhoodSelection": "neighbourhood_selection",
    "OracleControl": "controls",
    "PooledSVM": "pooled_svm",
    "RRHet": "rr_het",
    "SharedMKL": "shared_mkl",
    "SingleTaskMKL": "single_task_mkl",
    "TaskMeanControl": "controls",
    "Whom": "whom",
}


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
        If there is no such method; the message lists those there are.
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
        raise ValueError(f"method {name!r}: {error}") from error
    method = getattr(module, class_name, None)
    if not isinstance(method, type):
        raise ValueError(f"method {name!r}: {module_name} has no class {class_name}")
    return method


def __getattr__(name: str) -> type:
    if name in _MODULES:
        return REGISTRY[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
