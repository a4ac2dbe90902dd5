import hashlib
import os
import subprocess
import sys

import pytest

CALLEE = '''
import numpy as np
from mtmkl.compiled import compiled, routine
FACTOR = np.float64(2.0)
BITS = np.int64(0)
TABLE = np.zeros(3)
@routine
def scaled(x):
    """Words."""
    return 2.0 * x + BITS
@routine
def scaled_too(x):
    return FACTOR * x + TABLE[0]
@compiled
def zeros(n):
    return np.zeros((2, n)), np.zeros(n, np.int64)
'''
CALLER = """
import callee
import numpy as np
from callee import scaled
from mtmkl.compiled import compiled, dot
@compiled
def shifted(x):
    return scaled(x) + 1.0
@compiled
def named(x):
    return callee.scaled_too(x)
@compiled
def squared(x):
    return dot(x, x)
@compiled
def counted(n):
    work, index = callee.zeros(n)
    return work[0, n - 1] + index[0]
print(shifted(3.0), named(3.0), squared(np.arange(30.0)))
counted(3)
assert [each.size for each in callee.zeros(3)] == [6, 3]
"""


@pytest.fixture
def run(tmp_path):
    """Write the callee, run the caller; return the process and the compiled files."""
    cache = tmp_path / "cache"

    def run(callee=CALLEE, folder=cache):
        (tmp_path / "callee.py").write_text(callee)
        (tmp_path / "caller.py").write_text(CALLER)
        done = subprocess.run(
            [sys.executable, "-B", "caller.py"], cwd=tmp_path, check=True, text=True,
            capture_output=True, env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        )  # fmt: skip
        return done, sorted(cache.rglob("*.compiled"))

    return run


def test_a_process_loads_what_another_has_compiled_and_notices_changes(run):
    first, files = run()
    assert first.stdout == "7.0 6.0 8555.0\n"
    assert "mtmkl compiles its solvers" in first.stderr
    # Words and lines are no change.
    second, again = run(CALLEE.replace("Words.", "Other.").replace("@", "\n\n@"))
    assert (second.stdout, second.stderr) == (first.stdout, "")
    assert again == files
    # A part of a file, and a pickle of a type in a module that is no more.
    renamed = b"cold_name\nType\n."
    contents = files[0].read_bytes()[:-1], hashlib.sha256(renamed).digest() + renamed
    for k, path in enumerate(files):
        path.write_bytes(contents[k % 2])
    damaged, again = run()
    assert damaged.stdout == first.stdout
    assert "mtmkl compiles its solvers" in damaged.stderr
    assert again == files
    # Edits of two callees, which are in another file: statements, and what they name.
    squares = CALLEE.replace("2.0 * x", "2.0 * x * x")
    ones = squares.replace("= np.zeros", "= np.ones")
    assert run(ones)[0].stdout == "19.0 7.0 8555.0\n"
    numbers = CALLEE.replace("int64(0)", "int64(1)").replace("(2.0)", "(5.0)")
    assert run(numbers)[0].stdout == "8.0 15.0 8555.0\n"


@pytest.mark.nightly
def test_a_large_function_is_one_piece_of_code_that_its_callers_load(run):
    first, files = run()
    large = next(path for path in files if path.name.startswith("dot-"))
    caller = next(path for path in files if path.name.startswith("squared-"))
    assert large.name.encode() in caller.read_bytes()
    # One that returns arrays: its callers have nothing of it that Python would use.
    arrays = next(path for path in files if path.name.startswith("zeros-"))
    for lost in (large, caller, arrays):
        lost.unlink()
        again, found = run()
        assert (again.stdout, found) == (first.stdout, files)


def test_without_a_folder_code_stays_in_memory(run):
    done, files = run(folder="/proc/nowhere")
    assert done.stdout == "7.0 6.0 8555.0\n"
    assert done.stderr.count("in memory") == 1
    assert not files
