"""The site: these pages, the published record and the docstrings, built by Sphinx.

``make site`` builds it. Sources are found from the root of the repository, because the
pages link to the record in ``figures/``.
"""

import ast
import hashlib
import html
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sklearn.base import is_classifier, is_regressor
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.inspect import object_description
from sphinx.writers.html5 import HTML5Translator

import mtmkl
from mtmkl.methods import REGISTRY
from mtmkl.methods._base.kernel_machine import TEN_KERNELS
from mtmkl.methods.mkmtfl import SEVEN_KERNELS
from mtmkl_suite.config.load import load_paper

INDEXED = re.compile(r"((?<!\w)\w|\|\|)_([\w·]{1,3})(?!\w)")
"""A symbol of one letter, or a norm, and its index."""

ROOT = Path(__file__).resolve().parents[1]

project = "mtmkl"
author = "The mtmkl developers"
project_copyright = author
version = release = mtmkl.__version__

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "figures/README.md",
    "figures/*/*.md",
]
exclude_patterns = ["docs/_*/**"]
# Published tables are reached by links alone.
suppress_warnings = ["toc.not_included"]
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]

html_theme = "furo"
html_title = f"mtmkl {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/report.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = False
html_show_copyright = False
templates_path = [str(ROOT / "docs/_templates")]
html_additional_pages = {"index": "start_page.html"}
# Their colours have enough contrast.
pygments_style, pygments_dark_style = "a11y-light", "a11y-dark"

# Pages of notebooks are no pages of the repository.
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".myst": "markdown"}
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline", "dollarmath", "html_image"]
numpydoc_show_class_members = False
# Types are in the docstrings, and long defaults have names.
autodoc_typehints = "none"
autodoc_preserve_defaults = True


def solvers_of(method: type) -> list[str]:
    """Return the solvers that a method's module imports, through other methods too."""
    pending, known = [method.__module__], set()
    while pending:
        module = pending.pop()
        file = ROOT / "src" / f"{module.replace('.', '/')}.py"
        if module in known or not file.is_file():
            continue
        known.add(module)
        if module.startswith("mtmkl.methods."):
            pending += _imports(file)
    own = {name for name in known if name.startswith("mtmkl.solvers.")}
    return sorted(own - {"mtmkl.solvers.solution"})


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def kind_of(method: type) -> str:
    """Return what a method is for."""
    if is_classifier(method()):
        return "Classification"
    return "Regression" if is_regressor(method()) else "Graphs"


def list_methods(page: Path) -> None:
    """Write the page that lists the methods by kind, before Sphinx looks for pages."""
    kinds: dict[str, list[str]] = {}
    for name, method in REGISTRY.items():
        kinds.setdefault(kind_of(method), []).append(name)
    text = "Estimators\n==========\n"
    for kind in ("Regression", "Classification", "Graphs"):
        text += f"\n{kind}\n{'-' * len(kind)}\n\n.. autosummary::\n   :toctree: .\n\n"
        text += "".join(f"   ~mtmkl.methods.{name}\n" for name in kinds[kind])
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8")


_DATA = {
    "Regression": (
        "linear_synthetic",
        "n_irrelevant=3, n_tasks=8, n_train=10, n_test=50",
        "R²",
    ),
    "Classification": (
        "toy_tree",
        "spread=2.0, dims=20, depth=3, flips=2, n_validation=1",
        "accuracy",
    ),
}

_EXAMPLE = """\
from mtmkl.datasets import {load}
from mtmkl.methods import {name}

data = {load}({options})
test = data.truth["is_test"]
model = {name}({seed})
model.fit(data.X[~test], data.y[~test], task=data.task[~test])
score = model.score(data.X[test], data.y[test], task=data.task[test])
print(f"{{data.n_tasks}} tasks, {score} on test data: {{score:.2f}}")
"""
_EXAMPLE_OF_A_GRAPH = """\
from sklearn.metrics import roc_auc_score

from mtmkl.datasets import ising_graphs
from mtmkl.methods import {name}

data = ising_graphs()
train = ~data.truth["is_test"]
model = {name}({seed})
model.fit(data.X[train], data.y[train], task=data.task[train])
edges = data.truth["adjacency"].ravel() > 0
print(f"AUC of edges: {{roc_auc_score(edges, model.edge_scores_.ravel()):.2f}}")
"""
_GAP = 'print(f"relative duality gap: {model.duality_gap_:.0e}")\n'

