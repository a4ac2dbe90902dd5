"""The report in a browser: three widths, light and dark, with and without data."""

import pytest
from browser import NEEDED, SCHEMES, WIDTHS, look

from mtmkl_suite.report.pages.report import load_pages, render_report
from mtmkl_suite.run.folders import PaperFolder

PAPER = "report/paper-argyriou2008.html"
KINDS = {
    "all": [
        "report.html",
        PAPER,
        "report/method-MultiTaskFeatureLearningRegressor.html",
        "report/data-school.html",
        "report/this-run.html",
    ],
    "nothing": ["report.html", "report/this-run.html"],
}
"""Pages that are looked at of a run that has all data, and of one that has none."""

pytestmark = NEEDED


@pytest.fixture(scope="module")
def pages(paper, reported, empty_reported):
    made = {}
    for name, folder in (("all", reported), ("nothing", empty_reported)):
        found = load_pages(paper, PaperFolder(folder.path))
        pages = render_report([found], tier="quick")
        for kind in KINDS[name]:
            made[f"{name}/{kind}"] = pages[kind.rpartition("/")[2]]
    return made


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_report_is_sound_at_all_widths(pages, tmp_path, scheme):
    found, errors = look(tmp_path, pages, scheme)
    assert errors == []
    assert len(found) == len(WIDTHS) * len(pages)
    assert {name: one["faults"] for name, one in found.items() if one["faults"]} == {}
    background = {"dark": "rgb(23, 23, 23)", "light": "rgb(255, 255, 255)"}[scheme]
    assert {one["background"] for one in found.values()} == {background}
    # The script has run: filters by verdict and by method are there.
    chosen = [one["choices"] for name, one in found.items() if PAPER in name]
    assert len(chosen) == len(WIDTHS)
    assert min(chosen) > 5


def test_faults_are_found(tmp_path):
    bad = (
        '<!DOCTYPE html><main><p style="height: 20px">One</p>'
        '<p style="margin-top: -40px">Two</p><div style="width: 2000px">wide</div>'
        '<a href="#nowhere">x</a>'
        '<img src="data:," alt="none"></main><script>undefined.x</script>'
    )
    found, errors = look(tmp_path, {"bad.html": bad}, "light")
    assert errors
    for one in found.values():
        kinds = {fault.partition(" ")[0] for fault in one["faults"]}
        assert kinds == {"P", "scrolls:", "link", "image"}


USED = """
const probe = (doc, frame) => {
  const all = (selector) => [...doc.querySelectorAll(selector)];
  const one = {}, search = doc.querySelector(".find input");
  if (search) {
    search.value = "SENTENCE school";
    search.dispatchEvent(new Event("input"));
    one.found = all(".find li").filter((each) => !each.hidden)
      .map((each) => each.textContent.toLowerCase());
  } else {
    one.height = doc.documentElement.scrollHeight;
    doc.querySelector("#filters input").click();
    one.faded = all(".faded").length;
    one.hidden = all(".scroll").filter(
      (each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
      .map((each) => each.textContent.slice(0, 60));
  }
  one.address = frame.contentWindow.location.search;
  return one;
};
"""


def test_search_and_filters_work(pages, tmp_path):
    some = {name: pages[f"all/{name}"] for name in ("report.html", PAPER)}
    found, errors = look(tmp_path, some, "light", USED)
    assert errors == []
    for width in WIDTHS:
        first, paper = found[f"report.html {width}"], found[f"{PAPER} {width}"]
        assert first["found"]
        assert all("sentence" in text and "school" in text for text in first["found"])
        assert first["address"] == "?find=SENTENCE+school"
        assert paper["faded"] > 0
        assert paper["address"].startswith("?verdict=")
    # Answers first: what is behind them is folded on narrow screens.
    assert found[f"{PAPER} 400"]["height"] < 12_000
    # No column is out of sight.
    assert found[f"{PAPER} 400"]["hidden"] == []
