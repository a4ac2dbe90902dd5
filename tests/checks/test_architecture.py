"""Floors of the house: no import upward and no circle.

Imports inside functions and those for type checkers count as well.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
LIBRARY = (
    ("checks", "errors", "typing"), ("compiled",), ("sparse", "specs", "task_labels"),
    ("model_selection", "wrappers"), ("sequences",), ("kernels",),
    ("solvers", "datasets"), ("methods",), ("certify", "compile"),
)  # fmt: skip
SUITE = (
    ("arithmetic", "errors"), ("files",), ("documents", "tables", "metrics"),
    ("statistics",),
    ("data",), ("baselines",), ("methods",), ("config",), ("evaluation",), ("judge",),
    ("run",), ("report",), ("papers",), ("cli",),
)  # fmt: skip
REPORT = (
    ("names", "published_reach", "quoted", "text"), ("context",),
    ("main_claims", "record"),
    ("tables",), ("figures",), ("artefacts",), ("pages",),
    ("publish", "research_object"),
)  # fmt: skip
MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__"): (
        path
    )
    for path in sorted(SRC.glob("mtmkl*/**/*.py"))
}


def imports(path: Path) -> set[str]:
    """Return the modules of ours that a module imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.add(name if name in MODULES else node.module)
    return found & MODULES.keys()


GRAPH = {name: imports(path) - {name} for name, path in MODULES.items()}


def test_no_circle():
    try:
        TopologicalSorter(GRAPH).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_library_knows_nothing_of_the_suite():
    upward = [
        f"{name} -> {other}"
        for name, others in GRAPH.items()
        for other in others
        if name.split(".")[0] == "mtmkl" and other.split(".")[0] != "mtmkl"
    ]
    assert upward == []


PACKAGES = {"mtmkl": LIBRARY, "mtmkl_suite": SUITE, "mtmkl_suite.report": REPORT}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_runs_up(package):
    floors = enumerate(PACKAGES[package])
    floor_of = {room: k for k, rooms in floors for room in rooms}
    inside = f"{package}."
    upward = []
    for name, others in GRAPH.items():
        for other in others:
            if not (name.startswith(inside) and other.startswith(inside)):
                continue
            rooms = [e.removeprefix(inside).partition(".")[0] for e in (name, other)]
            mine, theirs = (floor_of[room] for room in rooms)
            if theirs > mine or (theirs == mine and rooms[0] != rooms[1]):
                upward.append(f"{name} -> {other}")
    assert upward == []


HEADLESS = ("What", "Which", "Whether", "How", "Of")


def test_docstrings_begin_with_a_noun_or_a_verb():
    headless = [
        f"{name}: {first}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (first := (ast.get_docstring(node) or " ").split("\n")[0])
        and first.split(" ")[0] in HEADLESS
    ]
    assert headless == []
