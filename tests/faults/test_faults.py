"""A trial or a few of every test of faults; ``make faults`` runs many more."""

import csv

import pytest

from faults import FAULTS, table
from faults.table import Fault, SkippedError, run

# A trial of these is several runs of the workflow.
LONG = ("kills", "damage", "disks", "machines")
TESTS = [
    pytest.param(fault, marks=[pytest.mark.nightly] * (module in LONG))
    for module, faults in FAULTS.items()
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


def test_a_row_counts_what_went_well_and_the_table_keeps_the_others(tmp_path):
    def trials(count, scratch):
        yield from ("", "broken", "")
        raise SkippedError("no disk")

    path, order = tmp_path / "table.csv", ["a", "b"]
    for name in ("b", "a", "b"):
        row, problems = run(Fault(name, "something", trials, 1, 1), 3, tmp_path)
        table.merge(row, path, order)
    assert problems == ["broken"]
    with path.open() as file:
        rows = list(csv.DictReader(file))
    found = [(row["test"], row["count"], row["passed"], row["note"]) for row in rows]
    assert found == [(name, "3", "2", "skipped: no disk") for name in order]
