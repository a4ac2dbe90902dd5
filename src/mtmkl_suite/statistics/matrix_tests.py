"""All tests of methods over data sets, from one number for each."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtmkl.errors import unknown
from mtmkl_suite.statistics.hierarchical import MIN_REPEATS, compare_all_repeats
from mtmkl_suite.statistics.pairs import (
    LEVEL,
    MIN_UNITS,
    compare_all,
    holm,
    smallest_wilcoxon_p,
    wilcoxon_p,
)
from mtmkl_suite.statistics.ranks import (
    FriedmanResult,
    critical_difference,
    friedman,
    holm_against_control,
    rank_methods,
    without_tie_correction,
)
from mtmkl_suite.statistics.score_checks import ScoresError
from mtmkl_suite.statistics.score_tables import ScoreMatrix
from mtmkl_suite.statistics.ties import differences, scale_of, without_rounding

TEST_COLUMNS = ("test", "statistic", "df", "p", "note")
"""Columns of :meth:`MatrixTests.overall`."""


@dataclass(frozen=True)
class MatrixTests:
    """Tests of methods over data sets."""

    scores: ScoreMatrix
    rope: float
    """Half width of the region of practical equivalence, 0 for none."""
    methods: pd.DataFrame
    """Best mean rank first; columns mean_rank, mean, best (on how many data sets no
    other is better)."""
    friedman: FriedmanResult | None
    """None for two methods."""
    critical_difference: float
    """Of mean ranks, by Nemenyi's test."""
    control: str | None
    against_control: pd.DataFrame | None
    """As :func:`mtmkl_suite.statistics.ranks.holm_against_control` returns it."""
    pairs: pd.DataFrame
    """:data:`mtmkl_suite.statistics.pairs.PAIR_COLUMNS`, the better of two first."""
    posteriors: pd.DataFrame | None = None
    """The same pairs, as
    :func:`mtmkl_suite.statistics.hierarchical.compare_all_repeats` returns them."""
    test_share: float | None = None
    """The correlation of two repeats that these assume."""

    @property
    def n(self) -> int:
        """Number of data sets."""
        return len(self.scores.values)

    def overall(self) -> pd.DataFrame:
        """Return Friedman's test and its refinements, :data:`TEST_COLUMNS`."""
        rows: list[tuple[object, ...]] = []
        k = len(self.methods)
        if self.friedman is not None:
            found = self.friedman
            chi2, f = without_tie_correction(found.ranks, self.n)
            both = f"{k - 1}, {(k - 1) * (self.n - 1)}"
            rows = [
                ("Iman–Davenport F", found.f, both, found.p_iman_davenport,
                 "corrected for ties, preferred"),
                ("Friedman χ²", found.chi2, f"{k - 1}", found.p, "corrected for ties"),
                ("Iman–Davenport F", f, both, math.nan, "without correction for ties"),
                ("Friedman χ²", chi2, f"{k - 1}", math.nan,
                 "without correction for ties"),
            ]  # fmt: skip
        rows.append(
            ("Nemenyi's critical difference of mean ranks", self.critical_difference,
             "", math.nan, "level 0.05")
        )  # fmt: skip
        return pd.DataFrame(rows, columns=list(TEST_COLUMNS))

    def power_limit(self) -> str:
        """Say whether Wilcoxon's test can be significant at all after Holm."""
        tested = int(self.pairs["p_wilcoxon"].notna().sum())
        if not tested:
            return f"{self.n} data sets are too few for tests of pairs."
        least = smallest_wilcoxon_p(self.n)
        text = (
            f"The smallest p that {self.n} data sets can give is {least:.2g} (all "
            f"differences of one sign); Holm's correction over {tested} "
            f"pair{'s' * (tested > 1)} makes it {min(1.0, least * tested):.2g}"
        )
        if bool(self.pairs["can_reject"].any()):
            return f"{text}."
        return (
            f"{text}: no pair can be significant at 0.05, however different. Take more "
            "data sets, or fewer methods fixed in advance."
        )

    def reversed_without(self) -> list[str]:
        """Return in words what leaving out one data set reverses, and which one."""
        if self.n < 3:
            return []
        # Which numbers are ties does not depend on what is left out.
        values = without_rounding(self.scores.values)
        scale = scale_of(values.to_numpy())
        pairs = zip(self.pairs["first"], self.pairs["second"], strict=True)
        gains = pd.DataFrame(
            {
                pair: differences(*values[list(pair)].to_numpy().T, scale=scale)[0]
                for pair in pairs
            },
            index=values.index,
        )
        now = self._conclusions(values, gains)
        without = {
            str(name): self._conclusions(*(t.drop(index=name) for t in (values, gains)))
            for name in values.index
        }
        found = []
        for question, answer in now.items():
            names = [name for name, each in without.items() if each[question] != answer]
            if names:
                found.append(f"{answer} (without {', '.join(names)})")
        return found

    def _conclusions(self, values: pd.DataFrame, gains: pd.DataFrame) -> dict[str, str]:
        """Return what the tests find, by the question they answer."""
        higher_better = self.scores.higher_better
        ranks = rank_methods(values, higher_better=higher_better).mean()
        answers = {"best": f"{ranks.idxmin()} has the best mean rank"}
        if self.friedman is not None:
            p = friedman(values, higher_better=higher_better).p_iman_davenport
            answers["differ"] = (
                "the methods differ" if p < LEVEL else "no difference is shown"
            )
        if self.control is not None:
            tests = holm_against_control(ranks, len(values), self.control)
            answers |= {
                str(name): _apart(str(name), str(self.control), p)
                for name, p in tests["p_holm"].items()
            }
        if self.pairs["p_wilcoxon"].notna().any():
            p_pairs = holm([wilcoxon_p(gain) for gain in gains.to_numpy().T])
            names = self.pairs["first"], self.pairs["second"]
            answers |= {
                f"{a} | {b}": _apart(a, b, p)
                for a, b, p in zip(*names, p_pairs, strict=True)
            }
        return answers


