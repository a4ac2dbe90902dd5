import pandas as pd
from configured import artefact_of

from mtmkl_suite.report.pages.numbers import methods_of, number_table, ranks_apart
from mtmkl_suite.report.published_reach import Reach

SPACE = "\N{FIGURE SPACE}"


def cell(row, column, published, reproduced, verdict, **more):
    return {
        "row": row, "column": column, "unit": "%", "published": published,
        "published_sd": None, "status": "legible", "reproduced": reproduced,
        "reproduced_sd": 0.5, "n": 10, "verdict": verdict, "rule": "|difference| 0.1",
        "missing": "",
    } | more  # fmt: skip


def build(cells, *, is_judged=True, decimals=1, reach=None):
    return number_table(
        pd.DataFrame(cells),
        corner="Method",
        decimals=decimals,
        is_judged=is_judged,
        reach=reach or {},
        methods={"MTL": "MTL"},
    )


def test_a_cell_has_all_of_a_number():
    table = build([cell("MTL", "error", 9.75, 10.25, "close")])
    assert (table.corner, table.unit) == ("Method", "%")
    assert table.columns == [("error", "")]
    ((label, method, (found,)),) = table.rows
    assert label == method == "MTL"
    assert (found.printed.strip(), found.ours, found.difference) == (
        "9.8", "10.2", "+0.5",
    )  # fmt: skip
    assert found.verdict == "close"
    assert found.details == (
        "close; |difference| 0.1; published 9.8; reproduced 10.2 ± 0.5 (n = 10)"
    )


def test_decimal_points_of_a_column_stand_in_one_line():
    reach = dict.fromkeys([("a", "x"), ("b", "x")], Reach("within reach", "raw"))
    cells = [
        cell("a", "x", 9.5, 100.0, "different"),
        cell("b", "x", -3.0, 1.0, "close"),
    ]
    first, second = (row[0] for _, _, row in build(cells, reach=reach).rows)
    assert (first.printed, first.ours) == (f"{SPACE * 2}9.5", "100.0")
    assert second.printed == f"{SPACE}\N{MINUS SIGN}3.0"
    # Other readings stand beside what is different.
    assert first.details.endswith("; other readings: within reach (raw)")
    assert "other readings" not in second.details


def shown(*numbers, is_judged=True, decimals=1, **more):
    cells = [cell("MTL", "x", *numbers, **more)]
    ((_, _, (found,)),) = build(cells, is_judged=is_judged, decimals=decimals).rows
    return found


def test_a_number_of_two_readings_is_marked():
    unsure = {"status": "ambiguous", "in_print": "Table 1; sign is lost"}
    found = shown(2.0, 2.5, "close", **unsure)
    assert found.printed == "2.0 ?"
    assert "published 2.0 (ambiguous)" in found.details
    assert found.details.endswith("; in print: Table 1; sign is lost")


def test_what_was_not_computed_says_why():
    found = shown(2.0, None, "no data", missing="data set 'a' is absent")
    assert (found.verdict, found.ours) == ("no data", "")
    assert found.details == "no data; data set 'a' is absent; published 2.0"


def test_what_is_not_judged_or_cannot_be_read_has_no_verdict():
    found = shown(2.0, 2.1, "not judged (quick)", is_judged=False)
    assert (found.ours, found.verdict) == ("2.1", "")
    lost = "lost in our copy"
    found = shown(None, 2.1, lost, status=lost)
    assert (found.printed, found.ours, found.verdict) == (lost, "2.1", "")


def test_mean_ranks_have_decimals_of_their_own():
    cells = [
        cell("Heart", "MTL", 90.0, 91.25, "close", reproduced_rank=1.5),
        cell("mean rank", "MTL", 2.0, 2.125, "close", unit="rank"),
    ]
    numbers, ranks = map(build, ranks_apart(pd.DataFrame(cells)))
    assert (numbers.unit, numbers.is_of_ranks) == ("%", False)
    assert (ranks.unit, ranks.is_of_ranks) == ("", True)
    texts = [table.rows[0][2][0].details for table in (numbers, ranks)]
    assert "reproduced 91.2 ± 0.5, rank 1.5 (n = 10)" in texts[0]
    assert "reproduced 2.12 ± 0.50 (n = 10)" in texts[1]


def test_quoted_numbers_get_a_digit_more_than_printed():
    assert shown(0.31, 0.24304, "different", decimals=None).ours == "0.243"


def test_methods_are_found_in_rows_or_columns():
    labels = {"mtl": "MTL", "stl": "STL"}
    rows = {"Ours": {"method": "mtl"}, "all": {"method": ["mtl", "stl"]}}
    table = artefact_of({"rows": rows, "columns": {"x": {}}})
    assert methods_of(table, labels) == {"Ours": "MTL"}
    ranking = {"layout": "ranking", "comparison": {"columns": {"S": "stl"}}}
    assert methods_of(artefact_of(ranking), labels) == {"S": "STL"}
