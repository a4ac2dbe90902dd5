"""Random tables of scores that are fractions, with what integers say of them."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd

from mtmkl_suite.statistics.score_tables import ScoreMatrix

N_TABLES = 30
N_DATASETS = 10
_SIGNS = np.array(list(itertools.product((0, 1), repeat=N_DATASETS)))


class CountedTable:
    """Scores of 2 to 5 methods, means over repeats, as numbers and as fractions.

    Accuracies, the same in percent, or error rates, of 12 to 96 test samples. Methods
    that got the same sums in another order have equal means, but for rounding, and so
    have differences on several data sets.
    """

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        k, n_repeats = map(int, rng.integers((2, 1), (6, 8)))
        self.methods = list("abcde"[:k])
        kind, base = seed % 3, int(rng.integers(12, 49))
        self.higher_better = kind != 2
        self.fractions, repeats = [], {}
        for name in "qrstuvwxyz":
            size = base * int(rng.integers(1, 3))
            counts = size - rng.integers(0, 5, (n_repeats, 1))
            counts = counts - rng.integers(0, 3, (n_repeats, k))
            same = counts[:, rng.integers(k)]
            for column in np.flatnonzero(rng.random(k) < 0.3):
                counts[:, column] = rng.permutation(same)
            scores = (counts / size, 100 * counts / size, 1 - counts / size)[kind]
            repeats[name] = pd.DataFrame(scores, columns=self.methods)
            sign = 1 if self.higher_better else -1
            sums = (sign * (counts if self.higher_better else size - counts)).sum(0)
            self.fractions.append([Fraction(int(s), size * n_repeats) for s in sums])
        means = pd.DataFrame({name: each.mean() for name, each in repeats.items()}).T
        self.scores = ScoreMatrix(means, "score", self.higher_better, repeats=repeats)

    def mean_ranks(self):
        """Return the mean rank of each method; ties share theirs."""
        ranks = [
            Fraction(sum((o > v) + (o >= v) for o in row) + 1, 2)
            for row in self.fractions
            for v in row
        ]
        k = len(self.methods)
        return {m: sum(ranks[j::k]) / N_DATASETS for j, m in enumerate(self.methods)}

    def best(self):
        """Return on how many data sets no other is better than each method."""
        return {
            m: sum(row[j] == max(row) for row in self.fractions)
            for j, m in enumerate(self.methods)
        }

    def gains(self, first, second):
        """Return by how much the first method is better on each data set."""
        one, two = map(self.methods.index, (first, second))
        return [row[one] - row[two] for row in self.fractions]

    def counts(self, first, second):
        """Return wins, ties and losses."""
        gains = self.gains(first, second)
        return tuple(sum(np.sign(g) == side for g in gains) for side in (1, 0, -1))

    def p_holm(self, couples):
        """Return p of all pairs after Holm's correction."""
        p = {couple: signed_rank_p(self.gains(*couple)) for couple in couples}
        least, found = Fraction(0), {}
        for place, couple in enumerate(sorted(couples, key=p.get)):
            least = max(least, (len(couples) - place) * p[couple])
            found[couple] = min(Fraction(1), least)
        return found


def signed_rank_p(gains):
    """Return the p of Wilcoxon's test, by all signs of the gains that are not zero."""
    sizes = [abs(gain) for gain in gains if gain]
    doubled = [sum((o < v) + (o <= v) for o in sizes) + 1 for v in sizes]
    positive = sum(
        r for r, g in zip(doubled, filter(None, gains), strict=True) if g > 0
    )
    sums = _SIGNS[: 2 ** len(sizes), N_DATASETS - len(sizes) :] @ np.array(doubled, int)
    tail = min((sums >= positive).sum(), (sums <= positive).sum())
    return min(Fraction(1), Fraction(2 * int(tail), len(sums)))
