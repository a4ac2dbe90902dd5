import pandas as pd
import pytest

from mtmkl.reporting.context import load_context
from mtmkl.reporting.record import (
    VERDICT_COLUMNS,
    claims_table,
    verdict_table,
    write_record,
    write_statistics,
)
from mtmkl.statistics import claims as claim_tests
from mtmkl.statistics.comparison import PAIR_COLUMNS
from mtmkl.statistics.verdicts import VERDICTS


@pytest.fixture(scope="module")
def written(paper, results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("record")
    write_record(
        paper, results, verdicts=folder / "verdicts.csv", claims=folder / "claims.csv"
    )
    return folder


# These columns are what other programs read: they are spelt out here on purpose.
def test_columns_of_verdicts(written):
    header = (written / "verdicts.csv").read_text().splitlines()[0]
    assert header == (
        "artefact,row,column,unit,published,published_sd,status,reproduced,"
        "reproduced_sd,n,verdict,data,rule"
    )
    assert tuple(header.split(",")) == VERDICT_COLUMNS


def test_columns_of_claims(written):
    header = (written / "claims.csv").read_text().splitlines()[0]
    assert header == (
        "id,claim,section,test,statistic,p,interval_low,interval_high,verdict,note"
    )


def test_every_published_cell_has_one_verdict(written, paper):
    table = pd.read_csv(written / "verdicts.csv")
    assert table["artefact"].value_counts().to_dict() == {
        "figure_3": 5, "table_1": 6, "table_2": 5, "table_3": 4,
    }  # fmt: skip
    assert not table.duplicated(["artefact", "row", "column"]).any()
    assert set(table["verdict"]) <= set(VERDICTS)
    assert set(table["data"]) == {"synthetic", "original"}
    gaussian = table.query("artefact == 'table_2' and row.str.contains('Gaussian')")
    assert gaussian["verdict"].item() == "no data"
    assert gaussian["rule"].item() == "not run in this tier"


def test_claims_are_all_judged(written, paper):
    table = pd.read_csv(written / "claims.csv")
    assert table["id"].tolist() == [claim["id"] for claim in paper["claims"]]
    assert set(table["verdict"]) <= set(claim_tests.VERDICTS)
    table = table.set_index("id")
    by_id = table["verdict"]
    # True of the made-up scores by construction.
    assert by_id["synthetic_error_falls_with_tasks"] == "holds"
    assert by_id["synthetic_features_fall_with_gamma"] == "holds"
    assert by_id["school_gaussian_like_linear"] == "no data"
    assert "not run in this tier" in table["note"]["school_gaussian_like_linear"]


def test_the_same_results_give_the_same_bytes(paper, results, written, tmp_path):
    again = tmp_path / "v.csv", tmp_path / "c.csv"
    write_record(paper, results, verdicts=again[0], claims=again[1])
    assert again[0].read_bytes() == (written / "verdicts.csv").read_bytes()
    assert again[1].read_bytes() == (written / "claims.csv").read_bytes()


def test_without_data_everything_is_a_named_gap(paper, empty_results):
    context = load_context(paper, empty_results)
    verdicts, claims = verdict_table(context), claims_table(context)
    assert set(verdicts["verdict"]) == set(claims["verdict"]) == {"no data"}
    assert verdicts["rule"].str.contains("absent").all()
    assert claims["note"].str.contains("absent").all()


def test_statistics(paper, results, empty_results, tmp_path):
    write_statistics(paper, results, tmp_path / "s.csv", seed=1)
    table = pd.read_csv(tmp_path / "s.csv")
    assert tuple(table.columns) == PAIR_COLUMNS
    units = table.groupby("experiment")["unit"].first()
    assert units["survey"] == "task"
    assert units["school"] == "repeat"
    corrected = table.groupby("experiment")["rho"].first()
    assert corrected["school"] == pytest.approx(1 / 3)
    assert pd.isna(corrected["linear_synthetic"])
    assert not table["first"].isin(["floor", "ceiling"]).any()
    write_statistics(paper, empty_results, tmp_path / "none.csv", seed=1)
    assert tuple(pd.read_csv(tmp_path / "none.csv").columns) == PAIR_COLUMNS
