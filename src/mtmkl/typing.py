"""Types for annotations."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

Samples = tuple[FloatArray, FloatArray, IntArray]
"""Features (n, d), targets (n,) and the numbers of tasks (n,)."""

Spec = str | Mapping[str, Any]
"""A name, or a mapping of ``name`` and parameters."""
