"""The published record: of one commit, and left as it is by a rejudge."""

import shutil

import pytest
from configured import of

from mtmkl_suite.config.load import load_paper, published_folder, published_papers
from mtmkl_suite.config.models import Run
from mtmkl_suite.files import read_json
from mtmkl_suite.report.publish import rejudge

SMALLEST = "argyriou2008"


def test_all_records_are_of_one_commit_and_seed():
    folders = [published_folder(paper) for paper in published_papers()]
    found = [read_json(p) for f in folders for p in f.glob("*provenance.json")]
    parts = {(each["commit"].rstrip("+"), each["tier"], each["seed"]) for each in found}
    assert len(parts) == 1


@pytest.mark.nightly
def test_a_record_that_was_judged_is_left_as_it_is(tmp_path):
    provenance = read_json(published_folder(SMALLEST) / "provenance.json")
    config = load_paper(SMALLEST, "paper")
    figures = tmp_path / "figures"
    place = figures / SMALLEST
    shutil.copytree(published_folder(SMALLEST), place)
    settings = of(Run, {"tier": "paper", "seed": provenance["seed"]})

    def judged():
        rejudge([config], figures, settings=settings)
        return {path.name: path.read_bytes() for path in place.iterdir()}

    before = judged()
    after = judged()
    assert [
        name for name in before | after if before.get(name) != after.get(name)
    ] == []
