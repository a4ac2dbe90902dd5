"""Modules loaded with the library and the command: none that these can do without."""

import json
import subprocess
import sys

SCRIPT = """
import json, sys
known = set(sys.modules)
{code}
print(json.dumps([*(set(sys.modules) - known)]))
"""


def loaded_by(code):
    """Return the modules that code loads, beside those of Python, by package."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(code=code)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    modules = {}
    for name in json.loads(done.stdout):
        modules.setdefault(name.partition(".")[0], set()).add(name)
    return {k: each for k, each in modules.items() if k not in sys.stdlib_module_names}


def test_the_package_loads_nothing_but_itself():
    assert loaded_by("import mtmkl") == {"mtmkl": {"mtmkl"}}


def test_the_command_starts_without_numpy():
    packages = loaded_by("import mtmkl_suite.cli.main").keys()
    assert packages <= {"mtmkl", "mtmkl_suite", "yaml", "_yaml"}


def test_statistics_load_little():
    names = "matrix_tests, pairs, ranks, score_tables"
    packages = loaded_by(f"from mtmkl_suite.statistics import {names}").keys()
    assert packages.isdisjoint({"jinja2", "matplotlib", "snakemake", "baycomp"})
