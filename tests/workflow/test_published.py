"""The published record: of one commit, and what a rejudge leaves as it is."""

import shutil

import pytest
from configured import of

from mtmkl_suite.config.against import published_folder, published_papers
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Run
from mtmkl_suite.files import read_json, read_table
from mtmkl_suite.report.publish import rejudge

SMALLEST = "argyriou2008"
# What a record that was joined by hand says besides of its parts.
JOINED = {"added", "computed_anew", "later", "recomputed"}


def provenance_of(paper):
    return read_json(published_folder(paper) / "provenance.json")


def is_of_one_commit():
    """Tell whether all records were computed at one commit, and none was joined."""
    found = [provenance_of(paper) for paper in published_papers()]
    return len({each["commit"] for each in found}) == 1 and not any(
        JOINED & each.keys() for each in found
    )


def with_several_versions(scores):
    """Return the fits of a table of scores that are of several versions of the code."""
    versions = scores.groupby(["experiment", "method"])["code_version"].nunique()
    return versions[versions > 1].index.tolist()


def versions(path):
    columns = ["experiment", "method", "metric", "code_version"]
    table = read_table(path, usecols=columns, dtype=str, keep_default_na=False)
    return table[~table["metric"].isin(["unsupported", "failed"])]


@pytest.mark.parametrize("paper", published_papers())
def test_scores_of_a_method_are_of_one_version_of_the_code(paper):
    folder = published_folder(paper)
    paths = [folder / name for name in ("scores.csv.gz", "readings.csv.gz")]
    several = {
        path.name: found
        for path in paths
        if path.is_file() and (found := with_several_versions(versions(path)))
    }
    if several and not is_of_one_commit():
        pytest.skip(f"the record is of several commits, and here of several: {several}")
    assert not several


def test_a_row_of_another_version_is_found():
    scores = versions(published_folder(SMALLEST) / "scores.csv.gz")
    scores.loc[scores.index[0], "code_version"] = "0" * 12
    first = scores.iloc[0]
    assert (first["experiment"], first["method"]) in with_several_versions(scores)


def test_a_record_that_was_judged_is_left_as_it_is(tmp_path):
    """Of one commit it is so the first time, as ``git status`` shows it."""
    provenance = provenance_of(SMALLEST)
    config = load_paper(SMALLEST, "paper")
    figures = tmp_path / "figures"
    place = figures / SMALLEST
    shutil.copytree(published_folder(SMALLEST), place)
    settings = of(Run, {"tier": "paper", "seed": provenance["seed"]})

    def judged():
        rejudge([config], figures, settings=settings)
        return contents()

    def contents():
        return {path.name: path.read_bytes() for path in place.iterdir()}

    before = contents() if is_of_one_commit() else judged()
    changed = {name for name, now in judged().items() if now != before.get(name)}
    # The gallery says what is of the code as it is now.
    assert changed <= {"README.md"}
