"""Spectrum features: counts of the words of k letters."""

from dataclasses import KW_ONLY, dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from mtmkl.checks import check_count, count_from, require
from mtmkl.sequences.encoding import Encoded, SequenceFeatures, all_kmers


@dataclass(eq=False, repr=False)
class SpectrumFeatures(SequenceFeatures):
    r"""Count the k-mers of sequences, wherever they occur.

    ``transform`` takes a list of strings and returns a CSR array of float64. The
    features of a sequence x are

        φ_u(x) = Σ_i 1[x_i … x_{i+k−1} differs from u in at most m letters],

    one for each word u of k letters, so that ⟨φ(x), φ(z)⟩ is the spectrum kernel [1]_
    for m = 0 and the (k, m)-mismatch kernel [2]_ for m > 0. For several k the features
    stand side by side and the kernels add up.

    Parameters
    ----------
    k : int or (int, int)
        Length of the words; a pair takes all lengths from the first to the second.
    alphabet : str
        Different letters from A to Z. Lower case counts as upper case, in the alphabet
        as in the sequences.
    mismatches : int
        m, less than the smallest k.
    normalize : bool
        Whether the features of each sequence are scaled to length 1, so that the inner
        product is the cosine kernel k(x, z) / sqrt(k(x, x) k(z, z)).
    on_unknown : {"error", "skip"}
        What to do about letters outside the alphabet: refuse them, or count no k-mer
        that contains one.

    Attributes
    ----------
    n_features_out_ : int
        Σ_k A^k for an alphabet of A letters, whatever the sequences.

    Notes
    -----
    Sequences may differ in length. All features of one that is shorter than k, or has
    no k-mer without an unknown letter, are 0.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble, The spectrum kernel: a string kernel for
       SVM protein classification, Pacific Symposium on Biocomputing, 2002.
    .. [2] C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble, Mismatch string
       kernels for discriminative protein classification, Bioinformatics 20, 2004.

    Examples
    --------
    >>> from mtmkl.sequences import SpectrumFeatures
    >>> counts = SpectrumFeatures(2, alphabet="AB", normalize=False)
    >>> counts.fit_transform(["AABAB", "b"]).toarray()
    array([[1., 2., 1., 0.],
           [0., 0., 0., 0.]])
    >>> counts.get_feature_names_out().tolist()
    ['AA', 'AB', 'BA', 'BB']
    """

    k: int | tuple[int, int] = 3
    _: KW_ONLY
    alphabet: str = "ACGT"
    mismatches: int = 0
    normalize: bool = True
    on_unknown: str = "error"

    def _check_params(self) -> None:
        self._lengths = self._checked_k()
        count_from(0)("mismatches", self.mismatches)
        demand = f"less than k = {self._lengths[0]}"
        is_less = self.mismatches < self._lengths[0]
        require(is_less, "mismatches", self.mismatches, demand)

    def _learn(self, encoded: Encoded) -> tuple[int, str]:
        n_letters = len(self._alphabet)
        return sum(n_letters**k for k in self._lengths), "take a smaller k"

    def _features(self, encoded: Encoded) -> csr_array:
        parts = [self._counts(encoded, k) for k in self._lengths]
        return parts[0] if len(parts) == 1 else csr_array(hstack(parts, format="csr"))

    def _names(self) -> list[str]:
        return [word for k in self._lengths for word in all_kmers(k, self._alphabet)]

    def _checked_k(self) -> range:
        if not isinstance(self.k, tuple | list):
            check_count("k", self.k)
            return range(self.k, self.k + 1)
        demand = "a number, or a smallest and a largest one"
        require(len(self.k) == 2, "k", self.k, demand)
        smallest, largest = self.k
        check_count("the smallest k", smallest)
        count_from(smallest)("the largest k", largest)
        return range(smallest, largest + 1)

    def _counts(self, encoded: Encoded, k: int) -> csr_array:
        n_letters = len(self._alphabet)
        number, exists = encoded.kmers(k, n_letters)
        before = np.concatenate([[0], np.cumsum(exists)])
        indptr = before[np.concatenate([encoded.starts, [encoded.codes.size]])]
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)  # else all indices would have 64 bits
        found = number[exists]
        shape = (encoded.lengths.size, n_letters**k)
        if self.mismatches:
            words, column = np.unique(found, return_inverse=True)
            occurrences = csr_array(
                (np.ones(found.size), column.ravel().astype(np.int32), indptr),
                shape=(shape[0], words.size),
            )
            counts = occurrences @ _neighbours(words, k, n_letters, self.mismatches)
        else:
            counts = csr_array((np.ones(found.size), found, indptr), shape=shape)
        counts.sum_duplicates()
        return counts


def _neighbours(
    words: NDArray[np.int32], k: int, n_letters: int, mismatches: int
) -> csr_array:
    """Return ones at the neighbours of each of w words, of shape (w, A^k)."""
    place_value = (n_letters ** np.arange(k - 1, -1, -1)).astype(np.int32)
    letters = words[:, np.newaxis] // place_value % n_letters
    columns: list[NDArray[Any]] = [words]
    for m in range(1, mismatches + 1):
        for places in map(list, combinations(range(k), m)):
            old = letters[:, places]
            for steps in product(range(1, n_letters), repeat=m):
                new = (old + np.array(steps, dtype=np.int32)) % n_letters
                columns.append(words + (new - old) @ place_value[places])
    near = np.sort(np.stack(columns, axis=1), axis=1)
    indptr = np.arange(0, near.size + 1, near.shape[1], dtype=np.int32)
    return csr_array(
        (np.ones(near.size), near.ravel(), indptr), shape=(words.size, n_letters**k)
    )
