"""What is said at the end of a run."""

import pandas as pd
import pytest
from configured import paper_of

from mtmkl.files import write_json, write_table
from mtmkl_suite.report.pages.summary import closing_summary
from mtmkl_suite.run.folders import RunFolder


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "quick" / "p"
    judged = ["reproduced", "not judged (quick)", "not judged (quick)"]
    verdicts = pd.DataFrame({"verdict": judged, "derived": [False, True, False]})
    write_table(folder / "verdicts.csv", verdicts)
    write_table(folder / "claims.csv", pd.DataFrame({"verdict": pd.Series(dtype=str)}))
    for name, status in (("school", "missing"), ("digits", "ok")):
        write_json(folder / f"data/{name}.json", {"name": name, "status": status})
    return RunFolder(tmp_path / "quick")


def config(*datasets):
    paper = {"id": "p", "title": "On tasks", "authors": "A. Author", "year": 2001}
    experiments = {name: {"datasets": {"name": name}} for name in datasets}
    return paper_of({"paper": paper, "experiments": experiments})


def test_verdicts_are_counted_by_paper(results):
    lines = closing_summary([config("digits")], results).splitlines()
    assert lines[1:4] == [
        "On tasks (A. Author, 2001)",
        "  published numbers: 1 reproduced, 1 not judged (quick); of 1 that "
        "follow from these: 1 not judged (quick)",
        "  claims:            none",
    ]


def test_missing_data_come_with_the_command_that_gets_them(results):
    shown = closing_summary([config("digits", "school")], results)
    assert "Missing data: school\n" in shown
    assert "mtmkl datasets fetch school\n" in shown
    assert "Missing" not in closing_summary([config("digits")], results)


def test_the_report_has_an_address(results):
    address = closing_summary([config("digits")], results).splitlines()[-1]
    assert address == f"Report: {results.report.as_uri()}"
