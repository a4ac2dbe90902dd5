"""Readings of small texts, and reasons for refusing them."""

import gzip

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.errors import TableError
from mtmkl_suite.tables import read_table

ROWS = ["t,x,y", "a,1.5,2", "b,2,3", "c,-1,1"]


def text(*rows, first=(), last=(), separator=","):
    """Return rows as text, with a column before or after them."""
    columns = [each for each in (first, rows or ROWS, last) if each]
    cells = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join(cells).replace(",", separator) + "\n"


@pytest.fixture
def read(tmp_path):
    def _read(content, name="Own.CSV", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **{"roles": ["t", "y"], **options})

    return _read


LINES = [2, 3, 4]
DECIMAL = "Commas are decimal in x: 1,5 is 1.5."
NUMBERED = [f'"{k}",{row}' for k, row in enumerate(ROWS[1:])]
NAMED = [f'"{row[0]}",{row}' for row in ROWS[1:]]
QUOTED = [f'"{k}" "{k}" 1.5 0' for k in "abc"]
ENDED = [row + ",,"[k:] for k, row in enumerate(ROWS[1:])]
TWO = {"first": ["Unnamed: 0", 1, 2, 3], "last": ["id", "4", "2", "1"]}
ALIKE = [
    text(),
    b"\xef\xbb\xbf" + text().encode(),
    text().replace("\n", "\r\n"),
    text().replace("\n", "\r"),
    text(separator="\t"),
    text(separator=" | "),
    text(separator="   "),
    text(last=["", "", "", ""]),
    text(ROWS[0], *ENDED),
    text(" t ,\u00a0x,y\u200b", *ROWS[1:]),
]


@pytest.mark.parametrize(
    ("content", "lines", "remark"),
    [
        *((content, LINES, None) for content in ALIKE),
        (text("", *ROWS[:2], "", ",,", *ROWS[2:]), [3, 6, 7], None),
        ("sep=;\n" + text(separator=";"), [3, 4, 5], None),
        (text(separator=";").replace(".", ","), LINES, DECIMAL),
        (text(separator="\t").replace(".", ","), LINES, DECIMAL),
        # comments, and line ends in quotation marks
        ("# a 'b\" c\n\n#\n" + text(), [5, 6, 7], "Comments were left out: line 1, 3."),
        (text(*ROWS[:2], ' # "', *ROWS[2:]), [2, 4, 5], "left out: line 3."),
        (text('t,x,"y\n"', *ROWS[1:]), [3, 4, 5], None),
        (text(ROWS[0], '"\n# a",1.5,2', *ROWS[2:]), [2, 4, 5], None),
        # row numbers and names
        (text(first=["", 0, 1, 2]), LINES, "first column, row numbers (0, 1, 2)"),
        (text(first=["Unnamed: 0", "1.0", "2.0", "3.0"]), LINES, "row numbers (1.0"),
        (text(first=["", "p", "q", "r"]), LINES, "first column, row names (p, q, r)"),
        (text(ROWS[0], *NUMBERED), LINES, "row numbers"),
        (text(ROWS[0], *NAMED), LINES, "row names (a, b"),
        (text('"t" "x" "y"', *QUOTED), LINES, "row names"),
        (text(first=["index", 9, 3, 5]), LINES, "column 'index', row numbers"),
        (text(last=["X", "2", "1", "3"]), LINES, "column 'X', row numbers"),
        (text(last=["...1", "1", "2", "3"]), LINES, "column '...1', row numbers"),
        (text(**TWO), LINES, "'id'"),
    ],
)
def test_what_is_read(read, content, lines, remark):
    table = read(content)
    assert table.names == ["t", "x", "y"]
    assert table.cells.index.tolist() == lines
    assert table.cells["x"].tolist()[0] == "1.5"
    assert table.cells["t"].tolist() in (["a", "b", "c"], ["# a", "b", "c"])
    assert remark in " ".join(table.remarks) if remark else table.remarks == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (text("t,x,x", ROWS[1]), "columns 2 and 3 are both named 'x': delete or "),
        (text("t,x, x\u00a0", ROWS[1]), "both named 'x'"),
        (text(ROWS[0]), "the file has no rows"),
        ("\n\n", "this is not a table, it is empty"),
        (text().encode("utf-16"), "no UTF-8 text: save it as such"),
        ("t,x,y\nKöln,1,2\n".encode("latin-1"), "no UTF-8 text"),
        # rows of another length
        (text(*ROWS, "d,1"), r"line 5 has 2 cells and the header in line 1 has 3 "),
        (text("a title", *ROWS), r"line 2 has 1 cell and the header in line 1 has 2"),
        (text("t,x,y", "a,1,5,2"), "line 2 has 4 cells .* quote cells with ','"),
        (text(*ROWS[:2], '"b,2,3', ROWS[3]), "line 3 cannot be read: unexpected end"),
        (text(*ROWS[:2], '"b"c,2,3'), "line 3 cannot be read"),
        # comment or not
        (text(*ROWS[:2], "#b,2,3"), "line 3 begins with # and has as many cells"),
        (text("# t,x,y", *ROWS[1:]), "line 1 begins with # and has as many cells"),
        # columns without a name
        (text(first=["", "p", "p", "q"]), r"column 1 \(p, p, q\) has no name: name or"),
        (text(first=["", 0.5, 1.5, 2]), "column 1 .* has no name"),
        (text(last=["", "1", "2", "3"]), "column 4 .* has no name"),
        # decimals or thousands
        ("t;x;y\na;2.201;1\nb;900,5;2\n", "'900,5' .* line 3, and '2.201' .* line 2"),
        ("t;x;y\na;2,201;1.5\n", "'2,201' in column 'x', .* and '1.5' in column 'y'"),
        ("t\tx\ty\na\t2,201\t1\n", "'2,201' .*: does the comma separate thousands or"),
    ],
)  # fmt: skip
def test_what_is_refused(read, content, words):
    with pytest.raises(TableError, match=rf"(?s)^Own.CSV:? .*{words}"):
        read(content)


