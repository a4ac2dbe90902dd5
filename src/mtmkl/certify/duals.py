"""Signed duals of support vector machines, and quadratic forms of them.

A quadratic form q(β) = ½ β'Kβ of the signed duals β of all N examples is given as
blocks: pairs of the rows that it couples and the Gram matrix of these. Examples of one
group, mostly a task, have one offset: 1'β = 0 over the group.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from scipy import sparse

from mtmkl.certify.cones import Optimum, RefereeError
from mtmkl.typing import FloatArray, IntArray

Form = Sequence[tuple[IntArray, FloatArray]]


@dataclass(frozen=True)
class Duals:
    """The duals of a loss in variables v from 0 to ``most``: β = map·v.

    Hinge loss: β_i = u C y_i v_i. ε-insensitive loss: β_i = u C (v_i − v_{N+i}). The
    dual maximises −cost'v less the forms of β. The unit u = 1/most is at most 1: where
    kernels are large, so that few β are near C, variables are of the size of these.
    """

    map: sparse.csr_array
    cost: FloatArray
    most: float

    @classmethod
    def of(
        cls, c: FloatArray, C: float, epsilon: float | None, forms: Sequence[Form]
    ) -> "Duals":
        """Return the duals of the hinge loss, or of one with a tube."""
        some = C * c * np.random.default_rng(0).uniform(0.3, 0.7, c.size)
        if epsilon is not None:
            some = C * some / max(float(np.abs(some).max()), 1e-300)
        energy = sum(some @ products(form, some) for form in forms)
        ratio = np.abs(c) @ np.abs(some) / max(float(energy), 1e-300)
        u = float(np.clip(10.0 * ratio, 1e-9, 1.0))
        if epsilon is None:
            labels = sparse.diags_array(u * C * c, format="csr")
            return cls(labels, np.full(c.size, -u * C), 1.0 / u)
        eye = sparse.eye_array(c.size, format="csr")
        return cls(
            sparse.csr_array(u * C * sparse.hstack([eye, -eye])),
            u * C * np.concatenate([epsilon - c, epsilon + c]),
            1.0 / u,
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.cost.size

    def equalities(self, groups: IntArray | None, extra: int = 0) -> FloatArray | None:
        """Return rows of 1'β = 0 for each group, with zeros for other variables."""
        if groups is None:
            return None
        member = np.equal.outer(np.unique(groups), groups).astype(float)
        rows: FloatArray = np.pad(member @ self.map, ((0, 0), (0, extra)))
        return rows

    def start(self) -> FloatArray:
        """Return a point inside the box, with β in general position."""
        return np.random.default_rng(0).uniform(0.03, 0.07, self.n)


def products(form: Form, beta: FloatArray) -> FloatArray:
    """Return Kβ."""
    out = np.zeros_like(beta)
    for rows, K in form:
        out[rows] += K @ beta[rows]
    return out


def total(forms: Sequence[Form], weights: FloatArray, n: int) -> FloatArray:
    """Return Σ_d w_d K_d as one matrix."""
    out = np.zeros((n, n))
    for weight, form in zip(weights, forms, strict=True):
        for rows, K in form:
            out[np.ix_(rows, rows)] += weight * K
    return out


def in_some_unit(function: Callable[..., Optimum]) -> Callable[..., Optimum]:
    """Let an interior point that does not get there try again in other units."""

    @wraps(function)
    def tried(*args: Any, unit: float = 1.0, **options: Any) -> Optimum:
        for factor in (1.0, 0.1, 10.0):
            try:
                return function(*args, unit=factor * unit, **options)
            except RefereeError as error:
                last = error
        raise last

    return tried
