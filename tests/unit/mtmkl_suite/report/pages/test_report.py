import base64
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from configured import changed

from mtmkl_suite.files import write_json, write_text
from mtmkl_suite.report.pages import report as report_page
from mtmkl_suite.report.pages.rendering import page_name
from mtmkl_suite.report.pages.report import (
    FIRST,
    THIS_RUN,
    load_pages,
    render_report,
    write_report,
)
from mtmkl_suite.run.folders import RunFolder

PAPER = "paper-argyriou2008.html"
PROVENANCE = {
    "paper": "argyriou2008",
    "seed": 20081,
    "commit": None,
    "packages": {"numpy": "2.0"},
    "seconds_by_job": {"a__b__c__0": 100.0, "d__e__f__0": 200.0},
}


class Page(HTMLParser):
    """Collects what a page refers to, and whether its tags are balanced."""

    VOID = ("meta", "img", "input", "br")

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.open, self.text = [], [], [], []
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append((tag, found))
        self.links += [found[key] for key in ("src", "href") if key in found]
        self.ids += [found["id"]] if "id" in found else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def words(self):
        return " ".join("".join(self.text).split())

    def images(self):
        return [found for tag, found in self.tags if tag == "img"]


@pytest.fixture(scope="module")
def found(paper, reported):
    """The published record of the paper, and the same paper in a quick run."""
    write_json(reported.provenance, PROVENANCE)
    return load_pages(paper, reported)


