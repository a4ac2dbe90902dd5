from pathlib import Path

import pytest
from configured import paper_of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.report.pages.documentation import Documentation, address
from mtmkl_suite.run.folders import RunFolder


def test_addresses_are_those_for_a_page(tmp_path):
    run = RunFolder(tmp_path / "results" / "quick")
    assert address(run.path / "p" / "scores.csv.gz", run) == "../p/scores.csv.gz"


def test_the_site_comes_before_its_sources(tmp_path):
    run = RunFolder(tmp_path / "results" / "quick")
    documentation = Documentation(run, tmp_path)
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


TEXT = """# A paper

## Results

Not disputed.

## Errata and decisions

**(3)** needs σ⁻¹ where <b>σ</b> is printed, see [verdicts](../verdicts.md#rules),
[numbers](../../config/papers/p/published/) and [elsewhere](https://example.org/a).

| printed | correct |
|---|---|
| 1 | 2 |

### More

Word for word.

## Audit of the tables

A mean.

## What the run costs

Nothing.
"""


def paper(documentation, name, folder=None, **cited):
    published = documentation.top / "config" / "papers" / (folder or name) / "published"
    return paper_of(
        {
            "paper": {"id": name, "authors": "A. P", "year": 2000, **cited},
            "published": published,
        }
    )


@pytest.fixture
def documentation(tmp_path):
    papers = tmp_path / "docs" / "papers"
    papers.mkdir(parents=True)
    (papers / "p.md").write_text(TEXT)
    (tmp_path / "docs" / "verdicts.md").write_text("# Verdicts")
    return Documentation(RunFolder(tmp_path / "results" / "quick"), tmp_path)


def test_only_what_is_disputed_is_shown(documentation):
    found = documentation.errata(paper(documentation, "p"))
    for words in ("<h3>Errata and decisions</h3>", "<h4>More</h4>", "A mean."):
        assert words in found
    for words in ("Not disputed", "Nothing", "<b>"):
        assert words not in found
    assert "&lt;b&gt;" in found
    assert '<th scope="col">printed</th>' in found
    assert "<caption>P 2000: Errata and decisions</caption>" in found


def test_links_lead_to_the_same_places(documentation):
    html = documentation.errata(paper(documentation, "p"))
    assert 'href="../../../docs/verdicts.md#rules"' in html
    assert 'href="../../../config/papers/p/published"' in html
    assert 'href="https://example.org/a"' in html


def test_links_lead_to_the_site_once_it_is_built(documentation):
    page = documentation.run.site / "docs" / "verdicts.html"
    page.parent.mkdir(parents=True)
    page.write_text("built")
    html = documentation.errata(paper(documentation, "p"))
    assert 'href="../site/docs/verdicts.html#rules"' in html


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


def test_a_paper_without_a_page_has_none(documentation):
    assert documentation.errata(paper(documentation, "q")) == ""


@pytest.mark.parametrize("name", [
    "argyriou2008", "jawanpuria2011", "jebara2011", "widmer2015", "yousefi2015",
])  # fmt: skip
def test_every_paper_here_has_errata_and_their_links_lead_somewhere(name):
    config = load_paper(name, "quick")
    top = config.published.parents[3]
    run = RunFolder(top / "results" / "quick")
    found = Documentation.of(config, run).errata(config)
    links = [part.partition('"')[0] for part in found.split('href="')[1:]]
    for link in links:
        if "://" not in link:
            path = link.partition("#")[0]
            assert Path(f"{run.pages}/{path}").resolve().exists(), link
