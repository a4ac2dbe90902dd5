"""README and docs agree with the code."""

import doctest
import importlib
import inspect
import re
import runpy
import shlex
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


def _blocks(page, language):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def _code(page):
    """Return the code spans of a page, and the lines of its shell commands."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.S | re.M)
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
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


def _text(page):
    return page.read_text(encoding="utf-8")


def _guide_codes():
    """Yield each code of a guide with the page that shows it."""
    for page in GUIDES:
        for code in _code(page):
            yield page, code


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
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.M))
    for page in PAGES:
        code = re.findall(r"^```sh\n.*?^```|`[^`\n]+`", _text(page), re.S | re.M)
        named = set(re.findall(r"\bmake ([a-z][a-z-]*)", "\n".join(code)))
        assert named <= targets, page


def test_files_in_code_exist():
    missing = []
    for page, code in _guide_codes():
        # A placeholder stands for anything: <paper>
        for word in re.sub(r"<[^>]*>", "*", code).split():
            folder, is_path, _ = word.partition("/")
            if is_path and folder in FOLDERS and not any(ROOT.glob(word)):
                missing.append((_name(page), word))
            if re.fullmatch(r"\w+\.(?:py|md|cff|toml|lock|yml)", word):
                places = (ROOT / word, page.parent / word)
                if not any(place.exists() for place in places):
                    missing.append((_name(page), word))
    assert missing == []


def test_names_in_code_can_be_imported():
    unknown = []
    for page, code in _guide_codes():
        for name in re.findall(r"(?<![\w/.-])mtmkl(?:\.\w+)+", code):
            try:
                _resolve(name)
            except AttributeError:
                unknown.append((_name(page), name))
    assert unknown == []


def test_tests_that_pages_name_exist():
    known = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = {code for _, code in _guide_codes() if re.fullmatch(r"test_\w+", code)}
    files = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert named
    assert {n for n in named - files if f"def {n}(" not in known} == set()


def test_parameters_and_attributes_in_code_exist():
    unknown = []
    for page, code in _guide_codes():
        name, _, member = code.partition(".")
        if name not in REGISTRY or not member.isidentifier():
            continue
        method = REGISTRY[name]
        is_known = (
            re.search(rf"^(.*, )?{member}(, .*)? :", inspect.getdoc(method), re.M)
            if member.endswith("_")
            else member in inspect.signature(method).parameters
        )
        if not is_known and not hasattr(method, member):
            unknown.append((_name(page), code))
    assert unknown == []


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
    for example, shown in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        exec(compile(example, page.name, "exec"), names)
        printed = capsys.readouterr().out
        assert bool(printed) == ("print(" in example)
        if shown:
            assert GAP.sub("", printed) == GAP.sub("", shown)


WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    for path in sorted((ROOT / "src" / "mtmkl").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_of_docstrings_run(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_solver_has_a_page():
    text = (ROOT / "docs" / "solvers.md").read_text(encoding="utf-8")
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
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = "".join(_blocks(ROOT / "docs" / "index.md", "{toctree}"))
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs"))
        if name != "index.md":
            assert re.search(rf"^{name.removesuffix('.md')}$", trees, re.M)
            assert f"]({name})" in index


def test_example_of_ones_own_data_is_valid():
    example, *_ = _blocks(ROOT / "docs" / "adding.md", "yaml")
    datasets = yaml.safe_load(example)["datasets"]
    registry = default_registry()
    assert registry.check_options(datasets["name"], datasets["options"])


def test_example_of_an_experiment_is_valid(tmp_path):
    _, example, *_ = _blocks(ROOT / "docs" / "adding.md", "yaml")
    page = {
        "paper": {
            "id": "example", "title": "Example", "authors": "Nobody", "year": 2000,
            "venue": "docs",
        },
        **yaml.safe_load(example),
    }  # fmt: skip
    path = tmp_path / "experiments.yaml"
    path.write_text(yaml.safe_dump(page), encoding="utf-8")
    assert list(load_paper(tmp_path, "quick").experiments) == ["digits_100"]


def test_example_of_readings_is_valid():
    blocks = _blocks(ROOT / "docs" / "adding.md", "yaml")
    (example,) = (each for each in blocks if each.startswith("readings:"))
    document = yaml.safe_load(example)
    validated(ReadingsFile, document, source="docs/adding.md")
    main = load_paper("yousefi2015", "paper")
    change = document["readings"]["roles"]["alternatives"]["permuted"]["change"]
    usual = main.protocols["percent"].given()
    check_protocol({"id": "x", **usual, **change["protocol"]})


def test_example_of_entries_that_are_generated():
    *_, example = _blocks(ROOT / "docs" / "adding.md", "yaml")
    document = yaml.safe_load(example)
    methods = expand(document["methods"], document["lists"])
    assert [*methods] == ["stl_1", "stl_10", "cmtl_1", "cmtl_10"]
    assert methods["cmtl_10"] == {"label": "CMTL, C = 10", "params": {"C": 10}}
