import base64
import re
from html.parser import HTMLParser

import pytest

from mtmkl.files import write_json
from mtmkl.layout import RunFolder
from mtmkl.reporting.build import write_artefacts
from mtmkl.reporting.record import write_record
from mtmkl.reporting.report import load_paper_result, render_report, write_report

RUN = {"tier": "quick", "seed": 1}
PROVENANCE = {
    "paper": "argyriou2008",
    "seed": 20081,
    "commit": None,
    "packages": {"numpy": "2.0"},
    "seconds_by_job": {"a__b__c__0": 100.0, "d__e__f__0": 200.0},
}


def complete(config, folder):
    write_artefacts(list(config["artefacts"]), config, folder)
    write_record(config, folder, RUN)
    return load_paper_result(config, folder)


class Page(HTMLParser):
    """Collects what a page refers to, and whether its tags are balanced."""

    VOID = ("meta", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.open, self.text = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[key] for key in ("src", "href") if key in found]
        self.ids += [found["id"]] if "id" in found else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def result(paper, results):
    complete(paper, results)
    write_json(results.provenance, PROVENANCE)
    return load_paper_result(paper, results)


@pytest.fixture(scope="module")
def page(result):
    return render_report([result], tier="quick")


def test_page_is_self_contained(page):
    parsed = Page(page)
    assert parsed.open == []
    for link in parsed.links:
        assert link.startswith(("data:image/svg+xml;base64,", "#")), link
    assert "<script" not in page
    assert "@import" not in page
    assert not re.search(r"url\(\s*['\"]?http", page)


