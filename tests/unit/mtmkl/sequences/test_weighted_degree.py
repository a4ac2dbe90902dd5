import numpy as np
import pytest

from mtmkl.sequences import WeightedDegreeFeatures


def kernel(x, z, d):
    """The weighted-degree kernel, letter by letter; N equals nothing."""
    total = 0.0
    for k in range(1, d + 1):
        for i in range(len(x) - k + 1):
            word = x[i : i + k]
            if word == z[i : i + k] and "N" not in word:
                total += 2 * (d - k + 1) / (d * (d + 1))
    return total


def random_sequences(n=9, length=12, letters="ACGT", seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), length)) for _ in range(n)]


@pytest.mark.parametrize("letters", ["ACGT", "ACGTN"])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 12])
def test_inner_products_are_the_kernel_by_definition(d, letters):
    # Two letters would do for long words in common; copies of one another have many.
    texts = random_sequences(5, letters=letters)
    texts += [texts[0][:6] + texts[1][6:], texts[2][:9] + texts[3][9:], texts[0]]
    small = WeightedDegreeFeatures(d, normalize=False, on_unknown="skip")
    if d == 12:
        texts = ["".join("AB"[c in "CGN"] for c in text) for text in texts]
        small.set_params(alphabet="AB")
    X = small.fit_transform(texts)
    expected = np.array([[kernel(x, z, d) for z in texts] for x in texts])
    np.testing.assert_allclose((X @ X.T).toarray(), expected, rtol=1e-13)


def test_each_word_at_each_position_has_a_column_of_its_name():
    texts = random_sequences(6, length=5, letters="ACGTN")
    features = WeightedDegreeFeatures(3, normalize=False, on_unknown="skip")
    X = features.fit_transform(texts).toarray()
    names = features.get_feature_names_out()
    assert names.size == features.n_features_out_ == 5 * 4 + 4 * 16 + 3 * 64
    beta = {1: 3 / 6, 2: 2 / 6, 3: 1 / 6}
    for column, name in enumerate(names):
        place, word = name.split(":")
        first = int(place) - 1
        for row, text in enumerate(texts):
            stands = text[first : first + len(word)] == word
            expected = np.sqrt(beta[len(word)]) if stands else 0.0
            assert X[row, column] == pytest.approx(expected, abs=1e-15)


def test_other_lengths_than_those_of_fit_are_refused():
    features = WeightedDegreeFeatures(2).fit(["ACGT"])
    assert features.length_ == 4
    message = (
        r"X\[1\] has 3 letters where those of fit have 4: cut the sequences to one "
        "length around their site, or take SpectrumFeatures"
    )
    with pytest.raises(ValueError, match=message):
        features.transform(["ACGA", "ACG"])
    with pytest.raises(ValueError, match=r"X\[2\] has 5 letters where X\[0\] has 4"):
        WeightedDegreeFeatures(2).fit(["ACGT", "AAAA", "ACGTA"])


@pytest.mark.parametrize(
    ("degree", "sequences", "message"),
    [
        (0, ["ACGT"], "degree must be a whole number of at least 1, got 0"),
        (5, ["ACGT"], r"degree is 5, more than the 4 letters of X\[0\]"),
        (15, ["A" * 81], r"features are more than .*: take a smaller degree or"),
    ],
)
def test_wrong_parameters(degree, sequences, message):
    with pytest.raises(ValueError, match=message):
        WeightedDegreeFeatures(degree).fit(sequences)
