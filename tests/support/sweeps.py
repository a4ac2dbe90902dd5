"""Values that tests are run for: some by default, the others by ``make test-all``."""

from collections.abc import Iterable
from typing import Any

import pytest


def sweep(usual: Iterable[Any], nightly: Iterable[Any]) -> list[Any]:
    """Return the values of a parametrised test, of which the last ones are nightly."""
    return [
        *usual,
        *(pytest.param(value, marks=pytest.mark.nightly) for value in nightly),
    ]
