"""The report in a browser: three widths, light and dark, with and without data."""

import json
import re
import shutil
import subprocess

import pytest
from configured import of

from mtmkl.files import write_text
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

WIDTHS = (400, 900, 1400)
SCHEMES = {"dark": 0, "light": 1}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")

# Every page stands in frames of all widths; what is wrong with each is written down.
PROBE = """
const shown = (each) => each.checkVisibility();
function overlaps(main) {
  const kinds = "h1, h2, h3, h4, p, .scroll, .overview, figure, summary, fieldset";
  const each = [...main.querySelectorAll(kinds)].filter(
    (one) => shown(one) && one.id !== "value"
      && !one.matches(".scroll *, .overview *"));
  const found = [];
  for (let i = 0; i < each.length; i++) {
    const a = each[i].getBoundingClientRect();
    for (const other of each.slice(i + 1, i + 40)) {
      const b = other.getBoundingClientRect();
      const nested = each[i].contains(other) || other.contains(each[i]);
      const apart = a.right <= b.left + 1 || b.right <= a.left + 1
        || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
      if (nested || apart) continue;
      found.push(`${each[i].tagName} ${other.textContent.slice(0, 40)}`);
    }
  }
  return found;
}
function faults(doc) {
  const root = doc.documentElement;
  const found = overlaps(doc.querySelector("main"));
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...doc.querySelectorAll("main *")].find(
      (each) => each.getBoundingClientRect().right > root.clientWidth + 1
        && !each.closest(".scroll"));
    found.push(`scrolls: ${root.scrollWidth}, ${wide?.outerHTML.slice(0, 90)}`);
  }
  for (const cell of doc.querySelectorAll(".overview td, .overview th")) {
    const isCut = cell.scrollWidth > cell.clientWidth + 1;
    if (shown(cell) && isCut) found.push(`cell ${cell.textContent}`);
  }
  for (const link of doc.querySelectorAll('a[href^="#"]')) {
    if (!doc.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)))) {
      found.push(`link ${link.href}`);
    }
  }
  for (const image of doc.images) {
    if (!image.naturalWidth) found.push(`image ${image.alt}`);
  }
  return found;
}
addEventListener("load", () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const doc = frame.contentDocument;
    const dark = getComputedStyle(doc.body).backgroundColor;
    found[frame.name] = {faults: faults(doc), background: dark,
      choices: doc.querySelectorAll("fieldset input").length};
  }
  document.getElementById("found").textContent = JSON.stringify(found);
});
"""


def look(folder, pages, scheme):
    """Return what is found in each page and width, and the errors on the console."""
    frames = "".join(
        f'<iframe name="{name} {width}" src="{name}" '
        f'style="width: {width}px; height: 900px; border: 0"></iframe>'
        for name in pages
        for width in WIDTHS
    )
    for name, text in pages.items():
        write_text(folder / name, text)
    wrapper = folder / f"all-{scheme}.html"
    wrapper.write_text(
        f'<!DOCTYPE html><title>all</title><pre id="found"></pre>{frames}'
        f"<script>{PROBE}</script>"
    )
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--allow-file-access-from-files", "--enable-logging=stderr",
         f"--user-data-dir={folder / 'profile'}",
         f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
         "--virtual-time-budget=10000", wrapper.as_uri()],
        capture_output=True, text=True, timeout=900, check=True,
    )  # fmt: skip
    (found,) = re.findall(r'<pre id="found">(.+?)</pre>', done.stdout, re.DOTALL)
    return json.loads(found), re.findall(r".*CONSOLE.*", done.stderr)


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
