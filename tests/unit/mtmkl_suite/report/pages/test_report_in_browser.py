"""The report in a browser: three widths, light and dark, with and without data."""

import pytest
from browser import NEEDED, SCHEMES, WIDTHS, look
from configured import of

from mtmkl_suite.config.models import Run
from mtmkl_suite.report.pages.report import load_paper_result, render_report
from mtmkl_suite.report.record.artefacts import write_artefacts
from mtmkl_suite.report.record.record import write_record
from mtmkl_suite.run.folders import PaperFolder

PAPER = "report/paper-argyriou2008.html"
KINDS = {
    "all": [
        "report.html",
        PAPER,
        "report/method-MultiTaskFeatureLearning.html",
        "report/data-school.html",
        "report/statistics.html",
        "report/errata.html",
        "report/provenance.html",
    ],
    "nothing": ["report.html", PAPER],
}
"""Pages that are looked at of a run that has all data, and of one that has none."""

pytestmark = NEEDED


@pytest.fixture(scope="module")
def pages(paper, results, empty_results):
    made = {}
    for name, folder in (("all", results), ("nothing", empty_results)):
        write_artefacts(list(paper.artefacts), paper, folder)
        write_record(paper, folder, of(Run, {"tier": "quick", "seed": 1}))
        found = load_paper_result(paper, PaperFolder(folder.path))
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
    assert len(chosen) == 2 * len(WIDTHS)
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