def _apart(first: str, second: str, p: float) -> str:
    verb = "differs" if p < LEVEL else "does not differ"
    return f"{first} {verb} significantly from {second}"


def compare_matrix(
    scores: ScoreMatrix,
    *,
    control: str | None = None,
    rope: float = 0.0,
    in_pairs: bool = True,
    test_share: float | None = None,
    seed: int = 0,
) -> MatrixTests:
    """Compare methods over data sets.

    All methods are tested against the ``control`` and, if asked for, ``in_pairs``.
    ``rope`` is half the width of the region of practical equivalence, in the unit of
    the score.

    ``test_share`` is the share of the samples of a data set that each of its repeats
    tests on: the correlation of two repeats. Repeats are compared if it is given, there
    are :data:`~mtmkl_suite.statistics.pairs.MIN_UNITS` data sets, and each has
    :data:`~mtmkl_suite.statistics.hierarchical.MIN_REPEATS` of them.
    """
    values = without_rounding(scores.values)
    if control is not None and control not in values:
        raise ScoresError(unknown("method", control, list(map(str, values))))
    if not (rope >= 0 and math.isfinite(rope)):
        raise ScoresError(f"rope is {rope}, wanted a number of at least 0")
    if test_share is not None and not 0 <= test_share < 1:
        raise ScoresError(
            f"test share is {test_share}, wanted a number from 0 to less than 1"
        )
    ranks = rank_methods(values, higher_better=scores.higher_better)
    methods = pd.DataFrame(
        {
            "mean_rank": ranks.mean(),
            "mean": without_rounding(values.mean()),
            "best": ranks.eq(ranks.min(axis=1), axis=0).sum(),
        }
    ).sort_values("mean_rank", kind="stable")
    pairs = compare_all(
        {
            (first, second): values[[first, second]].to_numpy()
            for first, second in itertools.combinations(
                methods.index if in_pairs else [], 2
            )
        },
        experiment="",
        metric=scores.score,
        unit="data set",
        seed=seed,
        higher_better=scores.higher_better,
        scale=scale_of(values.to_numpy()),
        rope=rope,
    )
    posteriors = None
    order = list(methods.index)
    shared = {d: table[order].dropna() for d, table in scores.repeats.items()}
    is_repeated = len(values) >= MIN_UNITS and all(
        len(shared.get(name, ())) >= MIN_REPEATS for name in values.index
    )
    if test_share is not None and is_repeated:
        posteriors = compare_all_repeats(
            {name: shared[name] for name in values.index},
            dict.fromkeys(values.index, test_share / (1 - test_share)),
            higher_better=scores.higher_better,
            rope=rope,
        )
    return MatrixTests(
        scores=scores,
        rope=rope,
        methods=methods,
        friedman=(
            friedman(values, higher_better=scores.higher_better)
            if values.shape[1] > 2
            else None
        ),
        critical_difference=critical_difference(values.shape[1], len(values)),
        control=control,
        against_control=(
            None
            if control is None
            else holm_against_control(ranks.mean(), len(values), control)
        ),
        pairs=pairs,
        posteriors=posteriors,
        test_share=test_share,
    )


def connected_groups(ranks: pd.Series, difference: float) -> list[list[str]]:
    """Return the largest groups of ordered methods whose ranks differ by less."""
    values = ranks.to_numpy(dtype=float)
    ends = np.searchsorted(values, values + difference, side="left")
    groups = []
    furthest = 0
    for start, end in enumerate(ends):
        if end > furthest and end - start > 1:
            groups.append([str(name) for name in ranks.index[start:end]])
        furthest = max(furthest, int(end))
    return groups
