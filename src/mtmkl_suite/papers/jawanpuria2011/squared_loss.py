r"""MKL and MK-MTFL of Jawanpuria and Nath (2011) with the loss C Σ r²: a reading.

Both minimise over models and over weights of their kernels in turn, with machines
in closed form. For given weights η_tj task t has the kernel Σ_j η_tj K_tj and
β_t = 2C r_t; then the best weights for the models follow:

- MKL: η_tj ∝ ‖w_tj‖, of sum 1 in each task;
- MK-MTFL: η_tj = γ_j/λ_jt with γ_j ∝ ‖w_·j‖_p of sum 1, and
  λ_jt = (‖w_tj‖/‖w_·j‖_p)^{p−2}, which is alternated with β for given γ.

β gives the lower bound (y'β)² / 4(β'β/4C + ½Ω*²), by the dual norms Ω* of the page of
the paper. The same for MK-MTSFL is too slow to be certified.
"""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from mtmkl.kernels.terms import KernelList, KernelTerms, Normalization
from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods.mkmtfl import SEVEN_KERNELS
from mtmkl.solvers.solution import relative_gap
from mtmkl.typing import FloatArray, IntArray

_LEAST = 1e-12  # of a weight
_INNER = 10  # alternations of λ and β for given γ


@dataclass(eq=False, repr=False)
class SquaredMKL(MultiTaskRegressor):
    """Multiple kernel learning with the squared loss, one task at a time."""

    C: float = 1.0
    _: KW_ONLY
    kernels: KernelList = SEVEN_KERNELS
    normalize: Normalization = "trace"
    standardize: bool = False
    tol: float = 1e-3
    max_iter: int = 300

    def _fit(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        terms = KernelTerms.of(
            X, self.kernels, normalize=self.normalize, standardize=self.standardize
        )
        self._terms, self._Z = terms, terms.inputs(X)
        self._rows = [np.flatnonzero(task == t) for t in range(self.tasks_.size)]
        self._start()
        bound = -np.inf
        for n_iter in range(1, self.max_iter + 1):
            self._solve(y)
            fit = float(y @ self._beta)
            loss = float(self._beta @ self._beta) / (4.0 * self.C)
            primal, dual = self._halves()
            bound = max(bound, fit**2 / (4.0 * (loss + dual)) if fit > 0 else 0.0)
            self.objective_, self.n_iter_ = primal + loss, n_iter
            self.duality_gap_ = relative_gap(self.objective_, bound)
            if self.duality_gap_ <= self.tol:
                break
            self._renew()
        self.dual_objective_ = bound

    def _start(self) -> None:
        """Set the first weights."""
        self._grams = [
            np.moveaxis(self._terms.grams(self._Z[rows], self._Z[rows]), 1, 0)
            for rows in self._rows
        ]
        k = self._terms.n_terms
        self._weights = np.full((len(self._rows), k), 1.0 / k)

    def _solve(self, y: FloatArray) -> None:
        """Set β and the intercepts for the weights, and the norms of these."""
        self._beta = np.zeros(y.size)
        self.intercept_ = np.zeros(len(self._rows))
        for t, rows in enumerate(self._rows):
            n = rows.size
            system = np.ones((n + 1, n + 1))
            system[:n, :n] = np.einsum("k,kij->ij", self._weights[t], self._grams[t])
            system[:n, :n] += np.eye(n) / (2.0 * self.C)
            system[n, n] = 0.0
            found = np.linalg.solve(system, np.append(y[rows], 0.0))
            self._beta[rows], self.intercept_[t] = found[:n], found[n]
        squares = [
            np.einsum("i,kij,j->k", self._beta[rows], gram, self._beta[rows])
            for rows, gram in zip(self._rows, self._grams, strict=True)
        ]
        self._sizes = np.sqrt(np.maximum(squares, 0.0))
        self._norms = self._weights * self._sizes

    def _halves(self) -> tuple[float, float]:
        """Return ½Ω(w)² and ½Ω*(β)²."""
        primal = np.sum(self._norms.sum(axis=1) ** 2)
        return 0.5 * float(primal), 0.5 * float(np.sum(self._sizes.max(axis=1) ** 2))

    def _renew(self) -> None:
        """Set the weights that are best for the models."""
        weights = self._norms / np.maximum(
            self._norms.sum(axis=1, keepdims=True), _LEAST
        )
        self._weights = np.maximum(weights, _LEAST)

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        Z, out = self._terms.inputs(X), self.intercept_[task]
        for t, rows in enumerate(self._rows):
            own = task == t
            cross = self._terms.grams(Z[own], self._Z[rows])
            out[own] += np.einsum(
                "ikj,k,j->i", cross, self._weights[t], self._beta[rows]
            )
        return out


@dataclass(eq=False, repr=False)
class SquaredMKMTFL(SquaredMKL):
    """MK-MTFL with the squared loss."""

    p: float = 2.0

    def _start(self) -> None:
        super()._start()
        T, k = self._weights.shape
        self._gamma = np.full(k, 1.0 / k)
        self._lam = np.ones((T, k))
        if self.p > 2:
            self._lam *= T ** -((self.p - 2.0) / self.p)
        self._weights = self._gamma / self._lam

    def _solve(self, y: FloatArray) -> None:
        super()._solve(y)
        for _ in range(_INNER if self.p > 2 else 0):
            self._lam = self._best_lam()
            self._weights = self._gamma / self._lam
            super()._solve(y)

    def _best_lam(self) -> FloatArray:
        # By Lemma 3.1, for given β.
        shares = self._sizes / np.maximum(self._sizes.max(axis=0), _LEAST)
        order = self.p / (self.p - 2.0)
        lam = np.maximum(shares ** (2.0 / (order + 1.0)), 1e-9)
        scaled: FloatArray = lam / np.sum(lam**order, axis=0) ** (1.0 / order)
        return scaled

    def _halves(self) -> tuple[float, float]:
        norms = np.linalg.norm(self._norms, self.p, axis=0)
        sizes = np.linalg.norm(self._sizes, self.p / (self.p - 1.0), axis=0)
        return 0.5 * float(norms.sum() ** 2), 0.5 * float(sizes.max() ** 2)

    def _renew(self) -> None:
        norms = np.linalg.norm(self._norms, self.p, axis=0)
        self._gamma = np.maximum(norms / max(float(norms.sum()), _LEAST), _LEAST)
        self._weights = self._gamma / self._lam
