"""README and docs agree with the code."""

import doctest
import importlib
import inspect
import re
import runpy
import shlex
from functools import cache
from pathlib import Path

import pytest
import yaml

from mtmkl.methods import REGISTRY
from mtmkl_suite.cli.main import parser
from mtmkl_suite.config.load import expand, load_paper
from mtmkl_suite.config.models import ReadingsFile
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.protocols import check_protocol
from mtmkl_suite.documents import validated

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SITE = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("figures/**/*.md")])
# What a changelog names may be gone.
GUIDES = [page for page in PAGES if page.name != "CHANGELOG.md"]
FOLDERS = {
    path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."
} - {"results", "logs"} | {".ci"}


def _name(page):
    return str(page.relative_to(ROOT))


EXAMPLE = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.S | re.M)
"""Code, and what it prints where the page shows it."""
GAP = re.compile(r"\de-\d\d")  # depends on the processor


def _text(page):
    return page.read_text(encoding="utf-8")


def _blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", _text(page), re.S | re.M)


def _code(page):
    """Return the code spans of a page, and the lines of its shell commands."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", _text(page), re.S | re.M)
    prose = re.sub(r"^ *```.*?^ *```", "", _text(page), flags=re.S | re.M)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    spans = re.findall(r"`([^`]+)`", prose)
    return [re.sub(r"\s+", " ", code).replace("\\|", "|") for code in spans + lines]


def _resolve(name):
    """Return what a dotted name means, a module or what one holds."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return getattr(_resolve(module), attribute)


def _anchors(page):
    headings = re.findall(r"^#+ (.+)$", _text(page), re.M)
    named = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
    return named | {*re.findall(r'^<a id="(\w+)"></a>$', _text(page), re.M)}


def _guide_codes():
    """Return each code of a guide with the page that shows it."""
    return [(page, code) for page in GUIDES for code in _code(page)]


def test_links_lead_somewhere():
    broken = []
    for page in sorted({*PAGES, *SITE}):
        for link in re.findall(r"\]\(([^)\s]+)\)", _text(page)):
            target, _, anchor = link.partition("#")
            if "://" in target:
                continue
            path = page.parent / target if target else page
            if not path.exists() or (anchor and anchor not in _anchors(path)):
                broken.append((_name(page), link))
    assert broken == []


def test_the_site_finds_pictures_and_pages():
    """Sphinx copies and links what Markdown names, and images; not other raw HTML."""
    for page in SITE:
        text = _text(page)
        links = r'<(?!img |a href="[^"]*"><img )[^>]* (?:href|src)="(?!\w+:)[^"]*"'
        raw = re.findall(links, text)
        assert raw == [], page
        assert text.startswith("# "), page


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z][a-z-]*):", _text(ROOT / "Makefile"), re.M))
    for page in PAGES:
        code = re.findall(r"^```sh\n.*?^```|`[^`\n]+`", _text(page), re.S | re.M)
        named = set(re.findall(r"\bmake ([a-z][a-z-]*)", "\n".join(code)))
        assert named <= targets, page


def _missing(page, code):
    """Yield the files, names, tests and parameters of a code that are not there."""
    # A placeholder stands for anything: <paper>
    for word in re.sub(r"<[^>]*>", "*", code).split():
        folder, is_path, _ = word.partition("/")
        if is_path and folder in FOLDERS and not any(ROOT.glob(word)):
            yield word
        is_file = re.fullmatch(r"\w+\.(?:py|md|cff|toml|lock|yml)", word)
        if is_file and not any(
            (place / word).exists() for place in (ROOT, page.parent)
        ):
            yield word
    for name in re.findall(r"(?<![\w/.-])mtmkl(?:\.\w+)+", code):
        try:
            _resolve(name)
        except AttributeError:
            yield name
    if re.fullmatch(r"test_\w+", code) and code not in _tests():
        yield code
    name, _, member = code.partition(".")
    if name in REGISTRY and member.isidentifier():
        method = REGISTRY[name]
        is_known = (
            re.search(rf"^(.*, )?{member}(, .*)? :", inspect.getdoc(method), re.M)
            if member.endswith("_")
            else member in inspect.signature(method).parameters
        )
        if not is_known and not hasattr(method, member):
            yield code


