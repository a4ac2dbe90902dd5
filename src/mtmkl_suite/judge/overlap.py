r"""Samples that repeats share, and their effect on the variance of the mean.

The repeats of an experiment are independent only if each draws new data. Random splits
of one data set share samples, and so do splits of draws from a finite pool; the mean
of n repeats then varies more than their spread S tells. With a correlation ρ of two
repeats, S² estimates σ² (1 − ρ), and

.. math:: \operatorname{Var}(\bar v) = σ² \left(\frac{1 - ρ}{n} + ρ\right)
          \approx S² \left(\frac{1}{n} + c\right), \qquad c = \frac{ρ}{1 - ρ}.

A t-test that divides by S √(1/n + c) in place of S √(1/n), with n − 1 degrees of
freedom, is the corrected resampled t-test of Nadeau and Bengio (2003). They take
ρ = n_test / N for splits of N samples, so that c = n_test / (N − n_test), the ratio of
test to other samples. This is exact if a repeat's value is the mean of an effect of
each of its test samples: two means of n_test random samples out of N have in common,
on average, a share n_test / N of their samples.

The same argument gives the other cases. A repeat draws m of N samples (m = N: one data
set; N = ∞: new data), and K splits of the draw, with test shares q_1, …, q_K, are
averaged with equal weights. Given an effect of variance τ² of each sample,

.. math:: \operatorname{Cov}(v_r, v_s) = \frac{τ²}{N}, \qquad
          \operatorname{Var}(v_r) = \frac{τ²}{m}
          \left[1 + \frac{1}{K²} \sum_k \left(\frac{1}{q_k} - 1\right)\right],

and with the share f = m / N of the pool in a draw

.. math:: c = \frac{\operatorname{Cov}}{\operatorname{Var} - \operatorname{Cov}}
          = \frac{f}{1 - f + K^{-2} \sum_k (1 / q_k - 1)}.

It is Nadeau and Bengio's at K = 1 and f = 1, and 0 for new data. The average of many
splits of the same samples has a larger c than each of them: its spread falls with
every further split, and what the samples have in common stays.

A number that depends on the fit alone, such as the number of features, has the share of
the samples for training (and for validation, where these choose its hyper-parameters)
in place of the test share.

If classes (or tasks) are drawn separately, m_c of N_c samples of class c, the share of
the pool is f = Σ m_c² / N_c / Σ m_c.

References
----------
Nadeau, C., & Bengio, Y. (2003). Inference for the generalization error. Machine
Learning, 52(3), 239-281.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mtmkl_suite.judge.sample import COLUMN_METRICS
from mtmkl_suite.metrics import metric_behind


@dataclass(frozen=True)
class Overlap:
    """Samples that the repeats of a data set share under a protocol."""

    pool_share: float
    """f, the share of the pool that each repeat draws: 1 if all repeats split the same
    data, 0 if each has new data."""
    test_share: float
    train_share: float
    """Shares of the drawn samples that are for testing and for training; the others
    are for validation, or unused."""
    same_roles: bool = False
    """True if all repeats have the same training and the same test samples."""
    tasks_share: bool = False
    """True if tasks have samples in common."""

    def used_share(self, role: "Role") -> float:
        """Return q, the share of the drawn samples that a value depends on."""
        shares = {"test": self.test_share, "train": self.train_share}
        return shares.get(role, 1 - self.test_share)


Role = Literal["test", "train", "learning"]
"""Samples that a value depends on; those for learning are to train and to validate."""


Place = tuple[str, str, int]
"""Experiment, data set and train size."""

Overlaps = Mapping[Place, Overlap]
"""The overlap at every place of a scores table."""


def role_behind(metric: str, *, is_chosen: bool) -> Role:
    """Return the samples that a metric depends on."""
    behind = metric_behind(metric)
    if metric not in COLUMN_METRICS and not (behind and behind.of_fit):
        return "test"
    return "learning" if is_chosen else "train"


def variance_ratio(
    splits: Iterable[Overlap], *, unit: str = "repeat", role: Role = "test"
) -> float:
    """Return c: the variance of a mean of n units is S² (1 / n + c).

    ``splits``: The splits whose values are averaged in every unit, one or more. Those
    of several data sets count as if they were of the one that overlaps most.
    """
    known = list(splits)
    if unit == "task":
        return math.inf if any(split.tasks_share for split in known) else 0.0
    pool_share = max(split.pool_share for split in known)
    if pool_share == 0:
        return 0.0
    if any(split.same_roles for split in known):
        return math.inf
    used = np.array([split.used_share(role) for split in known])
    within = float((1 / used - 1).sum()) / len(known) ** 2
    return pool_share / (1 - pool_share + within)


def share_of_pool(n_drawn: int, sizes: Iterable[int]) -> float:
    """Return the share f of a pool that a draw of some samples of each class takes."""
    of_class = np.array(list(sizes), dtype=float)
    drawn = np.minimum(n_drawn, of_class)
    return float((drawn**2 / of_class).sum() / drawn.sum())
