import os
import subprocess
import sys
from pathlib import Path

import pytest

from mtmkl_suite import arithmetic

AVX2 = "flags : fpu avx avx2 fma avx512f\n"
REPORT = """
from mtmkl_suite.arithmetic import pin
pin()
import numpy
from numpy._core._multiarray_umath import __cpu_features__ as features
from threadpoolctl import threadpool_info
blas, = [each for each in threadpool_info() if each["user_api"] == "blas"]
print(blas["architecture"], blas["num_threads"], features["AVX512_SKX"])
"""


@pytest.mark.skipif("OPENBLAS_CORETYPE" not in arithmetic.pinned(), reason="no AVX2")
def test_libraries_use_the_same_routines_on_every_processor():
    names = {"OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "OPENBLAS_NUM_THREADS"}
    clean = {name: value for name, value in os.environ.items() if name not in names}
    command = [sys.executable, "-c", REPORT]
    done = subprocess.run(
        command, env=clean, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["Haswell", "1", "False"]


@pytest.mark.parametrize(
    ("text", "has_avx2"), [(AVX2, True), ("flags : avx fma\n", False)]
)
def test_no_routine_is_asked_for_that_the_processor_lacks(
    monkeypatch, tmp_path, text, has_avx2
):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(arithmetic, "Path", lambda _: Path(tmp_path / "cpuinfo"))
    assert ("OPENBLAS_CORETYPE" in arithmetic.pinned()) == has_avx2


def test_given_variables_stay(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    arithmetic.pin()
    assert os.environ["OMP_NUM_THREADS"] == "7"
