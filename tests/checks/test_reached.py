"""Every function and class of the package is reached from what people use.

Reached is what the command line, the workflow, the configuration or the documents name,
and whatever that refers to by name in turn. Names stand for all that bears them, so
that the test errs on the side of what is there.
"""

import ast
import re
from pathlib import Path

from mtmkl_suite.config.load import read_part
from mtmkl_suite.config.models import ReadingsFile

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").glob("mtmkl*/**/*.py"))
#: What is written for people and machines outside of the package.
USERS = [
    ROOT / "pyproject.toml", ROOT / "Snakefile", ROOT / "README.md",
    *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "examples").rglob("*.py"),
    *(ROOT / "config").rglob("*.yaml"), *(ROOT / "workflow").rglob("*.smk"),
    *(ROOT / "workflow").rglob("*.py"),
]  # fmt: skip
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def names_in(node):
    """Return every name, attribute and word of a string within a node."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield from re.findall(r"\w+", each.value) if len(each.value) < 80 else ()


def definitions():
    """Return the names that a module-level definition refers to, by its own name.

    What a module does when it is imported counts as its users'.
    """
    bodies, roots = {}, set()
    for path in SOURCES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, DEFINITIONS):
                where = path.relative_to(ROOT / "src"), node.name
                bodies[where] = {name for name in names_in(node) if name != node.name}
                for decorator in node.decorator_list:
                    # Of a registry: what registers is reached, and what is registered.
                    called = getattr(decorator, "func", decorator)
                    if getattr(called, "id", "").startswith("register"):
                        roots.add(node.name)
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                roots.update(names_in(node))
    return bodies, roots


def test_every_function_and_class_is_reached():
    bodies, reached = definitions()
    for path in USERS:
        reached.update(re.findall(r"\w+", path.read_text()))
    for path in (ROOT / "config" / "papers").rglob("readings.yaml"):
        # Names are made of placeholders there.
        document = read_part(path.parent, path.stem, ReadingsFile, "paper")
        reached.update(re.findall(r"\w+", str(document)))
    while True:
        found = {
            name
            for (_, definition), names in bodies.items()
            if definition in reached
            for name in names
        }
        if found <= reached:
            break
        reached |= found
    unreached = [
        f"{path.with_suffix('')}:{name}"
        for path, name in bodies
        if name not in reached and not name.startswith("__")
    ]
    assert unreached == []
