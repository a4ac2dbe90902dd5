import pytest

from mtmkl.sequences import SpectrumFeatures, WeightedDegreeFeatures
from mtmkl.sequences.specs import features_from_spec


def test_names_and_mappings():
    assert isinstance(features_from_spec("weighted_degree"), WeightedDegreeFeatures)
    features = features_from_spec({"name": "spectrum", "k": [1, 6], "mismatches": 1})
    assert isinstance(features, SpectrumFeatures)
    assert features.get_params()["k"] == [1, 6]
    assert features.get_params()["mismatches"] == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("oligo", "unknown .* 'oligo' .known: spectrum, weighted_degree"),
        ({"k": 3}, "unknown .* features None"),
        (
            {"name": "spectrum", "degree": 3},
            "'spectrum' has no 'degree'; its parameters",
        ),
        (["spectrum"], r"not a specification of .* features: \['spectrum'\]"),
    ],
)
def test_wrong_specifications(spec, message):
    with pytest.raises(ValueError, match=message):
        features_from_spec(spec)
