from pathlib import Path

import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.report.pages.addresses import Documentation
from mtmkl_suite.report.pages.errata import errata_of
from mtmkl_suite.run.folders import RunFolder

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


@pytest.fixture
def documentation(tmp_path):
    papers = tmp_path / "docs" / "papers"
    papers.mkdir(parents=True)
    (papers / "p.md").write_text(TEXT)
    (tmp_path / "docs" / "verdicts.md").write_text("# Verdicts")
    return Documentation(RunFolder(tmp_path / "results" / "quick"), tmp_path)


def test_only_what_is_disputed_is_shown(documentation):
    found = errata_of({"paper": {"id": "p"}}, "P 2000", documentation)
    assert found.paper_name == "P 2000"
    for words in ("<h3>Errata and decisions</h3>", "<h4>More</h4>", "A mean."):
        assert words in found.html
    for words in ("Not disputed", "Nothing", "<b>"):
        assert words not in found.html
    assert "&lt;b&gt;" in found.html
    assert '<th scope="col">printed</th>' in found.html


def test_links_lead_to_the_same_places(documentation):
    html = errata_of({"paper": {"id": "p"}}, "P", documentation).html
    assert 'href="../../../docs/verdicts.md#rules"' in html
    assert 'href="../../../config/papers/p/published"' in html
    assert 'href="https://example.org/a"' in html


def test_links_lead_to_the_site_once_it_is_built(documentation):
    page = documentation.run.site / "docs" / "verdicts.html"
    page.parent.mkdir(parents=True)
    page.write_text("built")
    html = errata_of({"paper": {"id": "p"}}, "P", documentation).html
    assert 'href="../site/docs/verdicts.html#rules"' in html


def test_a_paper_without_a_page_has_none(documentation):
    assert errata_of({"paper": {"id": "q"}}, "Q", documentation) is None


@pytest.mark.parametrize("paper", [
    "argyriou2008", "jawanpuria2011", "jebara2011", "widmer2015", "yousefi2015",
])  # fmt: skip
def test_every_paper_here_has_errata_and_their_links_lead_somewhere(paper):
    config = load_paper(paper, "quick")
    top = Path(config["published"]).parents[3]
    run = RunFolder(top / "results" / "quick")
    found = errata_of(config, paper, Documentation.of(config, run))
    links = [part.partition('"')[0] for part in found.html.split('href="')[1:]]
    for link in links:
        if "://" not in link:
            path = link.partition("#")[0]
            assert Path(f"{run.pages}/{path}").resolve().exists(), link
