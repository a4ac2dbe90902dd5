r"""The convex relaxation of clustering tasks: penalty, proximal point, dual.

With Π = I − 11'/T, the mean w̄ of the tasks and r clusters the penalty of Jacob, Bach
and Vert (2008) is

    λ·( ε_M·T·||w̄||² + min_S tr( WΠ S⁻¹ ΠW' ) ),

the minimum over S with (1/ε_W)I ⪯ S ⪯ (1/ε_B)I and
tr S = (T − r + 1)/ε_W + (r − 1)/ε_B. The best S has the right singular vectors of WΠ,
which leaves T − 1 eigenvalues s_i, of sum (T − r)/ε_W + (r − 1)/ε_B: the vector 1,
which Π removes, has the least. So it is Σ_i σ_i²/s_i for the singular values σ of WΠ,
and both it and its proximal point put s_i = clip(c·b_i − e, 1/ε_W, 1/ε_B) for the
singular values b of WΠ or of the point, e = 0 or 2λ/ρ, and the c that gives the sum.

The conjugate takes the r − 1 largest singular values μ of MΠ with 1/ε_B, all others
with 1/ε_W: ||M1||²/(4λε_M T) + Σ_i s_i μ_i²/(4λ).
"""

from dataclasses import dataclass

import numpy as np

from mtmkl.typing import FloatArray


@dataclass(frozen=True)
class ClusteredTasks:
    """The penalty Ω of this module, for :func:`mtmkl.solvers.linear.task_admm.solve`.

    Parameters
    ----------
    lam : float
        λ > 0.
    n_clusters : int
        r, from 1 to T.
    epsilon_mean, epsilon_between, epsilon_within : float
        ε_M, ε_B, ε_W: positive, ε_B ≤ ε_W.
    """

    lam: float
    n_clusters: int
    epsilon_mean: float
    epsilon_between: float
    epsilon_within: float

    is_square = True

    @property
    def first_step(self) -> float:
        """ρ = 2λε_W, of the size of the ridge on deviations."""
        return 2.0 * self.lam * self.epsilon_within

    def prox(self, B: FloatArray, step: float) -> tuple[FloatArray, float]:
        """Return the Z that minimises Ω(Z) + (ρ/2)||Z − B||_F², and Ω(Z)."""
        mean = B.mean(axis=0)
        deviations = B - mean
        sizes, vectors = spectrum(deviations)
        eigenvalues = self.eigenvalues(sizes, 2.0 * self.lam / step)
        # Σ_i (factor_i − least)·(part along vector i) + least·deviations.
        factors = step * eigenvalues / (step * eigenvalues + 2.0 * self.lam)
        Z = (vectors * factors) @ (vectors.T @ deviations)
        kept = factors * sizes
        value = self.lam * float(np.sum(kept * kept / eigenvalues))
        pull = 2.0 * self.lam * self.epsilon_mean
        mean = mean * (step / (step + pull))
        value += 0.5 * pull * B.shape[0] * float(mean @ mean)
        return Z + mean, value

    def conjugate(self, M: FloatArray) -> float:
        """Return Ω*(M)."""
        total = M.sum(axis=0)
        n_tasks = M.shape[0]
        squares = spectrum(M - total / n_tasks)[0] ** 2
        largest = squares[n_tasks - self.n_clusters + 1 :].sum()
        value = largest / self.epsilon_between
        value += (squares.sum() - largest) / self.epsilon_within
        value += total @ total / (self.epsilon_mean * n_tasks)
        return float(value) / (4.0 * self.lam)

    def eigenvalues(self, sizes: FloatArray, shift: float) -> FloatArray:
        """Return clip(c·b − e, 1/ε_W, 1/ε_B) of the sum that S has, but its least.

        ``sizes`` are the b ≥ 0 in increasing order, the first that of the vector 1;
        ``shift`` is e ≥ 0.
        """
        low, high = 1.0 / self.epsilon_within, 1.0 / self.epsilon_between
        n_high = self.n_clusters - 1
        values = np.full(sizes.size, low)
        b = sizes[1:]
        if n_high == 0 or not b.any():
            values[sizes.size - n_high :] = high
            return values
        budget = (b.size - n_high) * low + n_high * high
        positive = b[b > 0.0]
        if (b.size - positive.size) * low + positive.size * high <= budget:
            # More than enough for all: a singular value of zero takes the rest.
            values[1:] = np.where(b > 0.0, high, low)
            return values
        # The sum is piecewise linear and increasing in c: find its piece, then c.
        ends = np.array([low + shift, high + shift])
        kinks = np.sort((ends / positive[:, None]).ravel())
        sums = np.clip(np.outer(kinks, b) - shift, low, high).sum(axis=1)
        k = max(int(np.searchsorted(sums, budget)), 1)
        rise = sums[k] - sums[k - 1]
        share = (budget - sums[k - 1]) / rise if rise > 0.0 else 1.0
        c = kinks[k - 1] + share * (kinks[k] - kinks[k - 1])
        values[1:] = np.clip(c * b - shift, low, high)
        return values


def spectrum(deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the singular values and left singular vectors of rows (T, d) of sum zero.

    In increasing order; the first value, of the vector 1, is exactly 0.
    """
    n_tasks = deviations.shape[0]
    gram = deviations @ deviations.T
    # The vector 1 has eigenvalue 0: send it below all others, so that it comes first.
    gram -= (1.0 + np.trace(gram)) / n_tasks
    values, vectors = np.linalg.eigh(gram)
    sizes = np.sqrt(np.maximum(values, 0.0))
    sizes[0] = 0.0
    return sizes, vectors
