import csv
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import mtmkl_suite.report
from mtmkl_suite.report.pages.fault_table import fault_rows

ROW = {
    "test": "Killed & resumed",
    "what is done": "killed between 1 s and the end: the same scores",
    "count": "30",
    "passed": "29",
    "seconds": "600",
    "note": "",
    "commit": "abc1234",
    "date": "2000-01-01",
}


def written(tmp_path, *rows):
    path = tmp_path / "faults.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ROW)
        writer.writeheader()
        writer.writerows(rows)
    return path


def shown(rows):
    folder = Path(mtmkl_suite.report.__file__).with_name("templates")
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("faults.html.j2").render(faults=rows)


def test_the_report_shows_counts_and_what_was_done(tmp_path):
    skipped = ROW | {"test": "Full disk", "note": "skipped: mounting is refused"}
    rows = fault_rows(written(tmp_path, ROW, skipped))
    page = shown(rows)
    assert "Killed &amp; resumed" in page
    assert '<td class="num">30</td>\n<td class="num">29</td>' in page
    assert "(skipped: mounting is refused)" in page
    assert page.count("abc1234, 2000-01-01") == 2


def test_without_a_table_nothing_is_shown(tmp_path):
    assert fault_rows(tmp_path / "none.csv") == []
    assert shown([]).strip() == ""


def test_the_table_here_counts_each_test_of_faults():
    for row in fault_rows():
        assert 0 <= int(row["passed"]) <= int(row["count"])
        assert int(row["count"]) or row["note"].startswith("skipped: ")
