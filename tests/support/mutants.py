"""Statements changed at random: how many are noticed by the tests of their module?

    python tests/support/mutants.py [--count 200] [--seed N]

Each changed module is in a copy of the sources, and is tested by the file of the same
path below tests/unit; what survives, by four other files that use the module, methods
and solvers also by the checks of all methods. What then survives is listed: some are
equal to what they replace, others lack a test.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
"""For the tests of a module; what takes longer has been noticed, too."""
_USERS = 4
_CHECKS = [ROOT / f"tests/checks/test_{of}.py"
           for of in ("reference_solvers", "model_objectives")]  # fmt: skip
_OF_OTHERS = ("strict", "frozen", "eq", "repr")

_OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def places(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes that can be changed.

    Left out are messages, and what only a fault elsewhere would need: ``strict=True``,
    and ``frozen``, ``eq`` and ``repr`` of data classes.
    """
    skipped = {
        id(node)
        for each in ast.walk(tree)
        if isinstance(each, ast.Raise | ast.JoinedStr | ast.AnnAssign)
        or (isinstance(each, ast.keyword) and each.arg in _OF_OTHERS)
        for node in ast.walk(each)
    }
    return [n for n in ast.walk(tree) if id(n) not in skipped and is_changeable(n)]


def is_changeable(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (bool, int, float)
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1
    if isinstance(node, ast.BinOp | ast.BoolOp):
        return type(node.op) in _OTHER
    if not isinstance(node, ast.Return) or node.value is None:
        return False
    return not (isinstance(node.value, ast.Constant) and node.value.value is None)


def change(node: ast.AST) -> None:
    """Change a node in its place."""
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Compare):
        node.ops = [_OTHER[type(node.ops[0])]()]
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    else:
        node.op = _OTHER[type(node.op)]()


def test_of(module: Path) -> Path:
    """Return the file that tests a module."""
    part = module.relative_to(ROOT / "src")
    return ROOT / "tests" / "unit" / part.with_name(f"test_{part.name}")


def users_of(module: Path) -> list[Path]:
    """Return the shortest tests that import a module or test one that does; checks."""
    name = ".".join(module.relative_to(ROOT / "src").with_suffix("").parts)
    parent, _, last = map(re.escape, name.rpartition("."))
    imports = re.compile(
        rf"^from ({re.escape(name)} import|{parent} import (.*\b)?{last}\b)",
        re.MULTILINE,
    )
    paths = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "tests" / "unit").rglob("test*.py"),
    ]
    found = [path for path in paths if imports.search(path.read_text())]
    tests = {p if p.name.startswith("test_") else test_of(p) for p in found}
    tests -= {test_of(module)}
    users = sorted(filter(Path.is_file, tests), key=lambda t: t.stat().st_size)
    checks = _CHECKS if {"methods", "solvers"} & {*module.parts} else []
    return users[:_USERS] + checks


def failure(
    tests: Iterable[Path], sources: Path, processes: int = 0, cache: str = "numba"
) -> str:
    """Run files of tests against other sources; return what failed, if anything."""
    own = {"PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": str(sources / cache)}
    words = ["-x", "-q", "-n", str(processes), "--dist", "worksteal"]
    words += ["-p", "no:cacheprovider", *map(str, tests)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words],
            cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True,
            timeout=None if processes else SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "time"
    return done.stdout[-2000:] if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    tested = [p for p in sorted((ROOT / "src").rglob("*.py")) if test_of(p).is_file()]
    sizes = {path: len(places(ast.parse(path.read_text()))) for path in tested}
    drawn = rng.choices(list(sizes), weights=list(sizes.values()), k=options.count)
    print(f"{options.count} statements of {len(tested)} modules, seed {options.seed}")
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources)
        # The sources look for configuration, workflow and record beside their folder.
        for each in ROOT.iterdir():
            if each.name != "src":
                (Path(folder) / each.name).symlink_to(each)
        modules = dict.fromkeys(drawn)
        own_tests = map(test_of, modules)
        if failed := failure(own_tests, sources, processes=os.cpu_count() or 1):
            sys.exit(f"these tests fail without a change:\n{failed}")
        for k, module in enumerate(tqdm(drawn, "changed")):
            tree = ast.parse(module.read_text())
            node = rng.choice(places(tree))
            before, line = ast.unparse(node), node.lineno
            change(node)
            copy = sources / module.relative_to(ROOT / "src")
            copy.write_text(ast.unparse(tree))
            # Compiled callers contain what they called when they were compiled.
            if not failure([test_of(module)], sources) and not (
                (users := users_of(module))
                and failure(users, sources, processes=1, cache=f"numba-{k}")
            ):
                survivors += 1
                where = f"{module.relative_to(ROOT)}:{line}"
                tqdm.write(f"survives: {where}: {before}  ->  {ast.unparse(node)}")
            shutil.copyfile(module, copy)
    noticed = options.count - survivors
    print(f"{noticed} of {options.count} noticed ({noticed / options.count:.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
