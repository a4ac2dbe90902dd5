"""Nothing that is read from outside can run as code; rules S of ruff have the rest."""

import re
from pathlib import Path

import pytest
import yaml

from mtmkl_suite.documents import Loader, read_yaml_text

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "workflow", "benchmarks", "docs/examples")
#: Modules that make objects, and so run code, of what they read.
UNSAFE = "cloudpickle|dill|joblib|jsonpickle|marshal|pickle|read_pickle|shelve"


def test_no_pickles():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    rules = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk")]
    pattern = re.compile(
        rf"^\s*(?:from|import) (?:{UNSAFE})\b|allow_pickle=True|\.(?:read|to)_pickle\(",
        re.MULTILINE,
    )
    found = [path for path in (*paths, *rules) if pattern.search(path.read_text())]
    assert [path.name for path in found] == ["cache.py"]
    for path in rules:
        assert not re.search(r"\b(?:eval|exec|unsafe_load)\(", path.read_text()), path


def test_the_loader_of_configurations_is_a_safe_one():
    assert issubclass(Loader, yaml.SafeLoader | getattr(yaml, "CSafeLoader", Loader))
    with pytest.raises(ValueError, match="could not determine a constructor"):
        read_yaml_text("a: !!python/object/apply:os.getcwd []", source="x.yaml")
