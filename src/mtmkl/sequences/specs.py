"""Specifications of features of sequences, as configuration files have them."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

from mtmkl.sequences.spectrum import SpectrumFeatures
from mtmkl.sequences.weighted_degree import WeightedDegreeFeatures
from mtmkl.typing import Spec

FEATURES = {"spectrum": SpectrumFeatures, "weighted_degree": WeightedDegreeFeatures}


def features_from_spec(
    spec: Spec,
) -> SpectrumFeatures | WeightedDegreeFeatures:
    """Return a transformer of sequences from a name or a mapping.

    A mapping has ``name``, "spectrum" or "weighted_degree", and parameters of the
    transformer, for instance ``{"name": "spectrum", "k": [1, 6]}``.
    """
    if not isinstance(spec, str | Mapping):
        raise ValueError(f"not a specification of sequence features: {spec!r}")
    parameters: dict[str, Any] = {"name": spec} if isinstance(spec, str) else dict(spec)
    name = parameters.pop("name", None)
    if name not in FEATURES:
        raise ValueError(
            f"unknown sequence features {name!r}; known: {', '.join(FEATURES)}"
        )
    known = list(signature(FEATURES[name]).parameters)
    unknown = ", ".join(repr(key) for key in parameters if key not in known)
    if unknown:
        raise ValueError(
            f"sequence features {name!r} have no {unknown}; their parameters: "
            f"{', '.join(known)}"
        )
    return FEATURES[name](**parameters)
