"""The lock file and the conda environment say the same as pyproject.toml."""

import re
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
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
RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = PROJECT["optional-dependencies"]
OTHERS = "mtmkl[suite,images,docs,reference,baselines]"
SUITE, IMAGES, DOCS, REFERENCE, BASELINES, DEV = (
    [Requirement(line) for line in EXTRAS[name] if line != OTHERS]
    for name in ("suite", "images", "docs", "reference", "baselines", "dev")
)
DECLARED = RUNTIME + SUITE + IMAGES + DOCS + REFERENCE + BASELINES + DEV
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def _ranges(requirements: list[Requirement]) -> dict[str, SpecifierSet]:
    return {canonicalize_name(r.name): r.specifier for r in requirements}


def _locked() -> list[tuple[Requirement, str]]:
    """Every pinned package of the lock with the rest of its block."""
    logical_lines = LOCK.replace("\\\n", " ").splitlines()
    blocks = [line for line in logical_lines if line and line[0] not in "# "]
    split = [re.split(r"\s(?=--)", block, maxsplit=1) for block in blocks]
    return [(Requirement(head), "".join(rest)) for head, *rest in split]


@cache
def _imported(folder: str, without: str = "") -> set[str]:
    """Return the distributions that the code of a folder imports anywhere."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".smk") and without not in path.parts
    ]
    imports = re.compile(r"^\s*(?:from|import) (\w+)", re.M)
    tops = {name for text in texts for name in imports.findall(text)}
    known = packages_distributions()
    return {canonicalize_name(dist) for top in tops for dist in known.get(top, ())}


def test_every_dependency_at_run_time_is_imported():
    needed = _ranges(RUNTIME + SUITE + IMAGES + REFERENCE + BASELINES).keys()
    assert needed - _imported("src") - _imported("workflow") == set()


def test_the_package_imports_only_what_it_declares():
    declared = _ranges(RUNTIME + SUITE + IMAGES + REFERENCE + BASELINES).keys()
    assert _imported("src") - {PROJECT["name"]} <= declared


def test_the_library_imports_what_it_requires_and_references_to_certify():
    own, certify = {PROJECT["name"]}, "src/mtmkl/certify"
    assert _imported("src/mtmkl", without="certify") - own <= _ranges(RUNTIME).keys()
    assert _imported(certify) - own <= _ranges(RUNTIME + REFERENCE).keys()


def test_conda_environment_equals_project():
    file = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    entries = [e for e in file["dependencies"] if isinstance(e, str)]
    conda = _ranges([Requirement(entry) for entry in entries])
    assert conda.pop("python") == SpecifierSet(PROJECT["requires-python"])
    assert conda.pop("pip") == SpecifierSet()
    assert conda == _ranges(DECLARED)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_lock_satisfies_project(python):
    environment = default_environment() | {
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    pins: dict[str, str] = {}
    for requirement, _ in _locked():
        name, marker = canonicalize_name(requirement.name), requirement.marker
        if marker is None or marker.evaluate(environment):
            (pin,) = requirement.specifier
            assert pin.operator == "=="
            assert name not in pins
            pins[name] = pin.version
    for declared in DECLARED:
        pinned = pins.get(canonicalize_name(declared.name), "0")
        assert declared.specifier.contains(pinned), declared


def test_lock_is_hashed():
    unhashed = [
        requirement.name
        for requirement, options in _locked()
        if not re.search(r"--hash=sha256:[0-9a-f]{64}", options)
    ]
    assert _locked()
    assert unhashed == []


def test_citation_has_the_version_of_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
