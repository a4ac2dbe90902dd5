"""All transcribed numbers have one form."""

import pandas as pd
import pytest

from mtmkl_suite.documents import config_dir
from mtmkl_suite.judge.verdicts import Published

FILES = sorted(config_dir().glob("papers/*/published/*.csv"))
COLUMNS = [
    "row", "column", "value", "sd", "n", "unit", "status", "alternative", "source",
]  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parts[-3]}-{p.stem}")
def test_files_of_published_numbers_have_the_common_form(path):
    file = pd.read_csv(path)
    assert [c for c in file.columns if c != "rank"] == COLUMNS
    assert not file.duplicated(["row", "column"]).any()
    assert file["source"].notna().all()
    for row in file.to_dict("records"):
        number = Published.from_row(row)  # raises on a bad status, sd or n
        # Of what Landmine's numbers measure the paper says too little.
        is_uncertain = "yousefi2015" in path.parts and "Landmine, " in row["row"]
        assert (number.status == "ambiguous") >= is_uncertain
