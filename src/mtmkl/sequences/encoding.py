"""Sequences as numbers: the letters of many sequences, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.typing import IntArray

ON_UNKNOWN = ("error", "skip")

# Columns of a CSR array beyond this would need indices of 64 bits, and models of more
# than 16 GB per task.
_MOST_FEATURES = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Encoded:
    """Sequences as numbers.

    Attributes
    ----------
    codes : ndarray of int8 of shape (sum of the lengths,)
        Rank of each letter in the alphabet; −1 for letters outside it.
    lengths : ndarray of int of shape (n,)
    """

    codes: NDArray[np.int8]
    lengths: IntArray

    @property
    def starts(self) -> IntArray:
        """Place of the first letter of each sequence, shape (n,)."""
        return np.cumsum(self.lengths) - self.lengths

    def kmers(
        self, k: int, n_letters: int
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the k-mers that begin at each letter.

        Parameters
        ----------
        k : int
        n_letters : int
            Letters of the alphabet.

        Returns
        -------
        number : ndarray of int32 of the shape of ``codes``
            Rank of the k-mer among all in the order of the alphabet; of no meaning
            where there is none.
        exists : ndarray of bool
            Whether the k letters are of one sequence and of the alphabet.
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


def encode(sequences: Any, alphabet: str, on_unknown: str) -> Encoded:
    """Return sequences as numbers.

    Parameters
    ----------
    sequences : sequence of str
    alphabet : str
        From `check_alphabet`.
    on_unknown : {"error", "skip"}
        What to do about letters outside the alphabet.

    Raises
    ------
    TypeError
        If these are not strings, or one string.
    ValueError
        If there is no sequence, or a letter is outside the alphabet and
        ``on_unknown`` is "error"; names the first one.
    """
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
    """Return an alphabet in capitals.

    Raises
    ------
    ValueError
        If it is not a string of two or more different letters from A to Z.
    """
    is_text = isinstance(alphabet, str) and alphabet.isascii() and alphabet.isalpha()
    if not is_text or not 2 <= len(alphabet) == len(set(alphabet.upper())):
        raise ValueError(
            "alphabet must be a string of two or more different letters from A to Z, "
            f'such as "ACGT", got {alphabet!r}; lower case counts as upper case'
        )
    return str(alphabet.upper())


def check_on_unknown(on_unknown: Any) -> None:
    """Raise ValueError if this is no rule for letters outside the alphabet."""
    if on_unknown not in ON_UNKNOWN:
        raise ValueError(f"on_unknown must be one of {ON_UNKNOWN}, got {on_unknown!r}")


def check_whole(name: str, value: Any, least: int) -> int:
    """Return a whole number.

    Raises
    ------
    ValueError
        If it is not one of at least ``least``.
    """
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise ValueError(
            f"{name} must be a whole number of at least {least}, got {value!r}"
        )
    return int(value)


def check_n_features(n_features: int, remedy: str) -> int:
    """Return a number of features.

    Raises
    ------
    ValueError
        If it is too large for the column indices of a CSR array of 32 bits.
    """
    if n_features > _MOST_FEATURES:
        raise ValueError(
            f"{n_features:.1e} features are more than the {_MOST_FEATURES:.1e} that "
            f"can be numbered: {remedy}"
        )
    return n_features


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
    if not set(map(type, texts)) <= {str}:
        row = next(i for i, text in enumerate(texts) if not isinstance(text, str))
        if row is not None:
            raise TypeError(
                f"X[{row}] is {texts[row]!r}, not a sequence of letters as a string"
            )
    return texts
