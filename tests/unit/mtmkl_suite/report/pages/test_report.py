import base64
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from configured import changed, of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Publication, Run
from mtmkl_suite.files import write_json, write_text
from mtmkl_suite.report.pages import report as report_page
from mtmkl_suite.report.pages.rendering import page_name
from mtmkl_suite.report.pages.report import (
    FIRST,
    column_name,
    load_paper_result,
    render_report,
    short_name,
    write_report,
)
from mtmkl_suite.report.pages.verdicts import group_claims
from mtmkl_suite.report.record.artefacts import write_artefacts
from mtmkl_suite.report.record.record import write_record
from mtmkl_suite.report.tables.standing import Standing
from mtmkl_suite.report.tables.text import TextTable
from mtmkl_suite.run.folders import RunFolder

PAPER = "paper-argyriou2008.html"
RUN = of(Run, {"tier": "quick", "seed": 1})
PROVENANCE = {
    "paper": "argyriou2008",
    "seed": 20081,
    "commit": None,
    "packages": {"numpy": "2.0"},
    "seconds_by_job": {"a__b__c__0": 100.0, "d__e__f__0": 200.0},
}


def complete(config, folder):
    write_artefacts(list(config.artefacts), config, folder)
    write_record(config, folder, RUN)
    return load_paper_result(config, folder)


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


@pytest.fixture(scope="module")
def result(paper, results):
    complete(paper, results)
    write_json(results.provenance, PROVENANCE)
    return load_paper_result(paper, results)


