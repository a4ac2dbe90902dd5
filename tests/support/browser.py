"""Pages in a headless browser: how they stand there, and what is wrong with them."""

import json
import re
import shutil
import subprocess

import pytest

from mtmkl_suite.files import write_text

WIDTHS = (400, 900, 1400)
SCHEMES = {"dark": 0, "light": 1}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")

NEEDED = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")

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
const probe = (doc) => ({
  faults: faults(doc), background: getComputedStyle(doc.body).backgroundColor,
  choices: doc.querySelectorAll("fieldset input").length,
});
"""

RUN = """
addEventListener("load", () => {
  const frames = [...document.querySelectorAll("iframe")];
  const found = frames.map((each) => [each.name, probe(each.contentDocument, each)]);
  document.getElementById("found").textContent =
    JSON.stringify(Object.fromEntries(found));
});
"""


def look(folder, pages, scheme, probe=PROBE):
    """Return what a probe finds in each page and width, and errors on the console."""
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
        f"<script>{probe}{RUN}</script>"
    )
    text, errors = opened(wrapper, scheme)
    (found,) = re.findall(r'<pre id="found">(.+?)</pre>', text, re.DOTALL)
    return json.loads(found), errors


def opened(path, scheme="light"):
    """Return a page as it stands in the browser, and what is on its console."""
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--allow-file-access-from-files", "--enable-logging=stderr",
         f"--user-data-dir={path.parent / 'profile'}",
         f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
         "--virtual-time-budget=10000", path.as_uri()],
        capture_output=True, text=True, timeout=900, check=True,
    )  # fmt: skip
    return done.stdout, re.findall(r".*CONSOLE.*", done.stderr)