# Prints what each example of a method prints, as JSON.
_RUN = """
import contextlib, io, json, sys, warnings
warnings.simplefilter("ignore")
printed = {}
for name, code in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {"__name__": "example"})
    printed[name] = out.getvalue()
json.dump(printed, sys.stdout)
"""

_CODE_ONLY = ("own_method",)  # runs a workflow


def example_of(name: str, method: type) -> str:
    """Return code that fits a method, with its defaults, to data of its kind."""
    kind = kind_of(method)
    load, options, score = _DATA.get(kind, ("", "", ""))
    seed = "random_state=0" * ("random_state" in inspect.signature(method).parameters)
    template = _EXAMPLE_OF_A_GRAPH if kind == "Graphs" else _EXAMPLE
    code = template.format(
        name=name, load=load, options=options, score=score, seed=seed
    )
    is_certified = "duality_gap_" in (method.__doc__ or "")
    return code + _GAP * is_certified


def run_examples(folder: Path) -> dict[str, dict[str, str]]:
    """Run the example of each method, unless it was with this very library.

    So are the notebooks. A failure stops the build, so no example outlives what it
    shows.
    """
    codes = {name: example_of(name, method) for name, method in REGISTRY.items()}
    docs = ROOT / "docs"
    notebooks = sorted(docs.glob("notebooks/*.ipynb"))
    state = hashlib.sha256(json.dumps(codes).encode())
    library = sorted((ROOT / "src/mtmkl").rglob("*.py"))
    for file in [*library, *notebooks, docs / "run_notebook.py"]:
        state.update(file.read_bytes())
    stored = folder / "examples.json"
    known = json.loads(stored.read_text("utf-8")) if stored.is_file() else {}
    if known.get("state") != state.hexdigest():
        printed = _python("-c", _RUN, given=json.dumps(codes))
        for notebook in notebooks:
            words = ["--code"] * (notebook.stem in _CODE_ONLY)
            _python(docs / "run_notebook.py", notebook, folder, *words)
        known = {"state": state.hexdigest(), "printed": json.loads(printed)}
        stored.write_text(json.dumps(known), encoding="utf-8")
    printed = known["printed"]
    return {name: {"code": codes[name], "prints": printed[name]} for name in codes}


def _python(*words: str | Path, given: str = "") -> str:
    """Run Python, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, words)],
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def ranks_in_comparison() -> dict[str, list[pd.DataFrame]]:
    """Return the ranks of methods on data sets, by class, of each kind of tasks.

    Rows are labels, as one class may be compared with several kernels.
    """
    config = load_paper("comparison", "paper")
    found: dict[str, list[pd.DataFrame]] = {}
    for kind in ("classification", "regression"):
        table = f"table_scores_{kind}"
        comparison = config.artefacts[table].comparison
        scores = pd.read_csv(ROOT / f"figures/comparison/{table}.csv")
        scores = scores[scores["block"] == comparison.main]
        means = scores.pivot(index="method", columns="data set", values="mean")
        ranks = means.rank(ascending=False)[scores["data set"].unique()]
        ranks.columns = [f"{each} (of {means[each].count()})" for each in ranks]
        classes = []
        for label in ranks.index:
            ids = comparison.columns[label]
            method = ids if isinstance(ids, str) else ids[0]
            classes.append(config.methods[method].class_name)
        for name, rows in ranks.groupby(classes):
            found.setdefault(name, []).append(rows.dropna(axis=1, how="all"))
    return found


list_methods(ROOT / "docs/generated/estimators.rst")
autosummary_context = {
    "solvers": {name: solvers_of(method) for name, method in REGISTRY.items()},
    "examples": run_examples(ROOT / "docs/generated"),
    "ranks": ranks_in_comparison(),
}


class Links(SphinxTransform):
    """Links every method's name that is set as code; no folder of the repository."""

    default_priority = 500

    def apply(self) -> None:
        """Replace names and links; called by Sphinx."""
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().partition("(")[0].partition(".")[0]
            is_linked = isinstance(literal.parent, nodes.reference | pending_xref)
            if name in REGISTRY and not is_linked:
                link = pending_xref(
                    refdomain="py",
                    reftype="class",
                    reftarget=f"mtmkl.methods.{name}",
                    refdoc=self.env.docname,
                    refexplicit=True,
                    refwarn=True,
                )
                literal.replace_self(link)
                link += literal
        for link in list(self.document.findall(pending_xref)):
            here = ROOT / Path(self.env.docname).parent
            if link.get("reftype") == "myst" and (here / link["reftarget"]).is_dir():
                link.replace_self(link.children)


