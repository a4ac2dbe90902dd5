import pytest

from mtmkl_suite.report.pages.addresses import Documentation, address, page_name
from mtmkl_suite.run.folders import RunFolder


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("method", "MeTaG", "method-MeTaG.html"),
        ("method", "my.module:Mine", "method-my-module-Mine.html"),
        ("data", "digits_pairs", "data-digits-pairs.html"),
        ("data", "/home/me/My data.csv", "data-My-data-csv.html"),
    ],
)
def test_names_of_pages_are_names_of_files(kind, name, file):
    assert page_name(kind, name) == file


def test_addresses_are_those_for_a_page(tmp_path):
    run = RunFolder(tmp_path / "results" / "quick")
    assert address(run.path / "p" / "scores.csv.gz", run) == "../p/scores.csv.gz"


def test_the_site_comes_before_its_sources(tmp_path):
    run = RunFolder(tmp_path / "results" / "quick")
    documentation = Documentation(run, tmp_path)
    assert documentation.page("docs/index.md") == ""
    assert documentation.method("Whom") == ""
    (tmp_path / "docs").mkdir()
    for name in ("index", "methods"):
        (tmp_path / "docs" / f"{name}.md").write_text("text")
    assert documentation.page("docs/index.md") == "../../../docs/index.md"
    assert documentation.method("Whom") == "../../../docs/methods.md"
    assert documentation.method("my.module:Mine") == ""
    for name in ("docs/index.html", "docs/generated/mtmkl.methods.Whom.html"):
        (run.site / name).parent.mkdir(parents=True, exist_ok=True)
        (run.site / name).write_text("built")
    assert documentation.page("docs/index.md") == "../site/docs/index.html"
    built = "../site/docs/generated/mtmkl.methods.Whom.html"
    assert documentation.method("Whom") == built
