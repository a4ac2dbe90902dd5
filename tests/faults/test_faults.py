"""A trial or a few of every test of faults; ``make faults`` runs many more."""

import csv

import pytest

from faults import FAULTS, damage, disks, kills, servers, table
from faults.table import Fault, SkippedError, measured, merge, run

# A trial of these is several runs of the workflow, or waits for servers.
LONG = [*kills.FAULTS, *damage.FAULTS, *disks.FAULTS, *servers.FAULTS[:1]]
TESTS = [
    pytest.param(fault, marks=[pytest.mark.nightly] if fault in LONG else [])
    for faults in FAULTS.values()
    for fault in faults
    if fault.few
]


@pytest.mark.parametrize("fault", TESTS, ids=lambda fault: fault.test)
def test_faults(fault, tmp_path):
    row, problems = run(fault, fault.few, tmp_path)
    if row["note"]:
        pytest.skip(row["note"])
    assert problems == []
    assert row["count"] >= fault.few


def of(*lines):
    return Fault("name", "something", lambda count, scratch: iter(lines), 1, 1)


def test_a_row_counts_what_went_well(tmp_path):
    row, problems = run(of("", "broken", ""), 3, tmp_path)
    assert (row["count"], row["passed"], problems) == (3, 2, ["broken"])


def test_what_cannot_be_run_says_why(tmp_path):
    def refuse(count, scratch):
        yield ""
        raise SkippedError("no disk")

    row, problems = run(Fault("name", "x", refuse, 1, 1), 1, tmp_path)
    assert (row["note"], problems) == ("skipped: no disk", [])


def test_the_table_keeps_the_rows_of_other_tests(tmp_path):
    path = tmp_path / "table.csv"
    one, two = ({**run(of(""), 1, tmp_path)[0], "test": name} for name in ("b", "a"))
    merge([one], path, ["a", "b"])
    merge([two], path, ["a", "b"])
    merge([{**two, "count": 9}], path, ["a", "b"])
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["test"], row["count"]) for row in rows] == [("a", "9"), ("b", "1")]


@pytest.mark.parametrize(
    ("measured_at", "now", "line", "count", "is_kept"),
    [
        ("abc1234", "abc1234", "", 1, True),
        ("abc1234", "def5678", "", 1, False),
        ("abc1234+changes", "abc1234+changes", "", 1, False),
        ("abc1234", "abc1234", "broken", 1, False),
        ("abc1234", "abc1234", "", 2, False),
    ],
)
def test_a_row_of_the_same_commit_is_kept(
    tmp_path, monkeypatch, measured_at, now, line, count, is_kept
):
    path = tmp_path / "table.csv"
    monkeypatch.setattr(table, "current_commit", lambda: measured_at)
    assert not measured(of(line), count, path)
    merge([run(of(line), 1, tmp_path)[0]], path, ["name"])
    monkeypatch.setattr(table, "current_commit", lambda: now)
    assert measured(of(line), count, path) == is_kept


def test_a_row_measured_while_the_code_changed_is_not_kept(tmp_path, monkeypatch):
    commits = iter(["abc1234", "def5678"])
    monkeypatch.setattr(table, "current_commit", lambda: next(commits))
    assert run(of(""), 1, tmp_path)[0]["commit"] == "abc1234+changes"