class Subscripts(SphinxTransform):
    """Sets indices, as of λ_mt, below the line."""

    default_priority = 500

    def apply(self) -> None:
        """Replace texts that have indices; called by Sphinx."""
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.paragraph | nodes.emphasis | nodes.term):
                parts = [
                    nodes.subscript("", part) if k % 3 == 2 else nodes.Text(part)
                    for k, part in enumerate(INDEXED.split(text.astext()))
                ]
                text.parent.replace(text, parts)


DEFINITIONS = {"Parameters", "Attributes", "Returns", "Yields", "Raises"}
"""Sections of docstrings in which indented text is a description."""


def set_off_equations(app: Sphinx, what: str, name: str, obj, options, lines) -> None:
    """Show the equations of a docstring as they are typed; called by Sphinx.

    They are text, set off by their indentation alone.
    """
    found: list[str] = []
    section, is_directive = "", False
    for number, line in enumerate(lines):
        if set(line.strip()) == {"-"}:
            section = lines[number - 1].strip()
        after_blank = number == 0 or not lines[number - 1].strip()
        if line.strip() and not line.startswith(" "):
            is_directive = line.startswith("..") or line.endswith("::")
        is_equation = line.startswith("    ") and section not in DEFINITIONS
        if is_equation and after_blank and not is_directive:
            is_directive = True
            found += [".. code-block:: text", ""]
        found.append(line)
    lines[:] = found


TYPED = re.compile(
    r"(``.*?``|`.*?`|\*\*.*?\*\*|\\.)|(\||(?<=\w)_(?=\W|$))|(?<=\[\d\])_"
)
"""Text that is marked up already, or that docutils would mistake for markup.

The last belongs to a reference to another docstring's list, whose names numpydoc has
changed.
"""


def escape_symbols(app: Sphinx, what: str, name: str, obj, options, lines) -> None:
    """Keep bars and indices, which stand for themselves; called by Sphinx."""
    block: int | None = None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if block is not None and line.strip() and indent <= block:
            block = None
        if line.lstrip().startswith((".. math::", ".. code-block::")):
            block = indent
        if block is None and ".. [" not in line:
            lines[number] = TYPED.sub(
                lambda found: found[1] or (f"\\{found[2]}" if found[2] else ""), line
            )


