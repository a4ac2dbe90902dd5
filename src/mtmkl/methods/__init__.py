"""The methods, one file each, as scikit-learn estimators with a ``task`` argument."""

from collections.abc import Mapping

from mtmkl.methods.aggregate_ridge import AggregateRidgeRegressor
from mtmkl.methods.cmtl import CMTLClassifier
from mtmkl.methods.co_clus import CoClusClassifier
from mtmkl.methods.dirty_model import DirtyModelRegressor
from mtmkl.methods.flex_clus import FlexClusClassifier
from mtmkl.methods.group_feature_sharing import GroupFeatureSharingClassifier
from mtmkl.methods.hierarchical_bayes import HierarchicalBayesRegressor
from mtmkl.methods.independent_ridge import IndependentRidgeRegressor
from mtmkl.methods.independent_svm import (
    IndependentSVMClassifier,
    IndependentSVMRegressor,
)
from mtmkl.methods.me_ta_g import MeTaGClassifier
from mtmkl.methods.med_adaptive_pooling import MEDAdaptivePoolingClassifier
from mtmkl.methods.med_graph_structure import MEDGraphStructure
from mtmkl.methods.med_kernel_selection import MEDKernelSelectionClassifier
from mtmkl.methods.med_metric import MEDMetric
from mtmkl.methods.med_regression import MEDRegressor
from mtmkl.methods.mkmtfl import MKMTFLClassifier, MKMTFLRegressor
from mtmkl.methods.mkmtsfl import MKMTSFLClassifier, MKMTSFLRegressor
from mtmkl.methods.multi_task_feature_learning import MultiTaskFeatureLearningRegressor
from mtmkl.methods.multi_task_mkl import MultiTaskMKLClassifier
from mtmkl.methods.multi_task_variable_selection import (
    MultiTaskVariableSelectionRegressor,
)
from mtmkl.methods.neighbourhood_selection import NeighbourhoodSelection
from mtmkl.methods.pooled_svm import PooledSVMClassifier
from mtmkl.methods.robust_multi_task import RobustMultiTaskRegressor
from mtmkl.methods.rr_het import RRHetRegressor
from mtmkl.methods.shared_mkl import SharedMKLClassifier
from mtmkl.methods.single_task_mkl import (
    SingleTaskMKLClassifier,
    SingleTaskMKLRegressor,
)
from mtmkl.methods.whom import WhomClassifier

__all__ = [
    "REGISTRY",
    "AggregateRidgeRegressor",
    "CMTLClassifier",
    "CoClusClassifier",
    "DirtyModelRegressor",
    "FlexClusClassifier",
    "GroupFeatureSharingClassifier",
    "HierarchicalBayesRegressor",
    "IndependentRidgeRegressor",
    "IndependentSVMClassifier",
    "IndependentSVMRegressor",
    "MEDAdaptivePoolingClassifier",
    "MEDGraphStructure",
    "MEDKernelSelectionClassifier",
    "MEDMetric",
    "MEDRegressor",
    "MKMTFLClassifier",
    "MKMTFLRegressor",
    "MKMTSFLClassifier",
    "MKMTSFLRegressor",
    "MeTaGClassifier",
    "MultiTaskFeatureLearningRegressor",
    "MultiTaskMKLClassifier",
    "MultiTaskVariableSelectionRegressor",
    "NeighbourhoodSelection",
    "PooledSVMClassifier",
    "RRHetRegressor",
    "RobustMultiTaskRegressor",
    "SharedMKLClassifier",
    "SingleTaskMKLClassifier",
    "SingleTaskMKLRegressor",
    "WhomClassifier",
]

#: The methods by name: all estimators of the package that predict.
REGISTRY: Mapping[str, type] = {
    name: globals()[name] for name in __all__ if name not in ("REGISTRY", "MEDMetric")
}
