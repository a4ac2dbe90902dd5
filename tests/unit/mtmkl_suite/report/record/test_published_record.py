import pandas as pd

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.report.record.published_record import (
    RECORD,
    RUN,
    read_published_record,
    with_record,
)


def table(**verdicts):
    return pd.DataFrame({"id": list(verdicts), "verdict": list(verdicts.values())})


def test_the_record_fills_what_the_run_leaves_open():
    run = table(
        a="holds", b="not judged (quick)", c="no data", d="no data", e="no data"
    )
    published = table(a="undecided", b="holds", c="does not hold", d="no data")
    found = with_record(run, published, ["id"])
    assert (
        list(found["verdict"]) == ["holds", "holds", "does not hold"] + ["no data"] * 2
    )
    assert list(found["source"]) == [RUN, RECORD, RECORD, RUN, RUN]


def test_what_a_tier_lacks_follows_from_the_record():
    run, published = table(a="not judged (quick)"), table(a="holds", b="does not hold")
    assert list(with_record(run, published, ["id"])["id"]) == ["a"]
    found = with_record(run, published, ["id"], fill=True)
    assert list(found["verdict"]) == ["holds", "does not hold"]
    assert list(found["source"]) == [RECORD, RECORD]


def test_without_a_record_all_is_of_the_run():
    found = with_record(table(a="no data"), None, ["id"])
    assert list(found["source"]) == [RUN]


def test_a_checkout_has_the_record_of_every_paper():
    record = read_published_record(load_paper("argyriou2008", "quick"))
    assert len(record.claims) > 20
    assert record.artefact("table_1", "csv").is_file()
    assert record.artefact("table_99", "csv") is None
    assert record.cells("table_99").empty
    assert f"commit {record.commit[:7]}" in record.origin


def test_an_installed_package_has_none(tmp_path):
    config = {"paper": {"id": "p"}, "published": str(tmp_path / "c/papers/p/published")}
    assert read_published_record(config) is None
