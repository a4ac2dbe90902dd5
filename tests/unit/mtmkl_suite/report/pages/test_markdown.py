from mtmkl_suite.report.pages.markdown import as_html, items
from mtmkl_suite.report.text import TextTable

TABLE = TextTable(
    ["method", "score", "note", "verdict"],
    [["A|B", "-0.5 ± 0.1", "x-3", "close"], ["C", "–", "2", ""]],
)


def test_tables_scroll_and_have_names_headings_and_marks():
    html = as_html(f"# Left out\n\n{TABLE.markdown()}\n\nA <b>note</b>.\n", "T <1>")
    for part in (
        '<div class="scroll" tabindex="0" role="region" aria-label="T &lt;1&gt;">',
        "<caption>T &lt;1&gt;</caption>",
        '<th scope="col" class="right">score</th>',
        '<th scope="row">A|B</th>',
        '<td class="num">−0.5 ± 0.1</td>',
        '<td class="num">–</td>',
        "<td>x-3</td>",
        '<td class="number">2</td>',
        '<td><span class="v v-close">close</span></td>',
        "<p>A &lt;b&gt;note&lt;/b&gt;.</p>",
    ):
        assert part in html
    assert "Left out" not in html


def test_a_heading_without_text_is_none():
    html = as_html(TextTable(["", "x"], [["a", "1"]]).markdown(), "T")
    assert "<td></td>" in html


def test_items_are_found_by_structure():
    before = "# P\n\n1. no\n\n## One\n\n```\n## Two\n1. no\n```\n\n"
    text = f"{before}1. a *b*\n   c\n2. d\n\n1) no"
    assert items(text, "One") == ["a *b*\nc", "d"]
    assert items(f"{text}\n\n## Two\n\nz", "Two") == []
