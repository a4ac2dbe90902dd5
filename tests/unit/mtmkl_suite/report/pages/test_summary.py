import pandas as pd
import pytest
from configured import artefact_of, paper_of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.files import write_json, write_table
from mtmkl_suite.report.pages import summary as pages
from mtmkl_suite.report.pages.summary import closing_summary
from mtmkl_suite.report.tables.standing import Standing
from mtmkl_suite.report.text import TextTable
from mtmkl_suite.run.folders import RunFolder


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "quick" / "p"
    judged = ["reproduced", "not judged (quick)", "not judged (quick)"]
    verdicts = pd.DataFrame({"verdict": judged, "derived": [False, True, False]})
    write_table(folder / "verdicts.csv", verdicts)
    write_table(folder / "claims.csv", pd.DataFrame(columns=["verdict"], dtype=str))
    for name, status in (("school", "missing"), ("digits", "ok")):
        info = {"name": name, "status": status, "reason": ""}
        write_json(folder / f"data/{name}.json", info)
    return RunFolder(tmp_path / "quick")


def config(*datasets):
    paper = {"id": "p", "title": "On tasks", "authors": "A. Author", "year": 2001}
    experiments = {name: {"datasets": {"name": name}} for name in datasets}
    return paper_of({"paper": paper, "experiments": experiments})


def test_verdicts_are_counted_by_paper(results):
    lines = closing_summary([config("digits")], results).splitlines()
    assert lines[-1] == f"Report: {results.report.as_uri()}"
    assert lines[1:-2] == [
        "On tasks (A. Author, 2001)",
        "  published numbers:  1 reproduced, 1 not judged (quick); of 1 counted "
        "apart: 1 not judged (quick)",
    ]


def test_a_whole_paper_shows_the_main_claim_of_its_record(results):
    full = load_paper("widmer2015", "quick")
    of_data = {"name": "none", "status": "ok"}
    for each in full.experiments.values():
        for variant in each.variants:
            write_json(results.paper("widmer2015").data_info(variant.id), of_data)
    for name in ("verdicts", "claims"):
        columns = pd.DataFrame(columns=["verdict", "derived"], dtype=str)
        write_table(results.paper("widmer2015").path / f"{name}.csv", columns)
    shown = closing_summary([full], results).splitlines()
    assert full.main_claim is not None
    assert shown[2] == f"  {full.main_claim.says}"
    assert shown[3].startswith("    In the record: ")


def test_missing_data_come_with_the_command_that_gets_them(results):
    shown = closing_summary([config("digits", "school")], results)
    assert "Missing data: school\n" in shown
    assert "mtmkl datasets fetch school\n" in shown
    assert "Missing" not in closing_summary([config("digits")], results)


def test_a_run_of_parts_ends_with_its_best_methods(results, monkeypatch):
    header = ["rank", "method", "accuracy", "a − method", "95 % interval", "seconds"]
    rows = [[f"{k}", f"m{k}", f"0.{9 - k}", f"+0.{k}", "–", "1"] for k in range(1, 8)]
    found = [
        Standing("Digits", ["m1 is best."], TextTable(header, rows), range(4), [6])
    ]
    monkeypatch.setattr(pages, "load_context", lambda config, folder: None)
    monkeypatch.setattr(pages, "standings", lambda context, statistics: found)
    write_table(results.paper("p").statistics, pd.DataFrame({"p": [0.5]}))
    part = config("digits").model_copy(update={"parts": ["digits"]})
    assert closing_summary([part], results).splitlines()[2:-3] == [
        "  m1 is best.",
        "    rank  method  accuracy  a − method",
        "    1     m1      0.8       +0.1",
        "    2     m2      0.7       +0.2",
        "    3     m3      0.6       +0.3",
        "    4     m4      0.5       +0.4",
        "    5     m5      0.4       +0.5",
        "    7     m7      0.2       +0.7",
    ]


def test_a_figure_with_other_settings_ends_with_its_path_and_no_verdicts(
    results, monkeypatch
):
    monkeypatch.setattr(pages, "_best_methods", lambda config, folder: [])
    figure = {"kind": "figure", "title": "Errors", "experiments": ["digits"]}
    changed = config("digits").model_copy(
        update={
            "artefacts": {"figure_1": artefact_of(figure)},
            "parts": ["figure_1"],
            "changes": {"experiments.digits.metrics": ["auc"]},
            "remarks": ["--set changes digits, and not others."],
        }
    )
    path = results.paper("p").artefact("figure_1", "png")
    assert closing_summary([changed], results).splitlines()[2:-2] == [
        "  --set changes digits, and not others.",
        f"  figure_1: {path.resolve()}",
    ]
