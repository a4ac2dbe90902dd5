"""The Gram matrices of many kernels on the samples of many tasks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mtmkl.kernels.definite import check_definite, check_symmetric
from mtmkl.kernels.terms import KernelTerms
from mtmkl.sparse import Inputs, is_sparse, same_inputs
from mtmkl.typing import FloatArray, IntArray

MAX_BYTES = 2 * 2**30
"""Bound on the memory of the Gram matrices of a fit: 2 GiB."""

# Kernel values at a time of blocks that are computed together: 2 MB.
_STACKED = 1 << 18

# Share of its largest eigenvalue by which a task kernel may be indefinite.
_ROUNDING = 1e-8


class GramMemoryError(MemoryError):
    """Raised where Gram matrices would need more memory than the bound."""


@dataclass(frozen=True, eq=False)
class GramBlocks:
    """Kernels on blocks of samples: one block per task, or one block of all.

    Terms of rank one, k(x, z) = x_f z_f, come first; nothing of theirs is built. The
    other terms are matrices, in the layout that compiled code reads: the values of all
    terms at a pair of samples lie side by side. Blocks of the same samples, as of
    one-vs-rest tasks, may share their matrices.
    """

    #: Block b has the rows ``offsets[b]:offsets[b + 1]``, (B + 1,).
    offsets: IntArray
    #: The terms of rank one, (N, F).
    features: FloatArray
    #: The other terms, (P, G): pairs (i, j) of a block in row-major order, one block
    #: after the other.
    grams: FloatArray
    #: Row of ``grams`` at which the pairs of each block begin, (B,); blocks that begin
    #: at one place have the same samples.
    entries: IntArray

    @classmethod
    def of(
        cls,
        sizes: ArrayLike,
        *,
        features: ArrayLike | None = None,
        grams: FloatArray | None = None,
        entries: ArrayLike | None = None,
    ) -> "GramBlocks":
        """Return blocks of the given sizes, by default without shared matrices."""
        counts = np.asarray(sizes, dtype=np.intp)
        x = np.empty((int(counts.sum()), 0)) if features is None else features
        k = np.empty((int((counts**2).sum()), 0)) if grams is None else grams
        if entries is None:
            entries = np.cumsum(counts**2) - counts**2
        return cls(
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
            features=np.ascontiguousarray(x, dtype=np.float64),
            grams=np.ascontiguousarray(k, dtype=np.float64),
            entries=np.ascontiguousarray(entries, dtype=np.intp),
        )

    @cached_property
    def sizes(self) -> IntArray:
        """Samples in each block, shape (B,)."""
        return np.diff(self.offsets)

    @property
    def n_terms(self) -> int:
        """Number of terms F + G."""
        return self.features.shape[1] + self.grams.shape[1]

    def pairs(self, b: int) -> slice:
        """Return the rows of ``grams`` that are the pairs of block b."""
        return slice(self.entries[b], self.entries[b] + self.sizes[b] ** 2)

    def block(self, b: int) -> "GramBlocks":
        """Return the kernels of one block alone, of which nothing is copied."""
        rows = slice(self.offsets[b], self.offsets[b + 1])
        return GramBlocks.of(
            [self.sizes[b]],
            features=self.features[rows],
            grams=self.grams[self.pairs(b)],
        )


def check_task_kernel(values: ArrayLike, n_tasks: int) -> FloatArray:
    """Return a kernel between tasks, symmetric positive semi-definite of shape (T, T).

    Raises ValueError if it is not.
    """
    Q = np.array(values, dtype=np.float64)
    if Q.shape != (n_tasks, n_tasks):
        raise ValueError(
            f"a task kernel of {n_tasks} tasks has the shape {(n_tasks, n_tasks)}, got "
            f"{Q.shape}"
        )
    if not np.isfinite(Q).all():
        raise ValueError("the task kernel has entries that are not finite")
    if not np.allclose(Q, Q.T, rtol=1e-10, atol=1e-12 * np.abs(Q).max(initial=0.0)):
        raise ValueError("the task kernel must be symmetric")
    spectrum = np.linalg.eigvalsh(Q)
    if spectrum[0] < -_ROUNDING * max(spectrum[-1], 0.0):
        raise ValueError(
            "the task kernel must be positive semi-definite, its least eigenvalue is "
            f"{spectrum[0]:.3g}"
        )
    return Q


class TrainingSet:
    """The training samples of all tasks under some kernels, and outputs on others.

    Samples are sorted by block: one block per task, or with ``joined`` one of all,
    with the kernels between tasks; solvers see the rows in this ``order``. Of a run of
    blocks with the same samples the kernels of the first are computed, ``first_like``.

    With task kernels Q, (D, T, T), term d of joined tasks is k_d(x, z)·Q_d[s, t] for
    samples of the tasks s and t.
    """

    #: Whether the kernel values between the last other features and these are kept: for
    #: the models of a path, evaluated on the same samples.
    keep_last = False

    def __init__(
        self,
        terms: KernelTerms,
        X: Inputs,
        task: IntArray,
        n_tasks: int,
        *,
        joined: bool = False,
        task_kernels: FloatArray | None = None,
    ) -> None:
        self.terms = terms
        self.block_of_task = np.arange(n_tasks) * (not joined)
        n_blocks = 1 if joined else n_tasks
        block = self.block_of_task[task]
        self.order = np.argsort(block, kind="stable")
        self.sizes = np.bincount(block, minlength=n_blocks)
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        self.X = terms.inputs(X)[self.order]
        self.task = task[self.order]
        self.first_like = np.arange(n_blocks)
        is_likely = self.sizes[1:] == self.sizes[:-1]
        if not is_sparse(self.X):
            heads = self.X[np.minimum(self.offsets[:-1], len(self.X) - 1)]
            is_likely &= (heads[1:] == heads[:-1]).all(axis=1)
        for b in (np.flatnonzero(is_likely) + 1).tolist():
            if same_inputs(self.X[self.rows(b)], self.X[self.rows(b - 1)]):
                self.first_like[b] = self.first_like[b - 1]
        self._task_kernels = task_kernels
        self._last: tuple[Inputs, IntArray, _Others] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}

    def rows(self, b: int) -> slice:
        """Return the rows of block b."""
        return slice(self.offsets[b], self.offsets[b + 1])

    def features(self) -> FloatArray:
        """Return the terms that are features, (n, F)."""
        return np.ascontiguousarray(self.terms.features(self.X))

    def blocks(self) -> GramBlocks:
        """Return the kernels of all blocks, built where compiled code reads them.

        Raises GramMemoryError first if they would need more than ``MAX_BYTES``, and
        ValueError if a kernel is not symmetric positive semi-definite on a block.
        """
        n_grams = int(np.sum(~self.terms.is_feature))
        distinct = np.unique(self.first_like)
        counts = np.zeros(self.sizes.size, dtype=np.int64)
        counts[distinct] = self.sizes[distinct].astype(np.int64) ** 2
        n_entries = int(counts.sum())
        needed = 8 * n_entries * n_grams
        if needed > MAX_BYTES:
            raise GramMemoryError(
                f"{n_grams} Gram matrices of {distinct.size} blocks of up to "
                f"{self.sizes.max()} samples need {1e-9 * needed:.1f} GB, the bound "
                f"is {1e-9 * MAX_BYTES:.1f} GB. Take fewer samples or fewer kernels; "
                '"features" needs no matrix'
            )
        blocks = GramBlocks.of(
            self.sizes,
            features=self.features(),
            grams=np.empty((n_entries, n_grams)),
            entries=(np.cumsum(counts) - counts)[self.first_like],
        )
        for run in self._runs(distinct, self.sizes, self.X) if n_grams else ():
            n, begin = self.sizes[run[0]], blocks.entries[run[0]]
            part = blocks.grams[begin : begin + run.size * n * n]
            by_term = part.reshape(run.size, n, n, n_grams).transpose(3, 0, 1, 2)
            X = self._inputs_of(run)
            self._write_kernels(X, X, self.task[self.rows(run[0])], run, by_term)
        self.terms.refuse_overflow(blocks.grams.T)
        for g, name in self.terms.unproven():
            for b in distinct:
                K = blocks.grams[blocks.pairs(b), g].reshape(self.sizes[b], -1)
                check_symmetric(K, f"the Gram matrix of the kernel {name}")
                check_definite(K, name)
        return blocks

    def _runs(self, blocks: IntArray, n_others: IntArray, X: Inputs) -> list[IntArray]:
        """Return some blocks in runs, whose kernels on ``n_others`` (B,) are one call.

        Blocks of a run follow one another and are alike in both numbers of samples. The
        others are of X, which may be sparse where the training samples are not.
        """
        stacks = self.terms.take_stacks(self.X) and not is_sparse(X)
        shapes = list(zip(self.sizes.tolist(), n_others.tolist(), strict=True))
        runs: list[list[int]] = []
        for b in blocks.tolist():
            last = runs[-1] if stacks and runs else [-2]
            follows = last[-1] == b - 1 and shapes[last[-1]] == shapes[b]
            n, m = shapes[b]
            if follows and (len(last) + 1) * n * m <= _STACKED:
                last.append(b)
            else:
                runs.append([b])
        return [np.array(run, dtype=np.intp) for run in runs]

    def _inputs_of(self, run: IntArray) -> Inputs:
        """Return the features of a run, (n, d) of a single block, else (B, n, d)."""
        X = self.X[self.offsets[run[0]] : self.offsets[run[-1] + 1]]
        return X if run.size == 1 else X.reshape(run.size, -1, X.shape[1])

    def _sharing(
        self, first_like: IntArray, counts: IntArray, X: Inputs
    ) -> list[IntArray]:
        """Return runs of blocks with others, with those of the same values, (B, S).

        ``first_like`` names the first block with the same kernel values.
        """
        firsts = np.flatnonzero((first_like == np.arange(counts.size)) & (counts > 0))
        is_alone = np.bincount(first_like, minlength=counts.size)[firsts] == 1
        alone = self._runs(firsts[is_alone], counts, X)
        shared = [np.flatnonzero(first_like == b) for b in firsts[~is_alone]]
        return [run[:, None] for run in alone] + [like[None] for like in shared]

    def _write_kernels(
        self, X: Inputs, own: Inputs, task: IntArray, run: IntArray, out: FloatArray
    ) -> None:
        """Write the kernels of features, of these tasks, with a run's own to ``out``.

        It has the shape (G, B, m, n).
        """
        if run.size == 1:
            out = out[:, 0]
        self.terms.write_grams(X, own, out)
        if self._task_kernels is not None:  # of joined tasks, one block
            own_task = self.task[self.rows(run[0])]
            for gram, Q in zip(out, self._task_kernels, strict=True):
                gram *= Q[task[:, None], own_task]

    def outputs(
        self, X: Inputs, task: IntArray, beta: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return Σ_d w_d Σ_i β_i k_d(x_i, x) over the samples i of the block of x.

        X has raw features, beta the order of the training set; weights are (B, D).
        """
        out = np.zeros(task.size)
        others = self._others(X, task)
        chosen = self.terms.is_feature
        if chosen.any():
            features = self.features()
            for b, group in enumerate(others.groups):
                rows = self.rows(b)
                w = (features[rows].T @ beta[rows]) * weights[b, chosen]
                out[group] = others.features[group] @ w
        for blocks, rows_of_blocks, cross in others.cross:
            # Blocks that share kernel values, in the last axis, are one product.
            n_blocks, m, n_grams, n = cross.shape
            own = beta[self.offsets[blocks][..., None] + np.arange(n)]
            by_term = cross.reshape(n_blocks, -1, n) @ own.swapaxes(1, 2)
            by_term = by_term.reshape(n_blocks, m, n_grams, -1)
            values = np.moveaxis(by_term, 3, 1) @ weights[blocks][..., ~chosen, None]
            out[rows_of_blocks] += values[..., 0]
        return out

    def _others(self, X: Inputs, task: IntArray) -> "_Others":
        if self._last is not None:
            last_X, last_task, others = self._last
            if np.array_equal(last_task, task) and same_inputs(last_X, X):
                return others
        block = self.block_of_task[task]
        counts = np.bincount(block, minlength=self.sizes.size)
        groups = np.split(np.argsort(block, kind="stable"), np.cumsum(counts)[:-1])
        Z = self.terms.inputs(X)
        first_like = np.arange(self.sizes.size)
        for b in np.flatnonzero(self.first_like != first_like):
            like = self.first_like[b]
            if same_inputs(Z[groups[b]], Z[groups[like]]):
                first_like[b] = like
        others = _Others(groups, self.terms.features(Z), [])
        n_grams = int(np.sum(~self.terms.is_feature))
        for blocks in self._sharing(first_like, counts, Z) if n_grams else ():
            rows = np.array([[groups[b] for b in like] for like in blocks])
            run, first = blocks[:, 0], blocks[0, 0]
            cross = np.empty((run.size, counts[first], n_grams, self.sizes[first]))
            by_term, own = cross.transpose(2, 0, 1, 3), self._inputs_of(run)
            inputs = Z[rows[0, 0] if run.size == 1 else rows[:, 0]]
            self._write_kernels(inputs, own, task[rows[0, 0]], run, by_term)
            self.terms.refuse_overflow(by_term)
            others.cross.append((blocks, rows, cross))
        if self.keep_last:
            self._last = X.copy(), task.copy(), others
        return others


@dataclass(frozen=True)
class _Others:
    """Other features, and their kernels with a training set."""

    #: Their rows, by block.
    groups: list[IntArray]
    features: FloatArray
    #: For each run of blocks, (B,), with those that share kernel values with them, S in
    #: all: their numbers (B, S), their rows (B, S, m), and the kernels, (B, m, G, n).
    cross: list[tuple[IntArray, IntArray, FloatArray]]
