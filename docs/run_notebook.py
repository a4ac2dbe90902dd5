"""Run a notebook, and write it with what it shows as a page of the site.

``python docs/run_notebook.py docs/notebooks/<name>.ipynb <folder>`` writes
``<folder>/<name>.myst``, and a picture beside it for each figure; ``--code`` only shows
the code. Cells are plain Python.
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt


def run(notebook: Path, folder: Path, *, is_run: bool = True) -> dict[str, Any]:
    """Run a notebook in its own folder, write its page, and return its names."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {"__name__": "notebook"}
    page, figures = "", []
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            page += f"{source}\n\n"
            continue
        page += f"```python\n{source}\n```\n\n"
        if not is_run:
            continue
        with contextlib.chdir(notebook.parent):
            shown = _run_cell(source, f"{notebook.name}, cell {number}", names)
        page += f"```text\n{shown}\n```\n\n" if shown else ""
        for figure in map(plt.figure, plt.get_fignums()):
            figures.append(f"{notebook.stem}_{len(figures)}.svg")
            figure.savefig(folder / figures[-1])
            title = page.partition("\n")[0].removeprefix("# ")
            page += f"![{title}]({figures[-1]})\n\n"
        plt.close("all")
    (folder / f"{notebook.stem}.myst").write_text(page, encoding="utf-8")
    return names


def _run_cell(source: str, where: str, names: dict[str, Any]) -> str:
    """Run a cell; return what it prints, and the value of its last line."""
    tree = ast.parse(source, where)
    last = tree.body[-1]
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if isinstance(last, ast.Expr):
            tree.body.pop()
            exec(compile(tree, where, "exec"), names)
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
        else:
            exec(compile(tree, where, "exec"), names)
    shown = printed.getvalue() + (repr(value) if value is not None else "")
    return shown.strip("\n")


if __name__ == "__main__":
    matplotlib.use("svg")
    given, target, *options = sys.argv[1:]
    run(Path(given).resolve(), Path(target).resolve(), is_run="--code" not in options)
