"""The published record: its commits are said, and a rejudge leaves it as it is."""

import shutil
from pathlib import Path

import pytest
from configured import of

from mtmkl_suite.config.load import load_paper, published_folder, published_papers
from mtmkl_suite.config.models import Run
from mtmkl_suite.files import read_json
from mtmkl_suite.report.publish import rejudge

SMALLEST = "argyriou2008"


def _computed(paper):
    found = published_folder(paper).glob("*provenance.json")
    parts = [read_json(path) for path in found]
    return {(each["commit"].rstrip("+"), each["tier"], each["seed"]) for each in parts}


def test_main_protocol_and_readings_of_a_paper_are_of_one_commit_and_seed():
    assert [paper for paper in published_papers() if len(_computed(paper)) > 1] == []


def test_records_of_several_commits_are_named_in_the_changelog():
    commits = {
        commit[:8] for paper in published_papers() for commit, *_ in _computed(paper)
    }
    changelog = Path("CHANGELOG.md").read_text(encoding="utf-8")
    assert len(commits) == 1 or [c for c in commits if c not in changelog] == []


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