@pytest.fixture(scope="module")
def alone(paper, results, result):
    """The same outside a checkout: there is no published record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_page, "read_published_record", lambda config: None)
        return load_paper_result(paper, results)


@pytest.fixture(scope="module")
def pages(result):
    return render_report([result], tier="quick")


@pytest.fixture(scope="module")
def page(pages):
    return pages[PAPER]


@pytest.fixture(scope="module")
def first(pages):
    return pages[FIRST]


def test_there_is_a_page_for_each_paper_method_and_data_set(pages, paper):
    classes = {method.class_name for method in paper.methods.values()}
    used = {each.datasets.name for each in paper.experiments.values()}
    assert {page_name("method", name) for name in classes} <= set(pages)
    assert {page_name("data", name) for name in used} <= set(pages)
    assert {"statistics.html", "errata.html", "provenance.html"} <= set(pages)
    links = Page(pages[FIRST]).links
    assert {f"report/{name}" for name in pages if name != FIRST} <= set(links)


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
    assert files > 60


def test_tables_are_named_and_their_headings_have_a_scope(pages):
    for page in pages.values():
        parsed = Page(page)
        tables = [tag for tag, _ in parsed.tags if tag == "table"]
        captions = [tag for tag, _ in parsed.tags if tag == "caption"]
        assert len(captions) == len(tables)
        assert all("scope" in found for tag, found in parsed.tags if tag == "th")
    assert pages[PAPER].count("<table") > 15


def test_no_heading_is_empty_and_no_level_is_stated_twice(pages):
    for name, page in pages.items():
        empty = re.findall(r"<(h\d|th)\b[^>]*>\s*</\1>", page)
        assert (name, empty) == (name, [])
        assert "aria-level" not in page


def test_the_first_page_finds_all_claims_methods_and_data_sets(first, result, pages):
    found = first[first.index('class="find"') :].partition("</div>")[0]
    links = set(re.findall(r'href="report/([^"]+)"', found))
    assert {f"{PAPER}#claim-{claim['id']}" for claim in result.groups.all} <= links
    assert {f"{PAPER}#{artefact.id}" for artefact in result.artefacts} <= links
    others = {name for name in pages if name.startswith(("method-", "data-"))}
    assert others
    assert others <= links


def test_every_artefact_is_shown(page, paper):
    images = [found for tag, found in Page(page).tags if tag == "img"]
    figures = [a for a in paper.artefacts.values() if a.kind == "figure"]
    own = [image for image in images if " of this run: " in image["alt"]]
    assert len(images) - len(own) == len(figures)
    # Beside the record, which more repeats made; one figure is of an equation.
    assert len(own) == len(figures) - 1
    for name in paper.artefacts:
        assert f'id="{name}"' in page
    svg = base64.b64decode(images[0]["src"].partition(",")[2]).decode()
    assert "<svg" in svg


def test_alternatives_say_what_the_figures_show(page):
    texts = {
        found["alt"].partition(":")[0]: found["alt"]
        for tag, found in Page(page).tags
        if tag == "img"
    }
    assert "mean from 4.47 to 20" in texts["Figure 1"]
    assert re.search(
        r"Panel left: mse: T = 10 [\d.]+ at 0, [\d.]+ at", texts["Figure 2"]
    )
    assert re.search(r"Matrix \|A\|: \d+ rows by 6 tasks", texts["Figure 10"])


def test_tables_come_before_figures(page):
    places = [
        page.index(f'<section id="{name}"')
        for name in ("table_1", "table_3", "figure_1")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "words",
    [
        "Tier: quick.",
        "Do the papers' results hold?",
        "Argyriou et al. 2008",
        "school_published: published, repeats 2, folds 3",
        "dermatology_random: random, trained on 200 examples, repeats 2, folds 3",
        "school: original, 100 examples, 139 tasks",
        "20081",
        "c0de",
        "Chosen at a grid edge",
        "Aggregate 50%",
        "of fitting;",
        "largest relative gap 1.0e-07",
        "26.7",
        "1 job, 2.5 s in all",
        "stand-in",
        "Digits, one-vs-rest",
        "packages: numpy",
        "2, 5 min 0 s in all; slowest: d__e__f__0, 3 min 20 s",
        "commit",
    ],
)
def test_facts_are_on_the_pages(pages, words):
    names = (FIRST, PAPER, "provenance.html")
    assert any(words in Page(pages[name]).words() for name in names)


def test_no_identifiers_where_people_read(alone, paper):
    for name, page in render_report([alone], tier="quick").items():
        # The names of jobs in the provenance are those of files.
        words = Page(page).words() if name != "provenance.html" else ""
        assert not [n for n in paper.methods if "_" in n and n in words], name


def pills(page):
    return set(re.findall(r'class="(?:cell )?v?\s?v-([a-z-]+)"', page))


def test_what_is_known_of_a_number_is_in_its_cell(pages):
    assert "published 26.7 ± 2.0" in pages[PAPER]


def test_outside_a_checkout_the_quick_tier_passes_no_verdicts(alone):
    pages = render_report([alone], tier="quick")
    assert pills(pages[PAPER]) <= {"not-judged-quick", "no-data"}
    words = Page(pages[FIRST]).words()
    overview = words[words.index("In a sentence") : words.index("Numbers that")]
    assert "Not judged: this run reduces repeats, grids or data." in overview
    for word in ("Yes", "Mostly", "of claims hold", "published record"):
        assert word not in overview
    words = Page(pages[PAPER]).words()
    assert "tol =" not in words
    assert "Not judged (quick): repeats, grid or data are reduced" in words


def test_in_a_checkout_the_published_record_answers(first, result):
    words = Page(first).words()
    assert result.record
    assert f"Argyriou et al. 2008: {result.record}" in words
    overview = words[words.index("In a sentence") : words.index("Numbers that")]
    assert "published numbers are reproduced or close" in overview
    assert "published record" in overview
    # The run's own number stands beside it, without a verdict.
    (table,) = next(a for a in result.artefacts if a.id == "table_3").numbers
    cell = table.rows[0][2][0]
    assert cell.reproduced
    assert cell.record
    assert cell.record_verdict
    assert cell.verdict == ""


def test_what_the_tier_lacks_is_shown_from_the_record(paper, results, result):
    lacking = {
        name: each for name, each in paper.artefacts.items() if name != "table_3"
    }
    part = paper.model_copy(update={"artefacts": lacking})
    found = load_paper_result(part, results)
    assert [each.id for each in found.artefacts] == [e.id for e in result.artefacts]
    table = next(each for each in found.artefacts if each.id == "table_3")
    assert table.is_of_record
    cell = table.numbers[0].rows[0][2][0]
    assert cell.record_verdict
    assert cell.reproduced == ""
    assert cell.details.count("|difference|") == 1
    assert found.other_claims == result.other_claims
    page = render_report([found], tier="quick")[PAPER]
    assert "Not computed in this run: from the published record" in page


def test_a_number_is_told_apart_from_its_verdict(page):
    """Readers of screens hear whose number it is, and then the verdict."""
    assert re.search(
        r'<span class="hidden-text">ours </span><b>[^<]+</b>.*?'
        r'<span class="hidden-text"> verdict: (reproduced|close|different)</span>',
        page,
    )
    assert '"hidden-text">reproduced' not in page


def test_notes_beside_the_record_are_the_record_s(result):
    table = next(each for each in result.artefacts if each.id == "table_3")
    ours, theirs = table.own["notes"], table.notes
    assert any(note.startswith("Not judged (quick)") for note in ours)
    assert not any(note.startswith("Not judged") for note in theirs)
    assert any("Applied to other cells" in note for note in theirs)


def test_the_paper_tier_passes_verdicts(paper, make_results, tmp_path):
    config = changed(paper, {"tier": "paper"})
    tables = {n: each for n, each in config.artefacts.items() if each.kind == "table"}
    config = config.model_copy(update={"artefacts": tables})
    full = complete(config, make_results(config, tmp_path))
    page = render_report([full], tier="paper")[PAPER]
    assert "not-judged-quick" not in pills(page)
    assert pills(page) >= {"reproduced", "different", "holds"}
    words = Page(page).words()
    assert "Applied to other cells" in words
    assert "not judged" not in words.lower()
    assert "Not computed in this run" not in words


def test_few_units_have_a_difference_and_wins_only(page, paper):
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


def test_the_own_test_stands_beside_the_verdict(paper, alone):
    numbers = {"p": 0.01, "rho": 0.5, "p_corrected": 0.3, "own_verdict": "holds"}
    claims = alone.claims.astype({"own_verdict": object}).assign(verdict="holds")
    claims.loc[0, ["verdict", *numbers]] = ["undecided", *numbers.values()]
    verdicts = alone.verdicts.assign(verdict="close", verdict_with_spread="close")
    verdicts.loc[:2, "verdict_with_spread"] = "reproduced"
    changed = {"claims": claims, "verdicts": verdicts}
    changed["groups"] = group_claims(claims, {}, paper)
    judged = type(alone)(**{**vars(alone), **changed})
    assert judged.undone_claims() == 1
    page = " ".join(render_report([judged], tier="paper")[PAPER].split())
    assert '<p class="small">paper\'s own test: holds</p>' in page
    assert "corrected for shared examples (ρ = 0.5): p = 0.300" in page
    assert f"3 of {len(verdicts)} (3 close → reproduced)" in page


def test_text_is_escaped(paper, result):
    bad = result.claims.assign(claim="<b>A & B</b>")
    hostile = type(result)(
        **{**vars(result), "claims": bad, "groups": group_claims(bad, {}, paper)}
    )
    page = render_report([hostile], tier="quick")[PAPER]
    assert "<b>A" not in page
    assert "&lt;b&gt;A &amp; B" in page


def test_several_papers_share_the_first_page(result):
    papers = [
        type(result)(**{**vars(result), "id": name}) for name in ("one", "two", "three")
    ]
    pages = render_report(papers, tier="paper")
    parsed = Page(pages[FIRST])
    assert len(parsed.ids) == len(set(parsed.ids))
    for name in ("one", "two", "three"):
        assert f"report/paper-{name}.html#table_1" in parsed.links
        assert f"paper-{name}.html" in Page(pages["statistics.html"]).links
    assert "It runs the papers' full protocols." in "".join(parsed.text)


def test_the_same_results_give_the_same_pages(result, pages):
    assert render_report([result], tier="quick") == pages


def test_without_pairs_and_claims_a_sentence_says_so(paper, make_results, tmp_path):
    # What `mtmkl run --experiment digits` leaves of the paper, with one repeat.
    digits = paper.experiments["digits"].model_copy(update={"repeats": 1})
    config = changed(
        paper,
        {
            "experiments": {"digits": digits},
            "artefacts": {"figure_1": paper.artefacts["figure_1"]},
            "claims": [],
        },
    )
    result = complete(config, make_results(config, tmp_path))
    pages = render_report([result], tier="quick")
    parsed = Page(pages[PAPER])
    text = parsed.words()
    assert "Claims" not in text
    assert "of the paper's" not in text
    assert "Pairs of methods None in this run: a comparison needs two" in text
    assert "Differences are first" not in text
    assert not any(re.search(r"<tbody>\s*</tbody>", p) for p in pages.values())
    assert parsed.open == []
    inner = {link[1:] for link in parsed.links if link.startswith("#")}
    assert inner <= set(parsed.ids)


def test_missing_data_have_one_box_and_the_record_stands_in(paper, empty_results):
    complete(paper, empty_results)
    run = RunFolder(empty_results.path.parent)
    (run.path / "argyriou2008").symlink_to(empty_results.path)
    write_text(run.pages / "method-NoLongerThere.html", "of an earlier run")
    write_report([paper], run, tier="quick")
    words = Page(run.report.read_text()).words()
    assert words.count("Missing data:") == 1
    assert "Missing data: 6 data sets computer_survey, dermatology, digits" in words
    assert "datasets fetch computer_survey dermatology digits" in words
    assert words.index("In a sentence") < words.index("Missing data")
    # All tables, and all figures but that of equations, are the published ones.
    parsed = Page((run.pages / PAPER).read_text())
    words = parsed.words()
    assert words.count("Not computed in this run: from the published record") == 12
    texts = [found["alt"] for tag, found in parsed.tags if tag == "img"]
    assert not [text for text in texts if "No data" in text]
    assert not (run.pages / "method-NoLongerThere.html").exists()


def test_values_of_a_figure_are_folded_below_it(page):
    section = page[page.index('<section id="figure_2"') :].partition("</section>")[0]
    folded = section[section.index("Values of Figure 2") :].partition("</details>")[0]
    headings = re.findall(r'<th scope="col"[^>]*>([^<]*)', folded)
    assert {"panel", "series", "x", "mean"} <= set(headings)
    assert folded.count("<tr>") > 20


def test_a_run_of_some_experiments_answers_for_these_alone(
    paper, make_results, tmp_path
):
    config = changed(
        paper,
        {
            "experiments": {"school": paper.experiments["school"]},
            "artefacts": {},
            "claims": [c for c in paper.claims if c.args["experiment"] == "school"],
        },
    )
    assert 0 < len(config.claims) < len(paper.claims)
    result = complete(config, make_results(config, tmp_path))
    n, total = len(config.claims), len(load_paper("argyriou2008", "paper").claims)
    scope = f"Of this run's experiments ({n} of the paper's {total} claims): "
    assert result.scope == scope
    pages = render_report([result], tier="quick")
    assert scope in Page(pages[FIRST]).words()
    assert scope in Page(pages[PAPER]).words()


@pytest.mark.parametrize(
    ("authors", "name"),
    [
        ("T. Jebara", "Jebara 2011"),
        ("P. Jawanpuria, J. S. Nath", "Jawanpuria & Nath 2011"),
        ("A. B. Cee, D. Eff, G. Haa", "Cee et al. 2011"),
    ],
)
def test_citations_are_short(authors, name):
    assert short_name(of(Publication, {"authors": authors, "year": 2011})) == name


def test_a_comparison_of_our_own_is_short_in_a_column():
    ours = load_paper("comparison", "paper").paper
    assert column_name(ours) == "Comparison"
    assert column_name(load_paper("jebara2011", "paper").paper) == "Jebara 2011"


@pytest.mark.usefixtures("result")
def test_sentences_of_a_reference_begin_with_a_capital(paper, results):
    venues = {"no paper, but ours": "No paper, but ours.", "arXiv:1": "arXiv:1."}
    for venue, shown in venues.items():
        of_paper = paper.paper.model_copy(update={"venue": venue})
        config = paper.model_copy(update={"paper": of_paper})
        reference = load_paper_result(config, results).reference
        assert f". {shown} doi:" in reference


@pytest.mark.usefixtures("result")
def test_numbers_of_tables_are_on_the_right_with_a_minus(paper, results):
    found = load_paper_result(paper, results)
    table = TextTable(
        ["method", "score", "remark"], [["A", "-0.5 ± 0.1", "x-3"], ["B", "–", "2"]]
    )
    standing = Standing("Where it stands", [], table)
    found.standings = [standing]
    page = render_report([found], tier="quick")[FIRST]
    assert '<th scope="col" class="right">score</th>' in page
    assert '<th scope="col">remark</th>' in page
    assert '<td class="num">−0.5 ± 0.1</td>' in page
    assert "<td>x-3</td>" in page
