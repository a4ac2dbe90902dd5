import re
from pathlib import Path

import pytest
from configured import paper_of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.report.pages.documentation import Documentation, address
from mtmkl_suite.run.folders import RunFolder


def test_the_site_comes_before_its_sources(tmp_path):
    run = RunFolder(tmp_path / "results" / "quick")
    documentation = Documentation(run, tmp_path)
    assert address(run.path / "p" / "scores.csv.gz", run) == "../p/scores.csv.gz"
    assert documentation.page("docs/index.md") == ""
    assert documentation.method("WhomClassifier") == ""
    (tmp_path / "docs").mkdir()
    for name in ("index", "methods"):
        (tmp_path / "docs" / f"{name}.md").write_text("text")
    assert documentation.page("docs/index.md") == "../../../docs/index.md"
    assert documentation.method("WhomClassifier") == "../../../docs/methods.md"
    assert documentation.method("my.module:Mine") == ""
    for name in ("docs/index.html", "docs/generated/mtmkl.methods.WhomClassifier.html"):
        (run.site / name).parent.mkdir(parents=True, exist_ok=True)
        (run.site / name).write_text("built")
    assert documentation.page("docs/index.md") == "../site/docs/index.html"
    built = "../site/docs/generated/mtmkl.methods.WhomClassifier.html"
    assert documentation.method("WhomClassifier") == built


def paper(documentation, name, folder=None, **cited):
    published = documentation.top / "config" / "papers" / (folder or name) / "published"
    about = {"id": name, "authors": "A. P", "year": 2000, **cited}
    return paper_of({"paper": about, "published": published})


@pytest.fixture
def documentation(tmp_path):
    papers = tmp_path / "docs" / "papers"
    papers.mkdir(parents=True)
    return Documentation(RunFolder(tmp_path / "results" / "quick"), tmp_path)


def test_links_lead_to_the_same_places_and_to_the_site_once_it_is_built(documentation):
    text = "## In brief\n\n1. [a](../verdicts.md#rules) [b](../../config/) [c](https://x.org)"
    (documentation.top / "docs" / "papers" / "p.md").write_text(text)
    verdicts = documentation.top / "docs" / "verdicts.md"
    built = documentation.run.site / "docs" / "verdicts.html"
    for page, shown in (
        (verdicts, "../../../docs/verdicts.md#rules"),
        (built, "../site/docs/verdicts.html#rules"),
    ):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("text")
        (html,) = documentation.sentences(paper(documentation, "p"))
        links = re.findall('href="([^"]+)"', html)
        assert links == [shown, "../../../config", "https://x.org"]


def test_the_first_sentences_of_a_page_are_quoted(documentation):
    page = documentation.top / "docs" / "papers" / "p.md"
    numbered = "1. One is *so*.\n2. Two [here](q.md)\n   lines.\n\n## Next\n\n1. No.\n"
    page.write_text(f"# P\n\n## In brief\n\n{numbered}")
    assert documentation.sentences(paper(documentation, "p")) == [
        "One is <em>so</em>.",
        'Two <a href="../../../docs/papers/q.md">here</a>\nlines.',
    ]
    assert documentation.sentences(paper(documentation, "q")) == []


def test_a_comparison_of_our_own_has_a_page_beside_those_of_papers(documentation):
    (documentation.top / "docs" / "q.md").write_text("## In brief\n\n1. One.\n")
    ours = paper(documentation, "q", authors="mtmkl")
    assert documentation.sentences(ours) == ["One."]
    assert documentation.paper(ours).endswith("docs/q.md")
    # Data of one's own may have the name of any page.
    own = paper(documentation, "q", folder="own_data", authors="mtmkl")
    assert documentation.paper(own) == ""


@pytest.mark.parametrize("name", [
    "argyriou2008", "jawanpuria2011", "jebara2011", "widmer2015", "yousefi2015",
])  # fmt: skip
def test_the_links_of_every_paper_lead_somewhere(name):
    config = load_paper(name, "quick")
    run = RunFolder(config.published.parents[3] / "results" / "quick")
    found = Documentation.of(config, run).sentences(config)
    assert found
    for link in re.findall('href="([^"]+)"', "".join(found)):
        if "://" not in link:
            path = link.partition("#")[0]
            assert Path(f"{run.pages}/{path}").resolve().exists(), link
