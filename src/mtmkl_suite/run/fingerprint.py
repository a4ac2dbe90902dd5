"""Fingerprint of the code that a result depends on: part of the key of its cache.

Editing a comment, a docstring or an unrelated module leaves it as it is; editing a
statement of a module that the given one imports, directly or not, changes it. Followed
are the modules of ``mtmkl``, those of the given ones' own packages, and all others that
are not installed: a method of one's own with its helpers. Installed packages, compiled
modules, names that are made at run time and files that are read are not.
"""

import ast
import hashlib
import importlib.util
import sysconfig
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from mtmkl_suite.config.models import Method
from mtmkl_suite.methods import resolve

_PACKAGES = ("mtmkl", "mtmkl_suite")
_CELL_LOOP = "mtmkl_suite.evaluation.cells"
_ROOT = Path(__file__).resolve().parents[2]
_LIBRARIES = {
    Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib")
}


def code_version(method: Method) -> str:
    """Return the fingerprint of the code behind the scores of a configured method."""
    module, is_own, _ = method.selection.partition(":")
    of_method = str(resolve(method.class_name).__module__)
    return code_fingerprint(of_method, _CELL_LOOP, *([module] if is_own else []))


@cache
def code_fingerprint(*modules: str) -> str:
    """Return 12 hex digits that stand for the code of some modules."""
    own = frozenset({*_PACKAGES, *map(_package_of, modules)})
    behind: set[str] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name not in behind:
            behind.add(name)
            pending += [k for k in _parsed(name)[1] if _is_followed(k, own)]
    digest = hashlib.sha256()
    for name in sorted(behind):
        digest.update(name.encode())
        digest.update(_parsed(name)[0].encode())
    return digest.hexdigest()[:12]


def _package_of(name: str) -> str:
    return name.partition(".")[0]


@cache
def _is_followed(name: str, own: frozenset[str]) -> bool:
    """Tell whether a module counts: it is of one's own, or not installed."""
    path = module_file(name)
    if path is None:
        return False
    if _package_of(name) in own:
        return True
    path = path.resolve()
    is_installed = {"site-packages", "dist-packages"} & set(path.parts)
    return not is_installed and not any(map(path.is_relative_to, _LIBRARIES))


@cache
def _parsed(name: str) -> tuple[str, list[str]]:
    """Return the code of a module, and the modules that it imports."""
    path = module_file(name)
    if path is None:
        raise ModuleNotFoundError(f"module {name!r} has no source file")
    tree = _Counting().visit(ast.parse(path.read_text(encoding="utf-8")))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, package)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return ast.dump(tree), sorted(found)


class _Counting(ast.NodeTransformer):
    """Leaves out docstrings and what only a type checker reads: no result needs it."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        value = node.value
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        return None if is_text else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        is_for_types = ast.unparse(node.test) == "TYPE_CHECKING"
        return None if is_for_types else self.generic_visit(node)


def module_file(name: str) -> Path | None:
    """Return the source of a module; nothing is imported, as a workflow is planned."""
    package, *inner = name.split(".")
    if package in _PACKAGES:
        spec = PathFinder.find_spec(package, [str(_ROOT)])
    else:
        try:
            spec = importlib.util.find_spec(package)
        except ValueError:  # "__main__", or what was made at run time
            return None
    for step in inner:
        if spec is None or spec.submodule_search_locations is None:
            return None
        package = f"{package}.{step}"
        spec = PathFinder.find_spec(package, spec.submodule_search_locations)
    origin = str(spec.origin) if spec else ""
    return Path(origin) if origin.endswith(".py") else None
