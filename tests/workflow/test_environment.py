"""The lock file and the conda environment say the same as pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
DECLARED = [
    Requirement(line)
    for line in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]
]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def _ranges(requirements: list[Requirement]) -> dict[str, SpecifierSet]:
    return {canonicalize_name(r.name): r.specifier for r in requirements}


def _locked() -> list[tuple[Requirement, str]]:
    """Every pinned package of the lock with the rest of its block."""
    logical_lines = LOCK.replace("\\\n", " ").splitlines()
    blocks = [line for line in logical_lines if line and line[0] not in "# "]
    split = [re.split(r"\s(?=--)", block, maxsplit=1) for block in blocks]
    return [(Requirement(head), "".join(rest)) for head, *rest in split]


def _conda() -> dict[str, object]:
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def test_conda_environment_equals_project():
    entries = [e for e in _conda()["dependencies"] if isinstance(e, str)]
    conda = _ranges([Requirement(entry) for entry in entries])
    assert conda.pop("python") == SpecifierSet(PROJECT["requires-python"])
    assert conda.pop("pip") == SpecifierSet()
    assert conda == _ranges(DECLARED)


def test_conda_environment_installs_the_project():
    assert _conda()["dependencies"][-1] == {"pip": ["-e ."]}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_lock_satisfies_project(python):
    environment = default_environment() | {
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    pins: dict[str, list[str]] = {}
    for requirement, _ in _locked():
        marker = requirement.marker
        if marker is None or marker.evaluate(environment):
            (pin,) = requirement.specifier
            assert pin.operator == "=="
            pins.setdefault(canonicalize_name(requirement.name), []).append(pin.version)
    ambiguous = {name: versions for name, versions in pins.items() if versions[1:]}
    assert ambiguous == {}
    unsatisfied = [
        str(declared)
        for declared in DECLARED
        if not declared.specifier.contains(
            pins.get(canonicalize_name(declared.name), ["0"])[0]
        )
    ]
    assert unsatisfied == []


def test_lock_is_hashed():
    unhashed = [
        requirement.name
        for requirement, options in _locked()
        if not re.search(r"--hash=sha256:[0-9a-f]{64}", options)
    ]
    assert _locked()
    assert unhashed == []


def test_lock_names_no_index():
    assert re.findall(r"://|--(?:extra-)?index-url|--find-links|^-i ", LOCK, re.M) == []


def test_citation_has_the_version_of_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
