from mtmkl_suite.report.pages.markdown import as_html, items, sections
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


def test_several_tables_below_a_heading_are_counted():
    table = TABLE.markdown()
    html = as_html(f"## Errata\n\n{table}\n\nand\n\n{table}\n", "P 2000")
    assert "<h3>Errata</h3>" in html
    assert "<caption>P 2000: Errata</caption>" in html
    assert "<caption>P 2000: Errata, table 2</caption>" in html


def test_sections_and_items_are_found_by_structure():
    text = "# P\n\n## One\n\n1. a *b*\n   c\n2. d\n\n```\n## Two\n```\n\n## Two\n\nz"
    one = sections(text, ["One"])
    # A heading in a block of code is none.
    assert one.endswith("```\n")
    assert items(one) == ["a *b*\nc", "d"]
    assert sections(text, ["Two", "Three"]) == "## Two\n\nz"
    assert items(sections(text, ["Two"])) == []
