"""Both transformers of sequences: alphabets, bad input, scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks as checks

from mtmkl.sequences import SpectrumFeatures, WeightedDegreeFeatures
from mtmkl.sparse import same_inputs

BOTH = [SpectrumFeatures(2), WeightedDegreeFeatures(2)]
both = pytest.mark.parametrize("features", BOTH, ids=lambda each: type(each).__name__)

SEQUENCES = ["ACGTAC", "TTTTTT", "GATTAC"]


@both
@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable", "check_estimator_repr", "check_valid_tag_types",
        "check_no_attributes_set_in_init", "check_mixin_order",
        "check_parameters_default_constructible", "check_get_params_invariance",
        "check_set_params",
    ],
)  # fmt: skip
def test_checks_of_scikit_learn_that_need_no_table(features, check):
    # The others fit tables of numbers.
    getattr(checks, check)(type(features).__name__, clone(features))


@both
def test_clones_and_pickles_give_the_same_features(features):
    fitted = clone(features).fit(SEQUENCES)
    X = fitted.transform(SEQUENCES)
    assert X.format == "csr"
    assert X.dtype == np.float64
    assert X.has_canonical_format
    assert X.indices.dtype == X.indptr.dtype == np.int32
    for other in (clone(fitted).fit(SEQUENCES), pickle.loads(pickle.dumps(fitted))):
        assert same_inputs(other.transform(SEQUENCES), X)
    assert X.shape == (3, fitted.n_features_out_)
    assert len(set(fitted.get_feature_names_out())) == fitted.n_features_out_


@both
def test_arrays_and_series_are_lists_of_sequences(features):
    X = clone(features).fit_transform(SEQUENCES)
    for same in (np.array(SEQUENCES), pd.Series(SEQUENCES, index=[7, 8, 9])):
        assert same_inputs(clone(features).fit_transform(same), X)


@both
def test_lower_case_counts_as_upper_case(features):
    expected = clone(features).fit_transform(SEQUENCES)
    mixed = [text[:3].lower() + text[3:] for text in SEQUENCES]
    for alphabet in ("ACGT", "acgT"):
        other = clone(features).set_params(alphabet=alphabet)
        assert same_inputs(other.fit_transform(mixed), expected)


@both
def test_rows_have_length_1_if_normalized(features):
    raw = clone(features).set_params(normalize=False).fit_transform(SEQUENCES)
    norms = np.linalg.norm(raw.toarray(), axis=1)
    assert (norms != 1).all()
    X = clone(features).fit_transform(SEQUENCES).toarray()
    np.testing.assert_allclose(X, raw.toarray() / norms[:, None], rtol=1e-15)


@both
def test_a_sequence_without_a_known_word_is_zero(features):
    X = clone(features).set_params(on_unknown="skip").fit_transform(["NNNN", "ACGT"])
    assert X[[0]].nnz == 0
    assert X[[1]].nnz > 0


@both
@pytest.mark.parametrize(
    ("sequences", "error", "message"),
    [
        (["ACGT", "ACNT"], ValueError, r"X\[1\]\[2\] is 'N', no letter of the alphabe"),
        (["ACGT", "ACNT"], ValueError, 'leave the .* or set on_unknown="skip"'),
        (["", "ACGé"], ValueError, r"X\[1\]\[3\] is 'é'"),
        ("ACGT", TypeError, "list of sequences, got one string"),
        (b"ACGT", TypeError, "list of sequences, got one string"),
        (["ACGT", None], TypeError, r"X\[1\] is None, not a sequence of letters"),
        (np.array([["ACGT"]]), ValueError, r"an array of shape \(1, 1\)"),
        ([], ValueError, "X has no sequences"),
    ],
)
def test_wrong_sequences(features, sequences, error, message):
    with pytest.raises(error, match=message):
        clone(features).fit(sequences)
    with pytest.raises(error, match=message):
        clone(features).fit(SEQUENCES).transform(sequences)


@both
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alphabet": "A"}, "two or more different letters from A to Z, .* got 'A'"),
        ({"alphabet": "AC-"}, "alphabet must be .* got 'AC-'"),
        ({"on_unknown": "ignore"}, "on_unknown must be 'error' or 'skip', got"),
        ({"normalize": 1}, "normalize must be True or False, got 1"),
    ],
)
def test_wrong_parameters_of_both(features, params, message):
    with pytest.raises(ValueError, match=message):
        clone(features).set_params(**params).fit(SEQUENCES)
