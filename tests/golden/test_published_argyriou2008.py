"""The transcribed numbers of Argyriou et al. 2008, against a second transcription."""

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.documents import config_dir
from mtmkl_suite.judge.verdicts import Published

FOLDER = config_dir() / "papers" / "argyriou2008" / "published"

TABLES = {
    "table_1": """
        Independent                    3.88
        Hierarchical Bayes             1.90
        RR-Het                         1.79
        MTL-FEAT (linear kernel)       1.93
        MTL-FEAT (Gaussian kernel)     1.85
        MTL-FEAT (variable selection)  2.01
    """,
    "table_2": """
        Aggregate                      22.7±1.3
        Independent                    23.8±2.1
        MTL-FEAT (variable selection)  24.8±2.0
        MTL-FEAT (linear kernel)       26.7±2.0
        MTL-FEAT (Gaussian kernel)     26.4±1.9
    """,
    "table_3": """
        Independent (linear)           16.5±4.0
        MTL-FEAT (linear)              16.5±2.6
        Independent (Gaussian)         9.8±3.1
        MTL-FEAT (Gaussian)            9.5±3.0
    """,
}
SAMPLES = {"table_1": 1, "table_2": 10, "table_3": 10}


def read(name):
    return pd.read_csv(FOLDER / f"{name}.csv")


def printed(text):
    for line in text.strip().splitlines():
        row, number = line.strip().rsplit("  ", 1)
        value, _, sd = number.partition("±")
        yield row.strip(), float(value), float(sd) if sd else None


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_transcribed_cell_by_cell(name):
    file = read(name)
    assert file["column"].nunique() == 1
    numbers = [Published.from_row(row) for row in file.to_dict("records")]
    found = [
        (row, number.value, number.sd)
        for row, number in zip(file["row"], numbers, strict=True)
    ]
    assert found == list(printed(TABLES[name]))
    assert {number.n for number in numbers} == {SAMPLES[name]}


def test_row_norms_of_figure_3():
    values = read("figure_3").set_index("row")["value"]
    learned = [values[f"learned {k}"] for k in range(1, 6)]
    assert learned == [0.31, 0.21, 0.12, 0.10, 0.09]
    true = [values[f"true {k}"] for k in range(1, 6)]
    assert true == [0.36, 0.23, 0.18, 0.13, 0.09]
    # The paper says what they are: the covariance's diagonal scaled to trace 1.
    diagonal = np.array([1, 0.64, 0.49, 0.36, 0.25])
    np.testing.assert_allclose(true, diagonal / diagonal.sum(), atol=0.005)


def test_numbers_quoted_in_the_text():
    texts = read("texts").set_index(["row", "column"])["value"]
    spread = "sd of explained variance across tasks"
    assert texts["Independent", spread] == 30
    assert texts["Aggregate", spread] == 26
    assert texts["Algorithms 1 and 2", "iterations (fewest)"] == 20
    assert texts["Algorithms 1 and 2", "iterations (most)"] == 100
    table = read("table_1").set_index(["row", "column"])["value"]
    repeated = texts.index.intersection(table.index)
    assert len(repeated) == 4
    assert (texts[repeated] == table[repeated]).all()