def test_links_lead_somewhere_and_ids_are_unique(page):
    parsed = Page(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    inner = {link[1:] for link in parsed.links if link.startswith("#")}
    assert inner <= set(parsed.ids)


def test_every_artefact_is_shown(page, paper):
    images = Page(page).links
    figures = [a for a in paper["artefacts"].values() if a["kind"] == "figure"]
    assert sum(link.startswith("data:") for link in images) == len(figures)
    for name in paper["artefacts"]:
        assert f'id="argyriou2008-{name}"' in page
    first = next(link for link in images if link.startswith("data:"))
    svg = base64.b64decode(first.partition(",")[2]).decode()
    assert "<svg" in svg


@pytest.mark.parametrize(
    "words",
    [
        "Tier: quick.",
        "school_published: published, repeats 2, folds 5",
        "dermatology_random: random, trained on 200 examples, repeats 2, folds 5",
        "school: original, 100 examples, 139 tasks",
        "20081",
        "c0de",
        "Chosen at a grid edge",
        "Aggregate 50%",
        "of fitting;",
        "largest relative gap 1.0e-07",
        "26.7 ± 2.0",
        "1 job, 2.5 s in all",
        "stand-in",
        "Digits, one-vs-rest",
        "packages: numpy",
        "2, 5 min 0 s in all; slowest: d__e__f__0, 3 min 20 s",
        "commit",
    ],
)
def test_facts_are_on_the_page(page, words):
    assert words in " ".join("".join(Page(page).text).split())


def test_counts_are_those_of_the_record(result):
    counts = result.verdict_counts()
    assert list(counts) == [
        "reproduced", "close", "different", "not judged (quick)", "no data",
    ]  # fmt: skip
    assert sum(counts.values()) == len(result.verdicts) == 22
    assert sum(result.verdict_counts("table_3").values()) == 4
    assert sum(result.claim_counts().values()) == len(result.claims)


def test_numbers_that_follow_from_others_are_counted_apart(result):
    verdicts = result.verdicts.assign(derived=result.verdicts["artefact"] == "table_3")
    apart = type(result)(**{**vars(result), "verdicts": verdicts})
    assert sum(apart.verdict_counts().values()) == 18
    assert apart.verdict_counts("table_3") == dict.fromkeys(apart.verdict_counts(), 0)
    assert (
        apart.derived_text()
        == apart.derived_text("table_3")
        == ("4 not judged (quick)")
    )
    page = render_report([apart], tier="quick")
    assert page.count("<td>4 not judged (quick)</td>") == 2


def pills(page):
    return set(re.findall(r'<span class="v ([^"]+)">', page))


def test_the_quick_tier_passes_no_verdicts(page):
    assert pills(page) == {"v-not-judged-quick", "v-no-data"}
    assert ".v-not-judged-quick { background: #e4e4e4;" in page
    text = " ".join("".join(Page(page).text).split())
    overview = text[text.index("Overview") : text.index("Contents")]
    assert "every claim in this run is not judged (quick): this tier reduces" in (
        overview
    )
    for word in ("reproduced", "holds", "undecided"):
        assert word not in overview
    # The numbers stay, the verdicts on them go.
    assert "Table 1. Comparison of methods" in text
    assert "RMSE, reproduced (rating points)" in text
    assert "<th>quoted in the text</th><th>published</th><th>reproduced</th></tr>" in (
        page
    )
    assert "tol =" not in text
    assert "Not judged (quick): repeats, grid or data are reduced" in text


def test_the_paper_tier_passes_verdicts(paper, make_results, tmp_path):
    config = {**paper, "tier": "paper"}
    full = complete(config, make_results(config, tmp_path))
    page = render_report([full], tier="paper")
    assert "v-not-judged-quick" not in pills(page)
    assert pills(page) >= {"v-reproduced", "v-different", "v-holds", "v-no-data"}
    text = " ".join("".join(Page(page).text).split())
    assert "Applied to other cells" in text
    assert "not judged" not in text.lower()
    quoted = ["quoted in the text", "published", "reproduced", "verdict", "rule"]
    assert "".join(f"<th>{name}</th>" for name in quoted) in page


def test_few_units_have_a_difference_and_wins_only(page):
    survey, school = (
        page[page.index(f"<h4>{name}:") :].partition("</table>")[0]
        for name in ("survey", "school")
    )
    assert "Fewer than five units: only difference and win / tie / loss." in school
    assert re.findall(r"<th\b[^>]*>([^<]*)", school) == [
        "First", "Second", "Difference", "Win/tie/loss",
    ]  # fmt: skip
    assert " to " not in school
    assert "Fewer" not in survey
    assert "p (Wilcoxon)" in survey


def test_the_own_test_stands_beside_the_verdict(result):
    numbers = {"p": 0.01, "rho": 0.5, "p_corrected": 0.3, "own_verdict": "holds"}
    claims = result.claims.astype({"own_verdict": object}).assign(verdict="holds")
    claims.loc[0, ["verdict", *numbers]] = ["undecided", *numbers.values()]
    verdicts = result.verdicts.assign(verdict="close", verdict_with_spread="close")
    verdicts.loc[:2, "verdict_with_spread"] = "reproduced"
    judged = type(result)(**{**vars(result), "claims": claims, "verdicts": verdicts})
    assert judged.undone_claims() == 1
    page = " ".join(render_report([judged], tier="paper").split())
    assert '<div class="small">paper\'s own test: holds</div>' in page
    assert "Corrected for shared examples (ρ = 0.5): p = 0.300" in page
    assert f"<td>3 of {len(verdicts)} (3 close → reproduced)</td>" in page


def test_text_is_escaped(result):
    bad = result.claims.assign(claim="<b>A & B</b>")
    hostile = type(result)(**{**vars(result), "claims": bad})
    page = render_report([hostile], tier="quick")
    assert "<b>A" not in page
    assert "&lt;b&gt;A &amp; B" in page


def test_several_papers_share_a_page(result):
    papers = [
        type(result)(**{**vars(result), "id": name}) for name in ("one", "two", "three")
    ]
    parsed = Page(render_report(papers, tier="paper"))
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {"one", "two", "three"} <= set(parsed.ids)
    assert "It runs the papers' full protocols." in "".join(parsed.text)


def test_the_same_results_give_the_same_page(result, page):
    assert render_report([result], tier="quick") == page


def test_without_pairs_and_claims_a_sentence_says_so(paper, make_results, tmp_path):
    # What `mtmkl run --experiment digits` leaves of the paper, with one repeat.
    config = {
        **paper,
        "experiments": {"digits": {**paper["experiments"]["digits"], "repeats": 1}},
        "artefacts": {"figure_1": paper["artefacts"]["figure_1"]},
        "claims": [],
    }
    result = complete(config, make_results(config, tmp_path))
    page = render_report([result], tier="quick")
    parsed = Page(page)
    text = "".join(parsed.text)
    assert "Claims of argyriou2008\nNone in this run." in text
    assert "Pairs of methods\nNone in this run: a comparison needs two" in text
    assert "Differences are first" not in text
    assert not re.search(r"<tbody>\s*</tbody>", page)
    assert parsed.open == []
    inner = {link[1:] for link in parsed.links if link.startswith("#")}
    assert inner <= set(parsed.ids)


def test_missing_data_are_named_on_top(paper, empty_results):
    complete(paper, empty_results)
    run = RunFolder(empty_results.path.parent)
    (run.path / "argyriou2008").symlink_to(empty_results.path)
    write_report([paper], run, tier="quick")
    page = run.report.read_text()
    top = page[: page.index('id="overview"')]
    assert "missing" in top
    assert "data set &#39;school&#39; is absent" in top
    parsed = Page(page)
    assert parsed.open == []
