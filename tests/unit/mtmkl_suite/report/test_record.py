import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.report.artefacts import build, write_artefacts
from mtmkl_suite.report.context import load_context
from mtmkl_suite.report.record import (
    VERDICT_COLUMNS,
    claims_tables,
    published_record,
    read_verdicts,
    statistics_table,
    verdict_table,
)
from mtmkl_suite.statistics.pairs import PAIR_COLUMNS

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def full_paper(paper):
    """The same paper, as if these were its full protocols, without mere pictures."""
    artefacts = paper.artefacts.items()
    judged = {n: each for n, each in artefacts if each.kind == "table" or each.quoted}
    return paper.model_copy(update={"tier": "paper", "artefacts": judged})


@pytest.fixture(scope="module")
def full_results(full_paper, make_results, tmp_path_factory):
    """The same results, of a process for each fit."""
    folder = make_results(full_paper, tmp_path_factory.mktemp("full"))
    write_artefacts(list(full_paper.artefacts), full_paper, folder)
    return folder


def test_columns_are_those_of_the_documentation(reported):
    """Other programs read them: they are spelt out there."""
    page = (ROOT / "docs/api.md").read_text("utf-8")
    documented = dict(re.findall(r"^\| `(\S+)` \|.*\| (.+) \|$", page, re.MULTILINE))
    tables = reported.verdicts, reported.claims, reported.claim_settings
    for path in (*tables, reported.overlaps, reported.scores):
        header = pd.read_csv(path, nrows=0).columns
        assert ", ".join(header) == documented[path.name]


def test_every_published_cell_has_one_verdict(reported, paper):
    table = pd.read_csv(reported.verdicts)
    assert table["artefact"].value_counts().to_dict() == {
        "figure_3": 5, "table_1": 6, "table_2": 7, "table_3": 4,
    }  # fmt: skip
    assert not table.duplicated(["artefact", "row", "column"]).any()
    assert set(table["verdict"]) == {"not judged (quick)", "no data"}
    assert set(table["data"]) == {"synthetic", "original"}
    gaussian = table.query("artefact == 'table_2' and row.str.contains('Gaussian')")
    assert gaussian["verdict"].item() == "no data"
    assert gaussian["rule"].item() == "not run in this tier"


def test_full_protocols_are_judged(full_paper, full_results, reported):
    judged = verdict_table(full_paper, full_results)
    table = pd.read_csv(reported.verdicts)
    assert set(judged["verdict"]) <= {"reproduced", "close", "different", "no data"}
    gaps = judged["verdict"] == "no data"
    assert gaps.equals(table["verdict"] == "no data")
    assert judged.loc[~gaps, "rule"].str.contains(r"max\(2 SE").all()
    numbers = ["published", "reproduced", "reproduced_sd", "n"]
    np.testing.assert_allclose(judged[numbers].astype(float), table[numbers])


def test_claims_of_a_reduced_run_are_described_only(reported):
    table = pd.read_csv(reported.claim_settings)
    assert set(table["verdict"]) == {"not judged (quick)", "no data"}
    assert set(pd.read_csv(reported.claims)["verdict"]) == set(table["verdict"])


def test_claims_are_all_judged(full_paper, results):
    table, settings = claims_tables(load_context(full_paper, results))
    assert table["id"].tolist() == [claim.id for claim in full_paper.claims]
    assert set(table["verdict"]) <= set(claim_tests.VERDICTS)
    by_id = table.set_index("id")["verdict"]
    notes = settings.set_index("id")["note"]
    # True of the made-up scores by construction.
    assert by_id["synthetic_error_falls_with_tasks"] == "holds"
    assert by_id["synthetic_features_fall_with_gamma"] == "holds"
    assert by_id["school_gaussian_like_linear"] == "no data"
    assert "not run in this tier" in notes["school_gaussian_like_linear"]


def test_an_artefact_leaves_the_cells_of_its_table(paper, reported):
    """The verdicts go through a file: not a digit may be lost there."""
    name = "table_1"
    table = build(load_context(paper, reported), paper.artefacts[name])
    expected = table.cells[table.cells["in_paper"]]
    expected = expected.assign(artefact=name, derived=False)
    pd.testing.assert_frame_equal(
        read_verdicts(reported, name),
        expected[list(VERDICT_COLUMNS)].reset_index(drop=True),
    )


def test_without_data_everything_is_a_named_gap(paper, empty_reported):
    verdicts = verdict_table(paper, empty_reported)
    _, claims = claims_tables(load_context(paper, empty_reported))
    assert set(verdicts["verdict"]) == set(claims["verdict"]) == {"no data"}
    assert verdicts["rule"].str.contains("absent").all()
    assert claims["note"].str.contains("absent").all()


def test_statistics(paper, reported, empty_results):
    table = pd.read_csv(reported.statistics)
    assert tuple(table.columns) == PAIR_COLUMNS
    units = table.groupby("experiment")["unit"].first()
    assert units["survey"] == "task"
    assert units["school"] == "repeat"
    # Made-up tasks are twelve, repeats two: too few for more than a difference.
    inferred = table.loc[:, "effect_size":"p_wilcoxon_holm"].drop(
        columns=["wins", "ties", "losses"]
    )
    assert inferred[table["unit"] == "repeat"].isna().all(axis=None)
    assert table.loc[table["unit"] == "task", "p_wilcoxon_holm"].notna().all()
    plain = ["mean_difference", "wins", "ties", "losses", "can_reject"]
    assert table[plain].notna().all(axis=None)
    assert not table["first"].isin(["floor", "ceiling"]).any()
    none = statistics_table(load_context(paper, empty_results), seed=1)
    assert tuple(none.columns) == PAIR_COLUMNS
    assert none.empty


def test_a_checkout_has_the_record_of_every_paper():
    record = published_record(load_paper("argyriou2008", "quick"))
    assert len(record.claims) > 20
    assert record.config.tier == "paper"
    assert "table_1" in record.config.artefacts
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d, )?commit \w{7}", record.origin)


def test_data_of_ones_own_have_none(paper):
    own = paper.paper.model_copy(update={"id": "my_data"})
    assert published_record(paper.model_copy(update={"paper": own})) is None
