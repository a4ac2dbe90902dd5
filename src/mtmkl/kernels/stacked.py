"""Kernels that are known by their Gram matrices alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.base import FloatArray
from mtmkl.kernels.gram import GramStack


@dataclass(frozen=True, eq=False)
class StackedKernel:
    """One kernel of a stack; inputs are row numbers of the stack, in one column.

    Parameters
    ----------
    stack : GramStack
        Square: of all examples that will ever be asked for.
    number : int
        Which of its kernels.
    """

    stack: GramStack
    number: int

    def __repr__(self) -> str:
        # Tells stacks apart, without printing them.
        return f"StackedKernel({id(self.stack):#x}, {self.number})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "StackedKernel":
        # Cloning an estimator copies its parameters: matrices stay where they are.
        return self

    def fit(self, X: FloatArray) -> "StackedKernel":
        """Return the kernel itself."""
        return self

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix between rows X and Z of the stack."""
        matrix = self.stack.values[self.number]
        return matrix[np.ix_(self._rows(X), self._rows(Z))].astype(np.float64)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return the diagonal entries of rows X of the stack."""
        rows = self._rows(X)
        return self.stack.values[self.number][rows, rows].astype(np.float64)

    def _rows(self, X: FloatArray) -> NDArray[np.intp]:
        rows = X[:, 0].astype(np.intp)
        n = self.stack.values.shape[1]
        if X.shape[1] != 1 or np.any(rows != X[:, 0]) or np.any(rows < 0):
            raise ValueError("inputs of a stacked kernel are row numbers in one column")
        if rows.size and rows.max() >= n:
            raise ValueError(f"row {rows.max()} of a stack with {n} rows")
        return rows


def stacked(stack: GramStack) -> list[StackedKernel]:
    """Return the kernels of a stack, to pass to an estimator with row numbers as X.

    Parameters
    ----------
    stack : GramStack
        Square.

    Raises
    ------
    ValueError
        If it is not square.
    """
    _, n, m = stack.values.shape
    if n != m:
        raise ValueError(f"a stack of square matrices is needed, got {n} × {m}")
    return [StackedKernel(stack, number) for number in range(stack.n_kernels)]