@cache
def _tests():
    """Return the names of all tests and of their files."""
    paths = [*(ROOT / "tests").rglob("test_*.py")]
    names = re.findall(r"^def (test_\w+)\(", "".join(map(_text, paths)), re.M)
    return {*names, *(path.stem for path in paths)}


def test_what_guides_name_in_code_is_there():
    assert [
        (_name(page), name) for page, code in _guide_codes()
        for name in _missing(page, code)
    ] == []  # fmt: skip


def test_commands_in_code_are_understood():
    for page, code in _guide_codes():
        command = re.search(r"\.venv/bin/mtmkl (.*)", code)
        if command is None:
            continue
        words = shlex.split(command[1], comments=True)
        parsed = parser(words[0]).parse_args(words)
        if getattr(parsed, "experiment", None) and parsed.paper:
            known = load_paper(parsed.paper, parsed.tier or "quick").experiments
            assert set(parsed.experiment) <= set(known), page


@pytest.mark.parametrize(
    "page", [page for page in GUIDES if _blocks(page, "python")], ids=_name
)
def test_examples_of_pages_run(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for example, shown in EXAMPLE.findall(_text(page)):
        exec(compile(example, page.name, "exec"), names)
        printed = capsys.readouterr().out
        assert bool(printed) == ("print(" in example)
        if shown:
            assert GAP.sub("", printed) == GAP.sub("", shown)


WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    for path in sorted((ROOT / "src" / "mtmkl").rglob("*.py"))
    if ">>> " in _text(path)
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_of_docstrings_run(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_solver_has_a_page():
    text = _text(ROOT / "docs" / "solvers.md")
    listed = re.findall(r"^   mtmkl\.solvers\.([\w.]+)$", text, re.M)
    folder = ROOT / "src" / "mtmkl" / "solvers"
    files = (path.relative_to(folder) for path in folder.rglob("[a-z]*.py"))
    names = [str(path.with_suffix("")).replace("/", ".") for path in files]
    assert sorted(listed) == sorted(names)


def test_the_table_of_methods_is_that_of_the_docstrings():
    """``python docs/methods_table.py`` writes it."""
    code = runpy.run_path(str(ROOT / "docs" / "methods_table.py"))
    assert code["TABLE"].findall(_text(code["PAGE"])) == [code["table"]()]


def test_every_page_is_in_the_contents():
    index = ROOT / "docs" / "index.md"
    trees = "".join(_blocks(index, "{toctree}"))
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs"))
        if page != index:
            assert re.search(rf"^{name.removesuffix('.md')}$", trees, re.M)
            assert f"]({name})" in _text(index)


@pytest.fixture(scope="module")
def adding():
    """Configurations that the page on adding shows."""
    return [*map(yaml.safe_load, _blocks(ROOT / "docs" / "adding.md", "yaml"))]


def test_example_of_ones_own_data_is_valid(adding):
    datasets = adding[0]["datasets"]
    assert default_registry().check_options(datasets["name"], datasets["options"])


def test_example_of_an_experiment_is_valid(adding, tmp_path):
    paper = {"id": "a", "title": "A", "authors": "B", "year": 2000, "venue": "docs"}
    path = tmp_path / "experiments.yaml"
    path.write_text(yaml.safe_dump({"paper": paper, **adding[1]}), encoding="utf-8")
    assert list(load_paper(tmp_path, "quick").experiments) == ["digits_100"]


def test_example_of_readings_is_valid(adding):
    (document,) = (each for each in adding if "readings" in each)
    validated(ReadingsFile, document, source="docs/adding.md")
    main = load_paper("yousefi2015", "paper")
    change = document["readings"]["roles"]["alternatives"]["permuted"]["change"]
    usual = main.protocols["percent"].given()
    check_protocol({"id": "x", **usual, **change["protocol"]})


def test_example_of_entries_that_are_generated(adding):
    document = adding[-1]
    methods = expand(document["methods"], document["lists"])
    assert [*methods] == ["stl_1", "stl_10", "cmtl_1", "cmtl_10"]
    assert methods["cmtl_10"] == {"label": "CMTL, C = 10", "params": {"C": 10}}
