"""Specifications of features of sequences, as configuration files have them."""

from mtmkl.sequences.spectrum import SpectrumFeatures
from mtmkl.sequences.weighted_degree import WeightedDegreeFeatures
from mtmkl.specs import read_spec
from mtmkl.typing import Spec

FEATURES = {"spectrum": SpectrumFeatures, "weighted_degree": WeightedDegreeFeatures}


def features_from_spec(
    spec: Spec,
) -> SpectrumFeatures | WeightedDegreeFeatures:
    """Return a transformer of sequences from a name or a mapping.

    A mapping has ``name``, "spectrum" or "weighted_degree", and parameters of the
    transformer, for instance ``{"name": "spectrum", "k": [1, 6]}``.
    """
    name, parameters = read_spec("kind of sequence features", spec, FEATURES)
    return FEATURES[name](**parameters)
