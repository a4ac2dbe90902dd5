"""Nothing that is read from outside of the code can run as code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for folder in ("src", "workflow", "benchmarks", "docs/examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))]
#: Modules that make objects, and so run code, of what they read.
UNSAFE_MODULES = {
    "cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "pickle", "shelve",
}  # fmt: skip
#: Functions that do so, or run text as code.
UNSAFE_CALLS = {
    "read_pickle", "to_pickle", "unsafe_load", "full_load", "load_all",
    "full_load_all", "eval", "exec",
}  # fmt: skip
SAFE_LOADERS = {"Loader", "CSafeLoader", "SafeLoader"}


def problems(tree):
    """Yield what code does that could run what it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        yield from (n for n in names if n.partition(".")[0] in UNSAFE_MODULES)
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = getattr(getattr(node.func, "value", None), "id", "")
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if name in UNSAFE_CALLS or (owner == "os" and name in {"system", "popen"}):
            yield f"{name}()"
        if given.get("allow_pickle", "False") != "False":
            yield f"{name}(allow_pickle={given['allow_pickle']})"
        if given.get("shell", "False") != "False":
            yield f"{name}(shell={given['shell']})"
        if owner == "yaml" and name == "load":
            loader = given.get("Loader", "").rpartition(".")[2]
            if loader not in SAFE_LOADERS:
                yield f"yaml.load(Loader={loader or '?'})"


def test_no_pickle_no_code_no_unsafe_yaml():
    found = {
        str(path.relative_to(ROOT)): list(problems(ast.parse(path.read_bytes())))
        for path in SOURCES
    }
    # Machine code that is loaded can do what a pickle can: its folder is trusted.
    assert found.pop("src/mtmkl/compiled/cache.py") == ["pickle"]
    assert {path: each for path, each in found.items() if each} == {}


def test_rules_neither():
    forbidden = UNSAFE_MODULES | {"unsafe_load", "read_pickle", "eval", "exec"}
    for path in RULES:
        words = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        assert not words & forbidden, path


def test_the_loader_of_configurations_is_a_safe_one():
    import yaml

    from mtmkl_suite.documents import Loader, read_yaml_text

    assert issubclass(Loader, yaml.SafeLoader | getattr(yaml, "CSafeLoader", Loader))
    with pytest.raises(ValueError, match="could not determine a constructor"):
        read_yaml_text("a: !!python/object/apply:os.getcwd []", source="x.yaml")
