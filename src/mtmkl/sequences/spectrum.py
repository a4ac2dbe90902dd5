"""Spectrum features: how often each word of k letters occurs in a sequence."""

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mtmkl.sequences.encoding import (
    Encoded,
    all_kmers,
    check_alphabet,
    check_n_features,
    check_on_unknown,
    check_whole,
    encode,
)
from mtmkl.sparse import canonical_csr

if TYPE_CHECKING:
    from typing import Self

    from scipy.sparse import csr_array


class SpectrumFeatures(TransformerMixin, BaseEstimator):
    r"""Count the k-mers of sequences, wherever they occur.

    The features of a sequence x are

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

    def __init__(
        self,
        k: int | tuple[int, int] = 3,
        *,
        alphabet: str = "ACGT",
        mismatches: int = 0,
        normalize: bool = True,
        on_unknown: str = "error",
    ) -> None:
        self.k = k
        self.alphabet = alphabet
        self.mismatches = mismatches
        self.normalize = normalize
        self.on_unknown = on_unknown

    def fit(self, X: Any, y: Any = None) -> "Self":
        """Check the parameters and the sequences; nothing is learned from them.

        Parameters
        ----------
        X : sequence of str
        y : object
            Not used.

        Raises
        ------
        TypeError
            If X is not a list of strings.
        ValueError
            If a parameter is out of its range, or a letter is refused; names the first.
        """
        self._alphabet = check_alphabet(self.alphabet)
        check_on_unknown(self.on_unknown)
        self._lengths = self._checked_k()
        fewest = check_whole("mismatches", self.mismatches, 0)
        if fewest >= self._lengths[0]:
            raise ValueError(
                f"mismatches must be less than k = {self._lengths[0]}, got {fewest}"
            )
        if not isinstance(self.normalize, bool):
            raise ValueError(f"normalize must be a bool, got {self.normalize!r}")
        n_letters = len(self._alphabet)
        self.n_features_out_ = check_n_features(
            sum(n_letters**k for k in self._lengths), "take a smaller k"
        )
        encode(X, self._alphabet, self.on_unknown)
        return self

    def transform(self, X: Any) -> "csr_array":
        """Return the features of sequences.

        Parameters
        ----------
        X : sequence of str

        Returns
        -------
        CSR array of float64 of shape (n, n_features_out_)

        Raises
        ------
        TypeError, ValueError
            As `fit`, about the sequences.
        """
        check_is_fitted(self)
        from scipy.sparse import csr_array, hstack
        from sklearn.preprocessing import normalize

        encoded = encode(X, self._alphabet, self.on_unknown)
        parts = [self._counts(encoded, k) for k in self._lengths]
        counts = parts[0] if len(parts) == 1 else csr_array(hstack(parts, format="csr"))
        if self.normalize:
            normalize(counts, copy=False)
        return canonical_csr(counts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the words, one per feature, in their order.

        Parameters
        ----------
        input_features : object
            Not used.
        """
        check_is_fitted(self)
        words = [word for k in self._lengths for word in all_kmers(k, self._alphabet)]
        return np.array(words, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    def _checked_k(self) -> range:
        if isinstance(self.k, tuple | list):
            if len(self.k) != 2:
                raise ValueError(
                    f"k must be a number, or a smallest and a largest one, got {self.k}"
                )
            smallest = check_whole("the smallest k", self.k[0], 1)
            return range(
                smallest, check_whole("the largest k", self.k[1], smallest) + 1
            )
        k = check_whole("k", self.k, 1)
        return range(k, k + 1)

    def _counts(self, encoded: Encoded, k: int) -> "csr_array":
        from scipy.sparse import csr_array

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
) -> "csr_array":
    """Return which words are within the mismatches of each of some words.

    Parameters
    ----------
    words : ndarray of shape (w,)
        Numbers of words.
    k, n_letters, mismatches : int

    Returns
    -------
    CSR array of shape (w, n_letters^k)
        Of ones.
    """
    from scipy.sparse import csr_array

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
