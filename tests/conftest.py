"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

from mtmkl_suite.arithmetic import pin

pin()  # before NumPy is loaded


def pytest_configure(config: pytest.Config) -> None:
    """Make errors of convergence warnings.

    The name of their class in ``pyproject.toml`` would load NumPy before this module.
    """
    name = "error::sklearn.exceptions.ConvergenceWarning"
    config.addinivalue_line("filterwarnings", name)


@pytest.fixture(scope="session")
def data_mirror() -> Path:
    """Folder of the real data (``MTMKL_DATA_MIRROR``); tests on it skip without."""
    value = os.environ.get("MTMKL_DATA_MIRROR")
    if not value or not Path(value).is_dir():
        pytest.skip("real data: MTMKL_DATA_MIRROR is not set to a folder")
    return Path(value)
