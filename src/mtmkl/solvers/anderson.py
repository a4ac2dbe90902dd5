"""Anderson acceleration of fixed-point iterations.

References
----------
H. F. Walker and P. Ni, Anderson acceleration for fixed-point iterations, SIAM Journal
on Numerical Analysis, 2011.
"""

import math

import numpy as np

from mtmkl.typing import FloatArray

_RIDGE = 1e-10  # of the least squares, by the trace
_WORSE = 2.0  # a residual is nearly monotone, and seldom needs the way back


class AndersonExtrapolation:
    """Mixes the last points of the iteration V ← V + F(V), with a way back.

    Each point is the combination of the last images V + F(V) whose F is least if F is
    linear. Where F is much larger there than before, it goes on from the plain image.

    Parameters
    ----------
    shape : tuple of int
        Of V.
    memory : int
        Differences of points that are kept, at least 1.
    """

    def __init__(self, shape: tuple[int, ...], memory: int) -> None:
        n = int(np.prod(shape))
        self.memory = memory
        self.changes, self.steps = np.zeros((2, memory, n))
        self.gram, self.products = np.zeros((memory, memory)), np.zeros(memory)
        self.clear()

    def clear(self) -> None:
        """Forget all points."""
        self.last: tuple[FloatArray, FloatArray] | None = None
        self.count, self.size, self.is_mixed = 0, np.inf, False

    def following(self, V: FloatArray, F: FloatArray) -> FloatArray:
        """Return the point after V, whose move is F."""
        move = F.ravel()
        size, image = math.sqrt(move @ move), V + F
        if self.last is not None:
            if self.is_mixed and size > _WORSE * self.size:
                image = self.last[0]
                self.clear()
                return image
            self._keep(*self.last, image, F)
        self.last, self.size, self.is_mixed = (image, F), size, self.count > 0
        if not self.is_mixed:
            return image
        n = min(self.count, self.memory)
        gram = self.gram[:n, :n].copy()
        gram.reshape(-1)[:: n + 1] += _RIDGE * gram.trace() + 1e-300
        shares = np.linalg.solve(gram, self.products[:n])
        out = (shares @ self.steps[:n]).reshape(V.shape)
        return np.subtract(image, out, out=out)

    def _keep(
        self, before: FloatArray, F_before: FloatArray, image: FloatArray, F: FloatArray
    ) -> None:
        """Write the last differences over the oldest, and what belongs to them."""
        k = self.count % self.memory
        change = np.subtract(F.ravel(), F_before.ravel(), out=self.changes[k])
        np.subtract(image.ravel(), before.ravel(), out=self.steps[k])
        products = self.changes @ F.ravel()
        # Products with the change are differences of those with F: one pass serves.
        self.gram[k] = self.gram[:, k] = products - self.products
        self.gram[k, k] = change @ change
        self.products = products
        self.count += 1