@pytest.fixture(scope="module")
def alone(paper, results, found):
    """The same outside a checkout: there is no published record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_page, "published_record", lambda config: None)
        return load_pages(paper, results)


@pytest.fixture(scope="module")
def pages(found):
    return render_report([found], tier="quick")


@pytest.fixture(scope="module")
def of_run(alone):
    """Pages of a run that stands for itself."""
    return render_report([alone], tier="quick")


def test_there_is_a_page_for_each_paper_method_and_data_set(pages, paper, found):
    classes = {method.class_name for method in paper.methods.values()}
    used = {each.datasets.name for each in paper.experiments.values()}
    parts = {page_name("method", name) for name in classes}
    parts |= {page_name("data", name) for name in used}
    assert parts <= set(pages)
    assert THIS_RUN in pages
    links = Page(pages[FIRST]).links
    assert {f"report/{name}" for name in pages if name != FIRST} <= set(links)
    # They are found by a search, and with them all claims and artefacts.
    listed = pages[FIRST].partition('class="find"')[2].partition("</div>")[0]
    shown, _ = found
    parts |= {f"{PAPER}#claim-{name}" for name in shown.claims["id"]}
    parts |= {f"{PAPER}#{artefact.id}" for artefact in shown.artefacts}
    assert parts <= set(re.findall(r'href="report/([^"]+)"', listed))


def test_pages_are_self_contained(pages):
    for page in pages.values():
        parsed = Page(page)
        assert parsed.open == []
        for tag, attributes in parsed.tags:
            assert tag not in ("link", "iframe", "object")
            if "src" in attributes:
                assert attributes["src"].startswith("data:image/svg+xml;base64,")
        assert "@import" not in page
        assert not re.search(r"url\(\s*['\"]?http", page)


def test_links_lead_somewhere_and_ids_are_unique(pages, results):
    run = RunFolder(results.path.parent)
    place = {
        name: (run.report if name == FIRST else run.pages / name) for name in pages
    }
    parsed = {place[name]: Page(page) for name, page in pages.items()}
    files = 0
    for here, page in parsed.items():
        assert len(page.ids) == len(set(page.ids)), here
        for link in page.links:
            if link.startswith(("data:", "https:")):
                continue
            name, _, anchor = link.partition("#")
            target = here if not name else Path(os.path.normpath(here.parent / name))
            if target in parsed:
                assert not anchor or anchor in parsed[target].ids, (here, link)
            else:
                assert target.exists(), (here, link)
                files += 1
    assert files > 100  # those of the record, and those of the run


def test_tables_are_named_and_headings_have_a_scope_and_a_text(pages):
    for name, page in pages.items():
        parsed = Page(page)
        tables = [tag for tag, _ in parsed.tags if tag == "table"]
        captions = [tag for tag, _ in parsed.tags if tag == "caption"]
        assert len(captions) == len(tables)
        assert all("scope" in found for tag, found in parsed.tags if tag == "th")
        empty = re.findall(r"<(h\d|th)\b[^>]*>\s*</\1>", page)
        assert (name, empty) == (name, [])
        # No level is stated twice.
        assert "aria-level" not in page
    assert pages[PAPER].count("<table") > 15


def test_every_artefact_is_shown_by_the_record_and_by_the_run(pages, paper):
    figures = [a for a in paper.artefacts.values() if a.kind == "figure"]
    for name, prefix in ((PAPER, ""), (THIS_RUN, "argyriou2008-")):
        images = Page(pages[name]).images()
        # The record has the picture of the main claim as well.
        assert len(images) == len(figures) + (not prefix)
        svg = base64.b64decode(images[0]["src"].partition(",")[2]).decode()
        assert "<svg" in svg
        for artefact in ("table_1", "figure_2") if not prefix else ():
            assert f'id="{artefact}"' in pages[name]


def test_alternatives_say_what_the_figures_show(pages):
    alternatives = [image["alt"] for image in Page(pages[THIS_RUN]).images()]
    texts = {text.partition(":")[0]: text for text in alternatives}
    assert "mean from 4.47 to 20" in texts["Figure 1"]
    assert re.search(
        r"Panel left: mse: T = 10 [\d.]+ at 0, [\d.]+ at", texts["Figure 2"]
    )
    assert re.search(r"Matrix \|A\|: \d+ rows by 6 tasks", texts["Figure 10"])


def test_tables_come_before_figures(pages):
    names = ("table_1", "table_3", "figure_1")
    places = [pages[PAPER].index(f'<section id="{name}"') for name in names]
    assert places == sorted(places)


FACTS = [
    "This run: quick tier",
    "Do the papers' main claims hold?",
    "Argyriou et al. 2008",
    "school_published: published, repeats 2, folds 3",
    "dermatology_random: random, trained on 200 samples, repeats 2, folds 3",
    "school: original, 100 samples, 139 tasks",
    "20081",
    "of fitting",
    "largest relative gap 1.0e-07",
    "real: 3; stand-in: 1; synthetic: 2",
    "stand-in",
    "Digits, one-vs-rest",
    "packages: numpy",
    "2, 5 min 0 s in all; slowest: d__e__f__0, 3 min 20 s",
    "commit",
]


def test_facts_are_on_the_pages(pages):
    text = " ".join(Page(pages[name]).words() for name in (FIRST, THIS_RUN))
    assert [words for words in FACTS if words not in text] == []


def test_no_identifiers_where_people_read(of_run, paper):
    for name, page in of_run.items():
        # The names of jobs in the provenance are those of files.
        words = Page(page).words() if name != THIS_RUN else ""
        assert not [n for n in paper.methods if "_" in n and n in words], name


def pills(page):
    return set(re.findall(r'class="(?:cell )?v?\s?v-([a-z-]+)"', page))


def test_a_run_and_the_record_are_never_on_one_page(pages, found):
    shown, run = found
    assert shown.origin
    assert not run.origin
    words = {name: Page(page).words() for name, page in pages.items()}
    # The first page answers by the record, and leads to the run.
    overview = words[FIRST]
    assert overview.index("published record") < overview.index("This run: quick tier")
    assert "reproduced" in overview
    assert f"Argyriou et al. 2008: {shown.origin}" in overview
    (picture,) = Page(pages[FIRST]).images()
    assert picture["alt"].startswith("Argyriou et al. 2008:")
    assert " Holds. Lead in explained variance on School, points: " in picture["alt"]
    assert f"The published record, {shown.origin}" in words[PAPER]
    assert pills(pages[PAPER]) >= {"reproduced", "different", "holds"}
    assert "not-judged-quick" not in pills(pages[PAPER])
    assert "of this run" not in words[PAPER]
    assert "Applied to other cells" in words[PAPER]
    assert "published 26.7 ± 2.0" in pages[PAPER]
    # The page on the run has its own numbers, and no verdict.
    assert "(n = 2)" in words[THIS_RUN]
    assert "(n = 10)" not in words[THIS_RUN]
    assert pills(pages[THIS_RUN]) <= {"no-data"}
    assert "Not judged (quick): repeats, grid or data are reduced" in words[THIS_RUN]


def test_outside_a_checkout_the_quick_tier_passes_no_verdicts(of_run):
    assert pills(of_run[PAPER]) <= {"not-judged-quick", "no-data"}
    words = Page(of_run[FIRST]).words()
    overview = words[words.index("Verdicts by paper") : words.index("Numbers that")]
    assert "not judged (quick)" in overview
    for word in ("Yes", "Mostly", "of sentences hold", "published record"):
        assert word not in overview
    words = Page(of_run[PAPER]).words()
    assert "tol =" not in words
    assert "Results of this run, quick tier." in words
    assert "Not judged (quick): repeats, grid or data are reduced" in words


def test_a_number_is_told_apart_from_its_verdict(pages):
    """Readers of screens hear whose number it is, and then the verdict."""
    page = pages[PAPER]
    assert re.search(
        r'<span class="hidden-text">ours </span><b>[^<]+</b>.*?'
        r'<span class="hidden-text"> verdict: (reproduced|close|different)</span>',
        page,
    )
    assert '"hidden-text">reproduced' not in page


def test_a_run_of_the_full_protocol_is_shown_and_judged_itself(paper, reported):
    shown, run = load_pages(changed(paper, {"tier": "paper"}), reported)
    assert shown is run
    assert run.is_judged


def test_few_units_have_a_difference_and_wins_only(of_run, paper):
    page = of_run[PAPER]
    survey, school = (
        page[page.index(f"<details><summary>{title}:") :].partition("</table>")[0]
        for title in (paper.experiments[e].title for e in ("survey", "school"))
    )
    assert "Fewer than five units: only difference and win / tie / loss." in school
    assert re.findall(r"<th\b[^>]*>([^<]*)", school) == [
        "First", "Second", "Difference", "Win/tie/loss",
    ]  # fmt: skip
    assert " to " not in school.partition("</summary>")[2]
    assert "Fewer" not in survey
    assert "p (Wilcoxon)" in survey


def with_values(pages, **values):
    """Return the pages of a paper with other values, as if they were of the run."""
    made = type(pages)(**{**vars(pages), **values})
    return made, made


JUDGED = {
    "id": "c", "section": "1", "line": 2, "quote": "<b>A & B</b>", "tested": "A.",
    "quantifier": "all", "verdict": "undecided", "own": "holds", "new": "undecided",
    "effect_text": "+1", "printed": "by a lot", "shown_by": [], "reach": "",
    "tests": [
        {"setting": "B", "verdict": "undecided", "own_verdict": "holds", "note": "n",
         "results": ["p = 0.010"]}
    ],
}  # fmt: skip


def test_both_tests_stand_side_by_side(alone):
    shown, _ = alone
    moved = "3 of 9 (3 close → reproduced)"
    judged = with_values(shown, moved=moved, is_judged=True, sentences_judged=[JUDGED])
    pages = render_report([judged], tier="paper")
    page = " ".join(pages[PAPER].split())
    assert "<td>holds</td><td>undecided</td><td>+1</td><td>by a lot</td>" in page
    assert "<b>B</b>: p = 0.010; n (plain test: holds)" in page
    assert moved in page
    # Text is escaped.
    assert "<b>A" not in page
    assert "&lt;b&gt;A &amp; B" in page


def test_several_papers_share_the_first_page(alone):
    papers = [with_values(alone[0], id=name) for name in ("one", "two", "three")]
    pages = render_report(papers, tier="paper")
    parsed = Page(pages[FIRST])
    assert len(parsed.ids) == len(set(parsed.ids))
    for name in ("one", "two", "three"):
        assert f"report/paper-{name}.html#table_1" in parsed.links
    assert "the papers' full protocols." in parsed.words()


def test_the_same_results_give_the_same_pages(found, pages):
    assert render_report([found], tier="quick") == pages


def test_without_pairs_and_claims_a_sentence_says_so(paper, make_reported, tmp_path):
    # What `mtmkl run --experiment digits` leaves of the paper, with one repeat.
    digits = paper.experiments["digits"].model_copy(update={"repeats": 1})
    artefacts = {"figure_1": paper.artefacts["figure_1"]}
    parts = {"experiments": {"digits": digits}, "artefacts": artefacts, "claims": []}
    config = changed(paper, parts)
    _, run = load_pages(config, make_reported(config, tmp_path))
    pages = render_report([(run, run)], tier="quick")
    parsed = Page(pages[PAPER])
    text = parsed.words()
    assert "Sentence" not in text
    assert "of the paper's" not in text
    assert "Pairs of methods None: a comparison needs two" in text
    assert "Differences are first" not in text
    assert not any(re.search(r"<tbody>\s*</tbody>", p) for p in pages.values())
    assert parsed.open == []
    inner = {link[1:] for link in parsed.links if link.startswith("#")}
    assert inner <= set(parsed.ids)


def test_missing_data_are_named_with_the_remedy(paper, empty_reported):
    run = RunFolder(empty_reported.path.parent)
    (run.path / "argyriou2008").symlink_to(empty_reported.path)
    write_text(run.pages / "method-NoLongerThere.html", "of an earlier run")
    write_report([paper], run, tier="quick")
    words = Page(run.report.read_text()).words()
    assert "6 data sets missing" in words
    assert "Data: missing: 6" in words
    assert "datasets fetch computer_survey dermatology digits" in words
    # The record answers nevertheless.
    assert "reproduced" in words
    parsed = Page((run.pages / THIS_RUN).read_text())
    assert sum("No data" not in image["alt"] for image in parsed.images()) == 1
    assert "data set 'school' is absent" in parsed.words()
    images = Page((run.pages / PAPER).read_text()).images()
    assert not [image for image in images if "No data" in image["alt"]]
    assert not (run.pages / "method-NoLongerThere.html").exists()


def test_what_failed_is_listed(alone):
    gaps = [("Digits", "Ridge", "failed", "no step is <b>short</b> enough")]
    pages = render_report([with_values(alone[0], gaps=gaps)], tier="quick")
    words = Page(pages[THIS_RUN]).words()
    assert "Ridge, Digits: failed: no step is <b>short</b> enough" in words


def test_a_run_of_parts_begins_with_its_methods(paper, make_reported, tmp_path):
    parts = {"experiments": {"digits": paper.experiments["digits"]}, "artefacts": {}}
    config = changed(paper, {**parts, "claims": [], "parts": ["digits"]})
    found = load_pages(config, make_reported(config, tmp_path))
    pages = render_report([found], tier="quick")
    first = Page(pages[FIRST]).words()
    assert first.index("has the best mean") < first.index("Methods and data sets")
    assert found[1].standings
    assert not found[0].standings
