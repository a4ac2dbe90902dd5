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
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGES = ("mtmkl", "mtmkl_suite")
_ROOT = Path(__file__).resolve().parents[2]
_LIBRARIES = {
    Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib")
}


@cache
def code_fingerprint(*modules: str) -> str:
    """Return 12 hex digits that stand for the code of some modules."""
    digest = hashlib.sha256()
    for name in sorted(modules_behind(*modules)):
        digest.update(name.encode())
        digest.update(_parsed(name)[0].encode())
    return digest.hexdigest()[:12]


@cache
def modules_behind(*modules: str) -> frozenset[str]:
    """Return some modules and those that they import, directly or not."""
    own = frozenset({*_PACKAGES, *map(_package_of, modules)})
    closure: set[str] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name not in closure:
            closure.add(name)
            pending.extend(_followed(name, own))
    return frozenset(closure)


def _package_of(name: str) -> str:
    return name.partition(".")[0]


@cache
def _followed(name: str, own: frozenset[str]) -> list[str]:
    """Return the modules that a module imports and that count."""
    return [each for each in _parsed(name)[1] if _is_followed(each, own)]


def _is_followed(name: str, own: frozenset[str]) -> bool:
    """Tell whether a module counts: it is of one's own, or not installed."""
    path = _module_file(name)
    if path is None:
        return False
    if _package_of(name) in own:
        return True
    path = path.resolve()
    is_installed = {"site-packages", "dist-packages"} & set(path.parts)
    return not is_installed and not any(map(path.is_relative_to, _LIBRARIES))


@cache
def _parsed(name: str) -> tuple[str, list[str]]:
    path = _module_file(name)
    if path is None:
        raise ModuleNotFoundError(f"module {name!r} has no source file")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    is_package = path.name == "__init__.py"
    return ast.dump(_without_docstrings(tree)), sorted(
        _imported_modules(tree, name, is_package)
    )


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            kept = [statement for statement in node.body if not _is_text(statement)]
            node.body = kept or [ast.Pass()]
    return tree


def _is_text(statement: ast.stmt) -> bool:
    """Tell whether a statement is a docstring, also one of a constant or a field."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _imported_modules(tree: ast.Module, name: str, is_package: bool) -> set[str]:
    package = name if is_package else name.rpartition(".")[0]
    found: set[str] = set()
    for node in _run_time_nodes(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, package)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def _run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        # What only a type checker imports cannot change a result.
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from _run_time_nodes(node)


def _module_file(name: str) -> Path | None:
    for root in _roots(_package_of(name)):
        base = root.joinpath(*name.split("."))
        for candidate in (base / "__init__.py", base.with_suffix(".py")):
            if candidate.is_file():
                return candidate
    return None


def _roots(package: str) -> list[Path]:
    """Return the folders that hold a package or module, without importing it.

    This runs while a workflow is being planned.
    """
    if package in _PACKAGES:
        return [_ROOT]
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # "__main__", or what was made at run time
        return []
    if spec is None:
        return []
    folders = spec.submodule_search_locations
    if folders is not None:
        return [Path(folder).parent for folder in folders]
    return [Path(spec.origin).parent] if spec.has_location and spec.origin else []
