import pytest
from configured import paper_of

from mtmkl_suite.config.names import check_names
from mtmkl_suite.errors import ConfigError

NUMBERS = """row,column,value
Ridge,School,1.0
Ridge,Digits,2.0
SVM,School,3.0
"School, 10 %",Ridge,4.0
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "toy2000" / "published"
    folder.mkdir(parents=True)
    (folder / "table_1.csv").write_text(NUMBERS)
    return folder


def table(rows=("Ridge",), columns=("School",), file="table_1.csv"):
    return {
        "kind": "table",
        "experiment": "school",
        "file": file,
        "rows": {row: {"method": "ridge"} for row in rows},
        "columns": {column: {"metric": "mse"} for column in columns},
    }


def ranking(*blocks, layout="ranking", row=None):
    school = {"experiment": "school", "metric": "mse", **(row or {})}
    return {
        "kind": "table",
        "layout": layout,
        "file": "table_1.csv",
        "comparison": {
            "control": "Ridge",
            "columns": {"Ridge": "ridge"},
            "rows": {"School": school},
            "blocks": {block: {} for block in blocks},
        },
    }


def quoted(row="SVM", file="table_1.csv"):
    cells = [{"row": row, "column": "School", "where": {}}]
    return {"kind": "figure", "quoted": {"file": file, "cells": cells}}


def check(folder, artefact):
    school = {
        "protocol": "random", "methods": [{"method": "ridge"}], "metrics": ["mse"],
        "datasets": {"name": "school"},
    }  # fmt: skip
    config = paper_of({
        "published": folder, "protocols": {"random": {"kind": "random"}},
        "methods": {"ridge": {}}, "experiments": {"school": school},
        "artefacts": {"a": artefact},
    })  # fmt: skip
    check_names(config, [config])


@pytest.mark.parametrize(
    "artefact",
    [
        table(columns=("School", "Digits")),
        table(rows=()),
        ranking("10 %"),
        ranking("10 %", "20 %", row={"blocks": ["10 %"]}),
    ],
)
def test_numbers_that_are_published(folder, artefact):
    check(folder, artefact)


@pytest.mark.parametrize(
    ("artefact", "message"),
    [
        (table(file="table_2.csv"), "'artefacts.a.file': unknown file of published nu"),
        (table(rows=("Rigde",)), "'artefacts.a': unknown row of table_1.csv 'Rigde';"),
        (table(rows=("SVM",), columns=("Digits",)), r"'artefacts.a': unknown column o"),
        (ranking("10 %", "20 %"), "'artefacts.a': unknown row of table_1.csv 'School,"),
        (quoted("Tree"), "'artefacts.a.quoted': unknown row of table_1.csv 'Tree'"),
        (quoted(file="zzz"), "'artefacts.a.quoted.file': unknown file"),
    ],
)
def test_numbers_that_are_not(folder, artefact, message):
    with pytest.raises(ConfigError, match=f"^key {message}"):
        check(folder, artefact)
