r"""Task clusters that differ from feature to feature: penalty, proximal point, dual.

For W = U + V (d × T) the penalty of Zhong and Kwok (2012) is the least over such splits
of

    λ₁ Σ_d Σ_{i<j} |u_di − u_dj| + λ₂ ||U||_F² + λ₃ ||V||_F².

Given U, V is a multiple of what remains, so that a proximal point in W is one of the
pairwise differences alone, feature by feature, which is exact: with the values of a
feature in increasing order, the k-th (of T, from 1) is shifted by κ(T + 1 − 2k), and
runs that are no longer in order are pooled.

The conjugate is finite everywhere: λ₂||U_M||² + ||M||²/(4λ₃), where U_M is the proximal
point of the pairwise differences, with weight λ₁/(2λ₂), at M/(2λ₂).
"""

from dataclasses import dataclass

import numpy as np

from mtmkl.compiled import compiled
from mtmkl.typing import FloatArray

#: Least weight of ||U||² and ||V||²; less would leave the split undetermined.
RIDGE = 1e-6


@dataclass(frozen=True)
class FlexibleClusters:
    """The penalty Ω of this module, for :func:`mtmkl.solvers.linear.task_admm.solve`.

    Parameters
    ----------
    lam_1 : float
        λ₁, at least 0.
    lam_2, lam_3 : float
        λ₂, λ₃: positive; the estimator takes :data:`RIDGE` where they are less.
    """

    lam_1: float
    lam_2: float
    lam_3: float

    is_square = False

    @property
    def first_step(self) -> float:
        """ρ = 2λ₃, of the size of the ridge on V."""
        return 2.0 * self.lam_3

    def split(self, W: FloatArray) -> FloatArray:
        """Return U of the best split of W, both of shape (T, d)."""
        both = self.lam_2 + self.lam_3
        return prox_pairwise(W * (self.lam_3 / both), self.lam_1 / (2.0 * both))[0]

    def prox(self, B: FloatArray, step: float) -> tuple[FloatArray, float]:
        """Return the Z that minimises Ω(Z) + (ρ/2)||Z − B||_F², and Ω(Z)."""
        # With V at its best for U, a ridge of weight k pulls U towards B.
        k = self.lam_3 * step / (step + 2.0 * self.lam_3)
        both = k + self.lam_2
        U, differences = prox_pairwise(B * (k / both), self.lam_1 / (2.0 * both))
        V = (B - U) * (step / (step + 2.0 * self.lam_3))
        value = self.lam_1 * differences
        value += self.lam_2 * np.sum(U * U) + self.lam_3 * np.sum(V * V)
        return U + V, float(value)

    def conjugate(self, M: FloatArray) -> float:
        """Return Ω*(M)."""
        half = 0.5 / self.lam_2
        U, _ = prox_pairwise(M * half, self.lam_1 * half)
        return float(self.lam_2 * np.sum(U * U) + np.sum(M * M) / (4.0 * self.lam_3))


@compiled
def prox_pairwise(B: FloatArray, weight: float) -> tuple[FloatArray, float]:
    """Return the U that minimises κ Σ_d Σ_{i<j} |u_di − u_dj| + ½||U − B||_F².

    B has shape (T, d). Pooled values are equal to the last bit. Also returns
    Σ_d Σ_{i<j} |u_di − u_dj|.
    """
    n_tasks, n_features = B.shape
    U = np.empty_like(B)
    differences = 0.0
    values = np.empty(n_tasks)
    order = np.empty(n_tasks, dtype=np.intp)
    total = np.empty(n_tasks)
    count = np.empty(n_tasks, dtype=np.intp)
    for i in range(n_features):
        # Insertion: of a few dozen tasks it is several times as fast as a quicksort.
        for t in range(n_tasks):
            value = B[t, i]
            k = t
            while k > 0 and values[k - 1] > value:
                values[k] = values[k - 1]
                order[k] = order[k - 1]
                k -= 1
            values[k] = value
            order[k] = t
        n_pools = 0
        for k in range(n_tasks):
            value = values[k] + weight * (n_tasks - 1 - 2 * k)
            size = 1
            while (
                n_pools > 0 and total[n_pools - 1] * size >= value * count[n_pools - 1]
            ):
                n_pools -= 1
                value += total[n_pools]
                size += count[n_pools]
            total[n_pools] = value
            count[n_pools] = size
            n_pools += 1
        k = 0
        for pool in range(n_pools):
            mean = total[pool] / count[pool]
            # The k-th value from below, from 0, is in 2k + 1 − T differences.
            differences += mean * count[pool] * (2 * k + count[pool] - n_tasks)
            for _ in range(count[pool]):
                U[order[k], i] = mean
                k += 1
    return U, differences
