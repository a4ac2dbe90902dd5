"""Benchmarks as modules."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    """Return a function that imports a benchmark, which is forgotten afterwards."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    known = set(sys.modules)
    yield importlib.import_module
    for name in {*sys.modules} - known:
        if (
            Path(getattr(sys.modules[name], "__file__", None) or "").parent
            == BENCHMARKS
        ):
            del sys.modules[name]
