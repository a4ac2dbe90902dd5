"""Weighted-degree features: words of up to d letters at each position."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mtmkl.checks import check_count
from mtmkl.sequences.encoding import Encoded, SequenceFeatures, all_kmers


@dataclass(eq=False, repr=False)
class WeightedDegreeFeatures(SequenceFeatures):
    r"""Mark the words of up to d letters at each position of sequences of one length.

    ``transform`` takes a list of strings and returns a CSR array of float64. The
    features of a sequence x of length L are

        φ_{k,i,u}(x) = sqrt(β_k) 1[x_i … x_{i+k−1} = u],
        β_k = 2 (d − k + 1) / (d (d + 1)),

    for lengths k = 1 … d, positions i = 1 … L − k + 1 and words u of k letters, so that
    ⟨φ(x), φ(z)⟩ is the weighted-degree kernel [1]_ of degree d,

        k(x, z) = Σ_{k=1}^d β_k Σ_{i=1}^{L−k+1} 1[x_i … x_{i+k−1} = z_i … z_{i+k−1}].

    Parameters
    ----------
    degree : int
        d, at least 1, and at most the length of the sequences.
    alphabet : str
        Different letters from A to Z. Lower case counts as upper case, in the alphabet
        as in the sequences.
    normalize : bool
        Whether the features of each sequence are scaled to length 1, so that the inner
        product is the cosine kernel k(x, z) / sqrt(k(x, x) k(z, z)). Without unknown
        letters k(x, x) is the same for all sequences.
    on_unknown : {"error", "skip"}
        What to do about letters outside the alphabet: refuse them, or mark no word that
        contains one. Such a letter equals nothing, itself included.

    Attributes
    ----------
    length_ : int
        L, of the sequences that it was fitted on; others are refused.
    n_features_out_ : int
        Σ_k (L − k + 1) A^k for an alphabet of A letters.

    References
    ----------
    .. [1] G. Rätsch and S. Sonnenburg, Accurate splice site prediction for
       Caenorhabditis elegans, in Kernel Methods in Computational Biology, MIT Press,
       2004.

    Examples
    --------
    >>> from mtmkl.sequences import WeightedDegreeFeatures
    >>> marks = WeightedDegreeFeatures(2, alphabet="AB", normalize=False)
    >>> X = marks.fit_transform(["AAB", "ABB", "BBA"])
    >>> (X @ X.T).toarray().round(6)  # β = 2/3, 1/3
    array([[2.666667, 1.333333, 0.      ],
           [1.333333, 2.666667, 0.666667],
           [0.      , 0.666667, 2.666667]])
    >>> marks.get_feature_names_out()[:8].tolist()
    ['1:A', '1:B', '2:A', '2:B', '3:A', '3:B', '1:AA', '1:AB']
    """

    degree: int = 3
    _: KW_ONLY
    alphabet: str = "ACGT"
    normalize: bool = True
    on_unknown: str = "error"

    def _check_params(self) -> None:
        check_count("degree", self.degree)
        self._degree = self.degree

    def _learn(self, encoded: Encoded) -> tuple[int, str]:
        length = int(encoded.lengths[0])
        if self._degree > length:
            raise ValueError(
                f"degree is {self._degree}, more than the {length} letters of X[0]"
            )
        _check_lengths(encoded, length, "X[0] has")
        self.length_ = length
        n_letters, degrees = len(self._alphabet), range(1, self._degree + 1)
        n_features = sum((length - k + 1) * n_letters**k for k in degrees)
        return n_features, "take a smaller degree or shorter sequences"

    def _features(self, encoded: Encoded) -> csr_array:
        _check_lengths(encoded, self.length_, "those of fit have")
        columns, exists = self._marks(encoded)
        indptr = np.concatenate([[0], np.cumsum(exists.sum(axis=1))])
        is_whole = indptr[-1] == columns.size
        d = self._degree
        roots = np.sqrt(2.0 * (d - np.arange(d)) / (d * (d + 1)))
        widths = self.length_ - np.arange(d)
        values = np.tile(np.repeat(roots, widths), (columns.shape[0], 1))
        return csr_array(
            (
                values.reshape(-1) if is_whole else values[exists],
                columns.reshape(-1) if is_whole else columns[exists],
                indptr,
            ),
            shape=(columns.shape[0], self.n_features_out_),
        )

    def _names(self) -> list[str]:
        """Return position, from 1, and word: "12:ACG"."""
        return [
            f"{place + 1}:{word}"
            for k in range(1, self._degree + 1)
            for words in [all_kmers(k, self._alphabet)]
            for place in range(self.length_ - k + 1)
            for word in words
        ]

    def _marks(self, encoded: Encoded) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the column of each word of each sequence, and whether it is known."""
        n_letters, length = len(self._alphabet), self.length_
        n = encoded.lengths.size
        codes = encoded.codes.reshape(n, length)
        widths = length - np.arange(self._degree)
        columns = np.empty((n, widths.sum()), dtype=np.int32)
        exists = np.empty(columns.shape, dtype=bool)
        word = np.zeros((n, length), dtype=np.int32)
        known = np.ones((n, length), dtype=bool)
        first, offset = 0, 0
        for k, width in enumerate(widths.tolist(), start=1):
            # A word of k letters is one of k − 1 letters and one more.
            word, known = word[:, :width] * n_letters, known[:, :width]
            word += codes[:, k - 1 :]
            known = known & (codes[:, k - 1 :] >= 0)
            part = slice(first, first + width)
            places = np.arange(width, dtype=np.int32) * n_letters**k + offset
            np.add(word, places, out=columns[:, part])
            exists[:, part] = known
            first, offset = first + width, offset + width * n_letters**k
        return columns, exists


def _check_lengths(encoded: Encoded, length: int, whose: str) -> None:
    other = np.flatnonzero(encoded.lengths != length)
    if other.size:
        raise ValueError(
            "weighted-degree features compare letters at the same position, but "
            f"X[{other[0]}] has {encoded.lengths[other[0]]} letters where {whose} "
            f"{length}: cut the sequences to one length around their site, or take "
            "SpectrumFeatures"
        )
