import pandas as pd
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.judge.claims import COLUMNS
from mtmkl_suite.report.pages.claims import artefacts_of_section, group_claims


def claims_of(config):
    rows = [
        dict.fromkeys(COLUMNS, float("nan"))
        | {key: getattr(claim, key) for key in ("id", "claim", "section", "test")}
        | {"verdict": "holds", "note": "10 repeats"}
        for claim in config.claims
    ]
    return pd.DataFrame(rows).assign(source="this run")


@pytest.mark.parametrize(
    "paper",
    ["argyriou2008", "jawanpuria2011", "jebara2011", "widmer2015", "yousefi2015"],
)
def test_every_claim_is_in_one_matrix_or_in_the_list(paper):
    config = load_paper(paper, "paper")
    groups = group_claims(claims_of(config), {}, config)
    placed = [
        view["id"]
        for matrix in groups.matrices
        for _, cells in matrix.rows
        for view in cells
        if view
    ] + [view["id"] for view in groups.singles]
    assert sorted(placed) == sorted(claim.id for claim in config.claims)
    assert all("{" not in matrix.title for matrix in groups.matrices)


def test_data_sets_and_rivals_span_a_matrix():
    config = load_paper("yousefi2015", "paper")
    matrix = group_claims(claims_of(config), {}, config).matrices[0]
    assert matrix.corner == "data set"
    assert len(matrix.rows) == 7
    assert matrix.columns[:2] == ["STL", "MTL"]
    label, cells = matrix.rows[0]
    assert cells[0]["claim"].startswith(f"{label}: group-specific sharing")
    assert "‹data set›: group-specific sharing has a higher ‹measure›" in matrix.title


def test_results_are_in_words():
    config = load_paper("jebara2011", "paper")
    claims = claims_of(config).assign(
        statistic=2.5, p=0.0001, interval_low=0.1, interval_high=0.2, rho=0.5,
        own_verdict="undecided",
    )  # fmt: skip
    view = group_claims(claims, {}, config).all[0]
    assert view["results"] == [
        "statistic 2.5, p < 0.001, interval 0.1 to 0.2",
        "corrected for shared examples (ρ = 0.5): nothing can be tested",
    ]
    assert view["own_verdict"] == "undecided"


@pytest.mark.parametrize(
    ("section", "found"),
    [
        ("5, Table 1", ["table_1"]),
        ("5, Fig. 1c, d", ["figure_1c", "figure_1d"]),
        ("5, Fig. 1", ["figure_1a", "figure_1c", "figure_1d"]),
        ("6.1, Fig. 2 right", ["figure_2"]),
        ("11, Fig. 2a", ["figure_2"]),
        ("5.2", []),
    ],
)
def test_sections_name_artefacts(section, found):
    names = ["table_1", "table_10", "figure_1a", "figure_1c", "figure_1d", "figure_2"]
    assert artefacts_of_section(section, names) == found
