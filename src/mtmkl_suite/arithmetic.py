"""Variables by which every processor with AVX2 computes the same digits.

OpenBLAS and NumPy choose routines by the processor, and these add in different orders;
code of our own does not (:mod:`mtmkl.compiled`). This module imports neither: the
variables count only if they are set before NumPy is loaded.
"""

import os
from pathlib import Path

_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
_AVX2 = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",
}


def pinned() -> dict[str, str]:
    """Return the variables; with one thread, as sums would depend on their number."""
    cpu = Path("/proc/cpuinfo")
    has_avx2 = cpu.is_file() and " avx2 " in cpu.read_text(encoding="utf-8")
    return _ONE_THREAD | (_AVX2 if has_avx2 else {})


def pin() -> None:
    """Set those that are not set, for this process and all that it starts."""
    for name, value in pinned().items():
        os.environ.setdefault(name, value)
