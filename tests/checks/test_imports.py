"""What is loaded with the library: nothing that estimators can do without.

What scikit-learn itself loads depends on its version and on what is installed, so it is
loaded first. benchmarks/overhead.py has the seconds.
"""

import json
import subprocess
import sys

import pytest

from mtmkl.methods import REGISTRY

LOADED = """
import importlib.util, json, sys
{before}
known = set(sys.modules)
{code}
tops = {{name.partition(".")[0] for name in set(sys.modules) - known}}
own = {{name for name in sys.modules if name.startswith("mtmkl.")}}
print(json.dumps([sorted(tops - set(sys.stdlib_module_names)), sorted(own)]))
"""
OF_THE_SUITE = {"baycomp", "jinja2", "matplotlib", "mtmkl_suite", "snakemake"}
OF_DOWNLOADS = {"pooch", "requests", "tqdm", "urllib3"}


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


def test_estimators_load_nothing_that_scikit_learn_does_not():
    code = f"from mtmkl.methods import {', '.join(REGISTRY)}"
    packages, modules = loaded_by(code, before="import sklearn.svm")
    assert packages == {"mtmkl"}
    parts = {name.split(".")[1] for name in modules}
    assert parts <= {
        "kernels",
        "methods",
        "solvers",
        "sequences",
        "sparse",
        "task_labels",
        "typing",
    }


def test_a_data_set_and_a_fit_need_neither_suite_nor_downloads():
    code = """
from mtmkl.datasets import load
from mtmkl.methods import IndependentRidge
data = load("linear_synthetic", n_irrelevant=2, n_tasks=2, seed=0)
IndependentRidge(gamma=1.0).fit(data.X, data.y, task=data.task)
"""
    packages, _ = loaded_by(code, before="import sklearn.svm")
    assert packages & (OF_THE_SUITE | OF_DOWNLOADS) == set()


@pytest.mark.parametrize("module", ["matrix_tests", "pairs", "ranks", "score_tables"])
def test_statistics_need_no_suite(module):
    packages, _ = loaded_by(f"import mtmkl.statistics.{module}")
    assert packages & OF_THE_SUITE == set()
