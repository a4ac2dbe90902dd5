import re

import demsar2006
import pandas as pd
import pytest
from scipy import stats

from mtmkl.statistics.matrix_tests import compare_matrix
from mtmkl.statistics.score_tables import ScoreMatrix
from mtmkl_suite.report.figures.rank_figures import differences
from mtmkl_suite.report.pages.comparison import render, sentences, write_comparison

IMAGES = {"critical_difference": b"<svg/>", "differences": b"<svg/>"}


@pytest.fixture
def found():
    scores = ScoreMatrix(demsar2006.as_ranked(), "AUC", True, ["A <remark>."])
    return compare_matrix(scores, control="C4.5", rope=0.01)


def test_the_page_needs_nothing_else(found, tmp_path):
    page = write_comparison(found, tmp_path, source="demsar.csv").read_text()
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    loaded = [each for each in sources if not each.startswith("data:image/svg")]
    # Links lead to tables beside the page; nothing is loaded.
    assert [tmp_path / each for each in loaded if not (tmp_path / each).is_file()] == []
    assert "<script" not in page


def test_the_page_shows_every_test_and_escapes_names(found):
    page = render(found, IMAGES, source="x.csv")
    for words in ("Iman–Davenport F", "9.28", "3.69", "Against C4.5", "P(equivalent)"):
        assert words in page
    assert "A &lt;remark&gt;." in page
    assert page.count("<caption>") == page.count("<table>")
    assert page.count("<img") == page.count("alt=")


def test_two_methods_on_few_data_sets_are_described(found):
    values = demsar2006.table().iloc[:4, :2]
    few = compare_matrix(ScoreMatrix(values, "AUC", True))
    page = render(few, IMAGES, source="x.csv")
    assert "described, and not tested" in page
    assert "4 data sets are too few for tests of pairs." in sentences(few)
    assert "nan" not in page.partition("</style>")[2]


def test_sentences_have_their_numbers(found):
    lines = " ".join(sentences(found))
    assert "C4.5+m+cf has the best mean rank, 1.96, among 4 methods on 14" in lines
    chi2 = stats.friedmanchisquare(*demsar2006.as_ranked().to_numpy().T).statistic
    f = 13 * chi2 / (14 * 3 - chi2)
    assert f"F(3, 39) = {f:.2f}, p = {stats.f.sf(f, 3, 39):.3f}." in lines
    assert "With differences up to 0.01 taken as none" in lines


def test_gains_follow_the_direction():
    values = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6], "b": [2.0, 4, 6, 8, 10, 12]})
    for higher, better in ((True, "b"), (False, "a")):
        found = compare_matrix(ScoreMatrix(values, "x", higher))
        gains, p = differences(found)
        assert gains.index[0] == better
        assert gains.iloc[0, 1] == pytest.approx(3.5)
        assert gains.iloc[1, 0] == pytest.approx(-3.5)
        assert p.iloc[0, 1] == pytest.approx(found.pairs["p_wilcoxon_holm"].iloc[0])
