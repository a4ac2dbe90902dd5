import numpy as np
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


@pytest.fixture(scope="module")
def written(paper, results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("record")
    write_record(
        paper, results, verdicts=folder / "verdicts.csv", claims=folder / "claims.csv"
    )
    return folder


@pytest.fixture(scope="module")
def full_paper(paper):
    """The same results, as if they were of the full protocols."""
    return {**paper, "tier": "paper"}


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
        "figure_3": 5, "table_1": 6, "table_2": 7, "table_3": 4,
    }  # fmt: skip
    assert not table.duplicated(["artefact", "row", "column"]).any()
    assert set(table["verdict"]) == {"not judged (quick)", "no data"}
    assert set(table["data"]) == {"synthetic", "original"}
    gaussian = table.query("artefact == 'table_2' and row.str.contains('Gaussian')")
    assert gaussian["verdict"].item() == "no data"
    assert gaussian["rule"].item() == "not run in this tier"


def test_full_protocols_are_judged(full_paper, results, written):
    judged = verdict_table(load_context(full_paper, results))
    table = pd.read_csv(written / "verdicts.csv")
    assert set(judged["verdict"]) <= {"reproduced", "close", "different", "no data"}
    gaps = judged["verdict"] == "no data"
    assert gaps.equals(table["verdict"] == "no data")
    assert judged.loc[~gaps, "rule"].str.contains(r"max\(2 SE").all()
    numbers = ["published", "reproduced", "reproduced_sd", "n"]
    np.testing.assert_allclose(judged[numbers].astype(float), table[numbers])


def test_claims_of_a_reduced_run_are_described_only(written, full_paper, results):
    table = pd.read_csv(written / "claims.csv")
    assert set(table["verdict"]) == {"not judged (quick)", "no data"}
    numbers = ["statistic", "p", "interval_low", "interval_high"]
    assert table[numbers].isna().all(axis=None)
    judged = claims_table(load_context(full_paper, results))
    assert judged["note"].tolist() == table["note"].tolist()


def test_claims_are_all_judged(full_paper, results):
    table = claims_table(load_context(full_paper, results))
    assert table["id"].tolist() == [claim["id"] for claim in full_paper["claims"]]
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
    # Made-up tasks are twelve, repeats two: too few for more than a difference.
    inferred = table.loc[:, "effect_size":"p_wilcoxon_holm"].drop(
        columns=["wins", "ties", "losses"]
    )
    assert inferred[table["unit"] == "repeat"].isna().all(axis=None)
    assert table.loc[table["unit"] == "task", "p_wilcoxon_holm"].notna().all()
    plain = ["mean_difference", "wins", "ties", "losses", "can_reject"]
    assert table[plain].notna().all(axis=None)
    assert not table["first"].isin(["floor", "ceiling"]).any()
    write_statistics(paper, empty_results, tmp_path / "none.csv", seed=1)
    assert tuple(pd.read_csv(tmp_path / "none.csv").columns) == PAIR_COLUMNS
