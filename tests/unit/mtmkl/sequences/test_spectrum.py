from itertools import product

import numpy as np
import pytest

from mtmkl.sequences import SpectrumFeatures

RAGGED = ["ACGTACGT", "", "A", "CCCCCC", "GAT", "TACGTNACG", "NN"]


def brute_force(sequences, words, mismatches=0):
    """Count words letter by letter."""

    def near(part, word):
        return sum(a != b for a, b in zip(part, word, strict=True)) <= mismatches

    out = np.zeros((len(sequences), len(words)))
    for row, text in enumerate(sequences):
        for column, word in enumerate(words):
            parts = [text[i : i + len(word)] for i in range(len(text) - len(word) + 1)]
            out[row, column] = sum(near(p, word) for p in parts if "N" not in p)
    return out


def words_of(k, alphabet="ACGT"):
    return ["".join(letters) for letters in product(alphabet, repeat=k)]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_counts_are_those_of_brute_force(k):
    features = SpectrumFeatures(k, normalize=False, on_unknown="skip")
    X = features.fit_transform(RAGGED)
    assert features.get_feature_names_out().tolist() == words_of(k)
    np.testing.assert_array_equal(X.toarray(), brute_force(RAGGED, words_of(k)))


@pytest.mark.parametrize(("k", "mismatches"), [(2, 1), (3, 1), (3, 2), (4, 2), (5, 4)])
def test_mismatches_are_those_of_brute_force(k, mismatches):
    features = SpectrumFeatures(
        k, mismatches=mismatches, normalize=False, on_unknown="skip"
    )
    X = features.fit_transform(RAGGED)
    expected = brute_force(RAGGED, words_of(k), mismatches)
    np.testing.assert_array_equal(X.toarray(), expected)
    assert X.has_canonical_format


def test_sequences_that_are_all_too_short():
    X = SpectrumFeatures(4).fit_transform(["ACG", "", "A"])
    assert X.shape == (3, 256)
    assert X.nnz == 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1, got 0"),
        ({"k": (0, 2)}, "the smallest k must be a whole number of at least 1, got 0"),
        ({"k": (3, 2)}, "the largest k must be a whole number of at least 3, got 2"),
        ({"k": (1, 2, 3)}, r"a smallest and a largest one, got \(1, 2, 3\)"),
        ({"k": 16}, r"4.3e\+09 features .* take a smaller k"),
        ({"mismatches": 3}, "mismatches must be less than k = 3, got 3"),
        ({"k": (1, 3), "mismatches": 1}, "mismatches must be less than k = 1, got 1"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        SpectrumFeatures(**params).fit(["ACGT"])