@pytest.mark.parametrize(
    ("values", "labels", "remark"),
    [
        (["b", "b ", " b\u00a0", "\u200bb"], ["b"] * 4, r"'b', 'b ', 'b\xa0', '\u"),
        (["é", "e\u0301"], ["é"] * 2, r"'\xe9', 'e\u0301'"),
        (["a b", "a\u00a0b", "a  b"], ["a b"] * 3, r"'a b', 'a\xa0b', 'a  b'"),
        (["1.0", "1", "1e0", "2"], ["1", "1", "1", "2"], "'1.0', '1', '1e0'"),
        (["1.0", "1", "x"], ["1.0", "1", "x"], None),
        (["2_1", "21"], ["2_1", "21"], None),
        (["٣", "3"], ["٣", "3"], None),
        (["True", "TRUE", "false"], ["TRUE", "TRUE", "false"], "'True', 'TRUE'"),
        ([str(2**64), str(2**64 + 1)], [str(2**64), str(2**64 + 1)], None),
        (["a", "A"], ["a", "A"], None),
    ],
)  # fmt: skip
def test_values_that_are_one(read, values, labels, remark):
    table = read("t,y\n" + "".join(f"{value},0\n" for value in values))
    assert table.labels("t").tolist() == labels
    assert remark in " ".join(table.remarks) if remark else table.remarks == []


@pytest.mark.parametrize(
    ("values", "gaps"),
    [
        (["1", "", "NA", "n/a", "NaN", "null", "?", "#N/A"], [0] + [1] * 7),
        (["1", "none", "-", "–", "."], [0, 1, 1, 1, 1]),
        (["some", "none", "-", "NA", ""], [0, 0, 0, 1, 1]),
        (["none", "none", ""], [0, 0, 1]),
        (["1", "2_1", "none"], [0, 0, 0]),
    ],
)
def test_gaps_by_the_kind_of_the_column(read, values, gaps):
    table = read("y,t\n" + "".join(f"0,{value}\n" for value in values))
    np.testing.assert_array_equal(table.gaps("t"), np.array(gaps, bool))


def test_files_that_cannot_be_read(read, tmp_path):
    assert read(gzip.compress(text().encode()), "Own.Csv.GZ").names == ["t", "x", "y"]
    for content in (text(), gzip.compress(text().encode())[:-9]):
        with pytest.raises(TableError, match=r"cut.csv.gz cannot be read: "):
            read(content, "cut.csv.gz")
    with pytest.raises(TableError, match=r"cannot be read: .*directory"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("frame", "names", "remarks"),
    [
        (pd.DataFrame({"y": [1.0]}, index=pd.Index(["a"], name="t")), ["t", "y"], 0),
        (pd.DataFrame({"t": [b"a "], "y": [1]}, index=[5]), ["t", "y"], 1),
        (pd.DataFrame({"t": [None], "y ": pd.array([None], "Int64")}), ["t", "y"], 0),
        (pd.DataFrame({"t": pd.Categorical(["a"]), "y": [True]}), ["t", "y"], 0),
    ],
)
def test_stored_tables(read, monkeypatch, frame, names, remarks):
    """As pandas gives them; numbers stay numbers."""
    monkeypatch.setattr(pd, "read_parquet", lambda path: frame)
    table = read(b"", "own.parquet")
    assert (table.names, len(table.remarks)) == (names, remarks)
    assert (table.cells.index.tolist(), table.where) == ([1], "row")
    assert table.cells["t"].tolist() in (["a"], [""])
    assert table.cells["y"].dtype.kind in "bif"