def _mathml(self: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    # Browsers draw MathML themselves: the site needs neither network nor script.
    tex = re.sub(r"frac(\d)(\d)", r"frac{\1}{\2}", node.astext())
    drawn = tex2mathml(tex, as_block=isinstance(node, nodes.math_block))
    # Braces of a set would grow with whatever stands in the same row.
    self.body.append(re.sub(r"<mo>(?=[{}])", '<mo stretchy="false">', drawn))
    raise nodes.SkipNode


def link_report(app: Sphinx, pagename: str, template: str, context, doctree) -> None:
    """Tell a page where the report beside the site is, if any; called by Sphinx.

    ``-A report=yes`` writes all pages anew once there is one.
    """
    run = Path(app.outdir).parent
    here = (Path(app.outdir) / pagename).parent
    folder, _, name = pagename.rpartition("/")
    wanted = [("Report of the run", run / "report.html")]
    if folder == "docs/papers":
        wanted.append(("This paper in the report", run / f"report/paper-{name}.html"))
    if name.startswith("mtmkl.methods."):
        method = name.removeprefix("mtmkl.methods.")
        wanted.append((f"{method} in the report", run / f"report/method-{method}.html"))
    context["report_links"] = [
        (text, Path(os.path.relpath(path, here)).as_posix())
        for text, path in wanted
        if path.is_file()
    ]


def link_gallery(app: Sphinx, pagename: str, template: str, context, doctree) -> None:
    """Let the page of a published table lead back to its paper; called by Sphinx."""
    folder, _, name = pagename.rpartition("/")
    if folder.startswith("figures/") and name != "README":
        title = app.env.titles[f"{folder}/README"].astext()
        back = f'<p>Part of <a href="README.html">{title}</a></p>'
        context["body"] = back + context["body"]


NUMPYDOC = "!! processed by numpydoc !!"
"""Comment that numpydoc leaves in each docstring."""


def give_texts(app: Sphinx, pagename: str, template: str, context, doctree) -> None:
    """Let the page of the search load the texts of all pages; called by Sphinx."""
    if pagename == "search":
        app.add_js_file("texts.js")


def write_texts(app: Sphinx, error: Exception | None) -> None:
    """Write the texts of all pages as a script; called by Sphinx.

    The search fetches pages for its snippets, and of files a browser fetches none.
    """
    if error is None and app.builder.format == "html":
        texts = {
            f"./{name}.html": html.escape(
                app.env.get_doctree(name).astext().replace(NUMPYDOC, "")
            )
            for name in sorted(app.env.found_docs)
        }
        script = (
            f"const TEXTS = {json.dumps(texts, ensure_ascii=False)};\n"
            'if (location.protocol === "file:")\n'
            "  window.fetch = async (page) => ({text: () => "
            "`<div role='main'>${TEXTS[page]}</div>`});\n"
        )
        Path(app.outdir, "_static/texts.js").write_text(script, encoding="utf-8")


LONG_DEFAULTS = {
    object_description(SEVEN_KERNELS): "SEVEN_KERNELS",
    object_description(TEN_KERNELS): "TEN_KERNELS",
}


def name_defaults(app: Sphinx, what, name: str, obj, options, text, result):
    """Put in the names of long defaults, which dataclasses lose; called by Sphinx."""
    for value, known in LONG_DEFAULTS.items():
        text = text and text.replace(value, known)
    return text, result


LINKED = re.compile(r'<a href="(.+?)"><img src="(.+?)" width="(.+?)" alt="(.*?)"></a>')
PARAGRAPH = re.compile("^</?p>$", re.M)


def read_markdown(app: Sphinx, docname: str, source: list[str]) -> None:
    """Read GitHub's mathematics, links to ids and linked images; called by Sphinx."""
    text = re.sub(r"\$`(.*?)`\$", r"$\1$", source[0])
    text = LINKED.sub(r"[![\4](\2){width=\3px}](\1)", PARAGRAPH.sub("", text))
    # MyST knows headings alone, not the ids of figures and tables in a gallery.
    source[0] = re.sub(
        r"\[([^\]]+)\]\(([^)\s]*?)(\.md)?#((?:figure|table)_\w+)\)",
        lambda m: f'<a href="{m[2]}{".html" if m[3] else ""}#{m[4]}">{m[1]}</a>',
        text,
    )


html_math_renderer = "mathml"


def setup(app: Sphinx) -> None:
    """Add what is the site's own; called by Sphinx."""
    app.add_html_math_renderer("mathml", (_mathml, None), (_mathml, None))
    app.add_transform(Links)
    app.add_transform(Subscripts)
    app.connect("source-read", read_markdown)
    app.connect("html-page-context", link_report)
    app.connect("html-page-context", link_gallery)
    app.connect("html-page-context", give_texts)
    app.connect("build-finished", write_texts)
    app.connect("autodoc-process-signature", name_defaults)
    # numpydoc has priority 500.
    app.connect("autodoc-process-docstring", set_off_equations, priority=400)
    app.connect("autodoc-process-docstring", escape_symbols, priority=600)
