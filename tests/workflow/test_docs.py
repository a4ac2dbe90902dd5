"""What README and docs say is so."""

import re
from pathlib import Path

import pytest
import yaml

from mtmkl.config import load_paper
from mtmkl.evaluation.plan import n_repeats
from mtmkl.expand import expand

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def _name(page):
    return str(page.relative_to(ROOT))


def _blocks(page, language):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def _anchors(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    broken = []
    for link in links:
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        path = page.parent / target if target else page
        if not path.exists() or (anchor and anchor not in _anchors(path)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_make_targets_exist(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.M))
    code = re.findall(
        r"^```sh\n.*?^```|`[^`\n]+`", page.read_text("utf-8"), re.S | re.M
    )
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", "\n".join(code)))
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_name_the_environment(page):
    command = r"(?<!\.venv/bin/)\b(?:mtmkl run --|python -c|snakemake --)"
    assert re.findall(command, page.read_text(encoding="utf-8")) == []


def test_where_a_method_of_ones_own_is_compared():
    repeats = {}
    for paper in ("argyriou2008", "jebara2011", "yousefi2015"):
        config = load_paper(paper, "quick")
        repeats[paper] = [n_repeats(config, name) for name in config["experiments"]]
    assert min(repeats["argyriou2008"] + repeats["jebara2011"]) > 1
    assert set(repeats["yousefi2015"]) == {1}


def test_library_example_of_readme(capsys):
    (example,) = _blocks(ROOT / "README.md", "python")
    exec(compile(example, "README.md", "exec"), {})
    assert "relative duality gap" in capsys.readouterr().out


def test_example_of_an_experiment_is_valid(tmp_path):
    example, _ = _blocks(ROOT / "docs" / "adding.md", "yaml")
    page = {
        "paper": {
            "id": "example",
            "title": "Example",
            "authors": "Nobody",
            "year": 2000,
            "venue": "docs",
        },
        **yaml.safe_load(example),
    }
    path = tmp_path / "experiments.yaml"
    path.write_text(yaml.safe_dump(page), encoding="utf-8")
    assert list(load_paper(tmp_path, "quick")["experiments"]) == ["digits_halves"]


def test_example_of_entries_that_are_generated():
    _, example = _blocks(ROOT / "docs" / "adding.md", "yaml")
    document = yaml.safe_load(example)
    claims = expand(document["claims"], document["lists"])
    assert [claim["id"] for claim in claims] == [
        "beats_stl_10", "beats_stl_50", "beats_cmtl_10", "beats_cmtl_50",
    ]  # fmt: skip
    assert "single-task MKL with 10 %" in claims[0]["claim"]
