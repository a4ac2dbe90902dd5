"""The same bits, whatever the code is compiled for and in whatever order."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "support" / "digests.py"


@pytest.fixture
def run(tmp_path):
    def run(name, *command, **variables):
        folder = {"NUMBA_CACHE_DIR": str(tmp_path / name)}
        return subprocess.run(
            [sys.executable, *command], env=os.environ | folder | variables, check=True,
            text=True, capture_output=True,
        ).stdout  # fmt: skip

    return run


@pytest.fixture
def here(run):
    found = run("here", SCRIPT)
    assert len(set(found.splitlines())) > 500
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("target", ["x86-64", "x86-64-v2", "x86-64-v3"])
def test_any_processor_gives_the_same_bits(run, here, target):
    there = {"NUMBA_CPU_NAME": target, "NUMBA_CPU_FEATURES": ""}
    assert run(target, SCRIPT, **there) == here


@pytest.mark.nightly
def test_the_order_of_compiling_changes_no_bit(run, here):
    assert run("backwards", SCRIPT, "--backwards") == here
    run("parallel", "-m", "mtmkl.compile", "--processes", "2")
    assert run("parallel", SCRIPT) == here
