"""Sequences as numbers, and the base of the transformers that make features of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mtmkl.checks import check_flag, one_of
from mtmkl.sparse import canonical_csr
from mtmkl.typing import IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ON_UNKNOWN = ("error", "skip")

# Columns of a CSR array beyond this would need indices of 64 bits, and models of more
# than 16 GB per task.
_MOST_FEATURES = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Encoded:
    """The letters of many sequences, one after the other, as numbers."""

    #: Rank of each letter in the alphabet; −1 for letters outside it.
    codes: NDArray[np.int8]
    lengths: IntArray

    @property
    def starts(self) -> IntArray:
        """Place of the first letter of each sequence, shape (n,)."""
        return np.cumsum(self.lengths) - self.lengths

    def kmers(
        self, k: int, n_letters: int
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the ranks of the k-mers that begin at each letter, and if they exist.

        They do if the k letters are of one sequence and of the alphabet; a rank is that
        among all k-mers in the order of the alphabet.
        """
        size = self.codes.size
        number = np.zeros(size, dtype=np.int32)
        exists = np.zeros(size, dtype=bool)
        n_places = size - k + 1
        if n_places <= 0:
            return number, exists
        is_known = self.codes >= 0
        exists[:n_places] = True
        for j in range(k):
            window = slice(j, j + n_places)
            number[:n_places] *= n_letters
            number[:n_places] += self.codes[window]
            exists[:n_places] &= is_known[window]
        # The last k − 1 letters of a sequence begin no k-mer of it.
        ends = np.cumsum(self.lengths)
        for j in range(1, k):
            exists[ends[self.lengths >= j] - j] = False
        return number, exists


class SequenceFeatures(TransformerMixin, BaseEstimator):
    """Base of transformers of strings to CSR arrays.

    A subclass has these parameters. It implements ``_check_params``, ``_learn``, which
    returns the number of features, ``_features`` and ``_names``.
    """

    alphabet: str
    normalize: bool
    on_unknown: str

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and the sequences.

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
            If a parameter is out of its range, or a sequence or a letter is refused;
            the message names the first.
        """
        self._alphabet = check_alphabet(self.alphabet)
        one_of(*ON_UNKNOWN)("on_unknown", self.on_unknown)
        check_flag("normalize", self.normalize)
        self._check_params()
        n_features, remedy = self._learn(encode(X, self._alphabet, self.on_unknown))
        if n_features > _MOST_FEATURES:
            raise ValueError(
                f"{n_features:.1e} features are more than the {_MOST_FEATURES:.1e} "
                f"that can be numbered: {remedy}"
            )
        self.n_features_out_ = n_features
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
        out = self._features(encode(X, self._alphabet, self.on_unknown))
        if self.normalize:
            normalize(out, copy=False)
        return canonical_csr(out)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features; ``input_features`` is not used."""
        check_is_fitted(self)
        return np.array(self._names(), dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    def _check_params(self) -> None:
        """Raise ValueError if a parameter of the subclass is out of range."""
        raise NotImplementedError

    def _learn(self, encoded: Encoded) -> tuple[int, str]:
        """Return the number of features, and what would make it smaller."""
        raise NotImplementedError

    def _features(self, encoded: Encoded) -> "csr_array":
        raise NotImplementedError

    def _names(self) -> list[str]:
        raise NotImplementedError


def encode(sequences: Any, alphabet: str, on_unknown: str) -> Encoded:
    """Return sequences as numbers; "error" refuses letters outside the alphabet."""
    texts = _texts(sequences)
    lengths = np.fromiter(map(len, texts), dtype=np.intp, count=len(texts))
    rank = np.full(256, -1, dtype=np.int8)
    for code, letter in enumerate(alphabet):
        rank[ord(letter)] = rank[ord(letter.lower())] = code
    # One byte per letter: those of other scripts become question marks, no letters.
    letters = "".join(texts).encode("latin-1", errors="replace")
    codes = rank[np.frombuffer(letters, dtype=np.uint8)]
    encoded = Encoded(codes, lengths)
    if on_unknown == "error" and (codes < 0).any():
        place = int(np.flatnonzero(codes < 0)[0])
        row = int(np.searchsorted(np.cumsum(lengths), place, side="right"))
        place -= int(encoded.starts[row])
        raise ValueError(
            f"X[{row}][{place}] is {texts[row][place]!r}, no letter of the alphabet "
            f"{alphabet!r}: leave the sequence out, give another alphabet, or set "
            'on_unknown="skip" to count no k-mer that contains such a letter'
        )
    return encoded


def check_alphabet(alphabet: Any) -> str:
    """Return an alphabet in capitals, of two or more different letters from A to Z."""
    is_text = isinstance(alphabet, str) and alphabet.isascii() and alphabet.isalpha()
    if not is_text or not 2 <= len(alphabet) == len(set(alphabet.upper())):
        raise ValueError(
            "alphabet must be a string of two or more different letters from A to Z, "
            f'such as "ACGT", got {alphabet!r}; lower case counts as upper case'
        )
    return str(alphabet.upper())


def all_kmers(k: int, alphabet: str) -> list[str]:
    """Return all words of k letters in the order of the alphabet."""
    return ["".join(letters) for letters in product(alphabet, repeat=k)]


def _texts(sequences: Any) -> Sequence[str]:
    if isinstance(sequences, str | bytes):
        raise TypeError("X must be a list of sequences, got one string: write [X]")
    if getattr(sequences, "ndim", 1) != 1:
        raise ValueError(
            f"X must be a list of sequences, got an array of shape {sequences.shape}"
        )
    texts = sequences.tolist() if hasattr(sequences, "tolist") else list(sequences)
    if not texts:
        raise ValueError("X has no sequences")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"X[{row}] is {text!r}, not a sequence of letters as a string"
            )
    return texts
