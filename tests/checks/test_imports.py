"""Modules loaded with the library: none that estimators can do without.

What scikit-learn itself loads depends on its version and on what is installed, so it is
loaded first. benchmarks/overhead.py has the seconds.
"""

import json
import subprocess
import sys

LOADED = """
import importlib.util, json, sys
{before}
known = set(sys.modules)
{code}
tops = {{name.partition(".")[0] for name in set(sys.modules) - known}}
own = {{name for name in sys.modules if name.startswith("mtmkl.")}}
print(json.dumps([sorted(tops - set(sys.stdlib_module_names)), sorted(own)]))
"""


def loaded_by(code, before=""):
    """Return the packages, and the modules of our own, that code loads."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(before=before, code=code)],
        capture_output=True,
        text=True,
        check=True,
    )
    packages, modules = map(set, json.loads(done.stdout))
    return packages, modules


def test_the_package_loads_nothing_but_itself():
    packages, modules = loaded_by("import mtmkl")
    assert packages == {"mtmkl"}
    assert modules == set()


def test_the_command_starts_without_numpy():
    packages, _ = loaded_by("import mtmkl_suite.cli.main")
    assert packages <= {"mtmkl", "mtmkl_suite", "yaml", "_yaml"}


def test_the_library_needs_few_packages():
    known = "numpy", "scipy", "sklearn", "numba", "llvmlite", "threadpoolctl"
    blocked = "pandas", "pydantic", "yaml", "requests", "rich", "tqdm", "platformdirs"
    code = """
import importlib, mtmkl
from pathlib import Path
root = Path(mtmkl.__file__).parent
for path in root.rglob("*.py"):
    parts = path.relative_to(root.parent).with_suffix("").parts
    if "certify" not in parts:
        importlib.import_module(".".join(parts).removesuffix(".__init__"))
"""
    before = f"import {', '.join(known)}, sklearn.svm\n"
    before += f"sys.modules.update(dict.fromkeys({blocked}))"
    packages, _ = loaded_by(code, before=before)
    assert packages - {"sklearn"} == {"mtmkl"}


def test_statistics_load_little():
    names = "matrix_tests, pairs, ranks, score_tables"
    packages, _ = loaded_by(f"from mtmkl_suite.statistics import {names}")
    assert packages & {"jinja2", "matplotlib", "snakemake", "baycomp"} == set()
