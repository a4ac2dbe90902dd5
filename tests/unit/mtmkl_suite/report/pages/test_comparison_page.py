import json
import math
import re

import demsar2006
import pandas as pd
import pytest
from scipy import stats

from mtmkl_suite.report.figures.rank_figures import differences
from mtmkl_suite.report.pages.comparison_page import (
    comparison_page,
    sentences,
    write_comparison,
)
from mtmkl_suite.report.pages.comparison_parts import part_of_scores
from mtmkl_suite.statistics.matrix_tests import compare_matrix
from mtmkl_suite.statistics.score_tables import ScoreMatrix


@pytest.fixture
def found():
    scores = ScoreMatrix(demsar2006.as_ranked(), "AUC", True, ["A <remark>."])
    return compare_matrix(scores, control="C4.5", rope=0.01)


def test_the_page_needs_nothing_else(found, tmp_path):
    page = write_comparison(found, tmp_path, source="demsar.csv").read_text()
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    beside = {each for each in sources if not each.startswith("#")}
    # Links lead to tables and figures beside the page; nothing is loaded.
    assert beside == {path.name for path in tmp_path.iterdir()} - {"comparison.html"}


def test_the_page_has_every_score_and_escapes_names(found):
    part = part_of_scores(found)
    part["methods"][0] = "</script><b>"
    page = comparison_page([part], title="<i>", source="x", remarks=["A <remark>."])
    assert "A &lt;remark&gt;." in page
    assert "&lt;i&gt;" in page
    assert "</script><b>" not in page
    (data,) = re.findall(r'id="data">(.*?)</script>', page)
    read = json.loads(data)
    assert read["parts"] == [part]
    values = found.scores.values
    assert [[row[0][0] for row in rows] for rows in part["scores"]["AUC"]] == (
        values.to_numpy().tolist()
    )
    # On one data set, of two methods and more (Demšar 2006, table 5a).
    expected = [1.960, 2.343, 2.569]
    factors = [math.sqrt(k * (k + 1) / 6) for k in (2, 3, 4)]
    assert [c / f for c, f in zip(read["critical"], factors, strict=True)] == (
        pytest.approx(expected, abs=1e-3)
    )


def test_two_methods_on_few_data_sets_are_described():
    values = demsar2006.table().iloc[:4, :2]
    few = compare_matrix(ScoreMatrix(values, "AUC", True))
    assert "4 data sets are too few for tests of pairs." in sentences(few)
    assert part_of_scores(few)["given"] == []


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
