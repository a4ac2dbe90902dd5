"""A fingerprint of the code that a result depends on.

Editing a comment, a docstring or an unrelated module leaves it as it is; editing a
statement of any ``mtmkl`` module that the given one imports, directly or not, changes
it.
"""

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGES = ("mtmkl", "mtmkl_suite")
_ROOT = Path(__file__).resolve().parents[2]


def code_fingerprint(*modules: str) -> str:
    """Return 12 hex digits that stand for the code of some modules."""
    closure: set[str] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name not in closure:
            closure.add(name)
            pending.extend(_imports(name))
    digest = hashlib.sha256()
    for name in sorted(closure):
        digest.update(name.encode())
        digest.update(_parsed(name)[0].encode())
    return digest.hexdigest()[:12]


def _source_file(name: str) -> Path:
    # Without importing: this runs while a workflow is being planned.
    if name.split(".")[0] in _PACKAGES:
        found = _module_file(name)
        if found is None:
            raise ModuleNotFoundError(f"module {name!r} has no source file")
        return found
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"module {name!r} has no source file")
    return Path(spec.origin)


def _imports(name: str) -> list[str]:
    return _parsed(name)[1]


@cache
def _parsed(name: str) -> tuple[str, list[str]]:
    path = _source_file(name)
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
    if name.split(".")[0] not in _PACKAGES:
        return set()
    package = name if is_package else name.rpartition(".")[0]
    found: set[str] = set()
    for node in _run_time_nodes(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return {m for m in found if m.split(".")[0] in _PACKAGES and _is_module(m)}


def _run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        # What only a type checker imports cannot change a result.
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from _run_time_nodes(node)


def _is_module(name: str) -> bool:
    return _module_file(name) is not None


def _module_file(name: str) -> Path | None:
    base = _ROOT.joinpath(*name.split("."))
    for candidate in (base / "__init__.py", base.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None
