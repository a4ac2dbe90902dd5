import pytest
from configured import of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Publication
from mtmkl_suite.report.names import column_name, heading_of, reference, short_name


def cited(authors, **more):
    return of(Publication, {"authors": authors, "year": 2011, "title": "T"} | more)


@pytest.mark.parametrize(
    ("authors", "name"),
    [
        ("T. Jebara", "Jebara 2011"),
        ("P. Jawanpuria, J. S. Nath", "Jawanpuria & Nath 2011"),
        ("A. B. Cee, D. Eff, G. Haa", "Cee et al. 2011"),
    ],
)
def test_citations_are_short(authors, name):
    assert short_name(cited(authors)) == name


def test_a_comparison_of_our_own_is_short_in_a_column():
    ours = load_paper("comparison", "paper").paper
    assert column_name(ours) == "Comparison"
    assert reference(ours) == "A comparison of our own, not of a paper."
    assert column_name(load_paper("jebara2011", "paper").paper) == "Jebara 2011"


def test_headings_name_the_artefact_and_its_paper():
    paper = cited("A. B, C. D, E. F")
    assert heading_of("table_2", "Ranks", paper) == "Table 2 of B et al. 2011: Ranks"
    assert heading_of("table_ranks", "Ranks", paper) == "B et al. 2011: Ranks"
    assert heading_of("table_2", "Ranks") == "Table 2: Ranks"
    assert heading_of("figure_ranks", "Ranks") == "Ranks"
