"""The wheel in an environment that has nothing else: the library without the suite."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "workflow" / "papers" / "tiny"
FIRST_FIT = """
import sys
from importlib.metadata import distributions
from mtmkl.datasets import linear_synthetic
from mtmkl.methods import MultiTaskFeatureLearningRegressor
data = linear_synthetic(n_irrelevant=2, n_tasks=3, seed=0)
model = MultiTaskFeatureLearningRegressor(gamma=0.1).fit(data.X, data.y, task=data.task)
assert model.duality_gap_ <= 1e-6
print(sys.modules["mtmkl"].__file__)
print(*sorted(each.name.lower() for each in distributions()))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module", params=["3.11", "3.13"])
def environment(wheel, request):
    """Folder of the commands of an empty environment with the wheel."""
    folder = wheel.parent / f"environment-{request.param}"
    python = ("--no-python-downloads", "--python", request.param)
    made = _uv("venv", "--quiet", *python, folder)
    if made.returncode:
        pytest.skip(f"Python {request.param} is not on this machine")
    locked = ("--python", folder / "bin/python", "--constraint", "requirements.lock")
    # Asked anew: what is in uv's cache may be less than what is needed.
    ask = ("--dry-run", "--refresh", "--no-deps")
    probe = _uv("pip", "install", *ask, *locked, "numpy")
    if probe.returncode:
        why = probe.stderr.strip().splitlines()[-1]
        pytest.skip(f"no package source can be reached: {why}")
    installed = _uv("pip", "install", "--quiet", *locked, wheel)
    assert installed.returncode == 0, installed.stderr
    return folder / "bin"


def _uv(*arguments):
    return _run(Path(sys.executable).with_name("uv"), *arguments, check=False)


def _run(*command, check=True, cwd=ROOT):
    own = ("MTMKL_", "PYTHON", "VIRTUAL_ENV")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    done = subprocess.run(
        command, cwd=cwd, env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done


def test_the_wheel_has_all_of_the_package_with_configuration(wheel):
    shipped = {
        "src": "",
        "config": "mtmkl_suite/workflow/config/",
        "profiles/default": "mtmkl_suite/workflow/profiles/default/",
        "workflow/rules": "mtmkl_suite/workflow/workflow/rules/",
        "workflow/scripts": "mtmkl_suite/workflow/workflow/scripts/",
    }
    expected = {
        f"{to}{path.relative_to(ROOT / folder)}"
        for folder, to in shipped.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not {"__pycache__", ".ruff_cache"} & {*path.parts}
    }
    single = ("Snakefile", "environment.yml")
    expected |= {f"mtmkl_suite/workflow/{name}" for name in single}
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if ".dist-info/" not in name} == expected


def test_the_sdist_gives_the_same_wheel(wheel, tmp_path):
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path)
    (packed,) = tmp_path.glob("*.tar.gz")
    assert packed.stat().st_size < 5e6
    with tarfile.open(packed) as sdist:
        sdist.extractall(tmp_path, filter="data")
    source = packed.with_name(packed.name.removesuffix(".tar.gz"))
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=source)
    (again,) = (source / "dist").glob("*.whl")
    names = [sorted(zipfile.ZipFile(path).namelist()) for path in (wheel, again)]
    assert names[0] == names[1]


@pytest.mark.nightly
def test_a_run_from_the_wheel(wheel, tmp_path):
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    run = ("run", "--paper", TINY, "--experiment", "drawn")
    places = (installed, TINY.parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mtmkl_suite.cli.main", *map(str, run)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "results/quick+tiny+drawn"
    assert (folder / "report.html").is_file()
    assert str(ROOT) not in (folder / "logs/tiny/fits/drawn.log").read_text()
    provenance = json.loads((folder / "tiny/provenance.json").read_text())
    assert provenance["commit"] is None


@pytest.mark.nightly
def test_the_library_works_without_the_suite(environment):
    done = _run(environment / "python", "-P", "-c", FIRST_FIT)
    where, packages = done.stdout.splitlines()
    assert Path(where).is_relative_to(environment.parent)
    assert "mtmkl" in packages.split()
    beyond = {
        "jinja2", "matplotlib", "pandas", "pooch", "pydantic", "yaml", "snakemake",
    }  # fmt: skip
    assert beyond & set(packages.split()) == set()


@pytest.mark.nightly
def test_a_run_without_the_suite_names_the_remedy(environment, tmp_path):
    run = ("run", "--paper", "argyriou2008", "--results", tmp_path)
    done = _run(environment / "mtmkl", *run, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith('is not installed: pip install "mtmkl[suite]"\n')
    assert not any(tmp_path.iterdir())


@pytest.mark.nightly
def test_a_quick_run_with_the_suite(environment, wheel, tmp_path):
    """Last, as it adds the suite to the environment."""
    locked = ("--python", environment / "python", "--constraint", "requirements.lock")
    installed = _uv("pip", "install", "--quiet", *locked, f"mtmkl[suite] @ {wheel}")
    assert installed.returncode == 0, installed.stderr
    assert "verify" in _run(environment / "mtmkl", "--help").stdout
    run = ("run", "--paper", "argyriou2008", "--experiment", "digits")
    _run(environment / "mtmkl", *run, cwd=tmp_path)
    assert (tmp_path / "results/quick+argyriou2008+digits/report.html").is_file()
