"""The published record: its commits are said, and its files follow from its scores."""

import filecmp
import re
import shutil
from pathlib import Path

import pytest
from configured import of

from mtmkl_suite.config.load import load_paper, published_folder, published_papers
from mtmkl_suite.config.models import Run
from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.files import read_json
from mtmkl_suite.report.publish import rejudge


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
@pytest.mark.parametrize("paper", published_papers())
def test_published_files_follow_from_the_scores_and_the_code(paper, tmp_path):
    published = published_folder(paper)
    seed = read_json(published / "provenance.json")["seed"]
    place = tmp_path / "figures" / paper
    shutil.copytree(published, place)
    settings = of(Run, {"tier": "paper", "seed": seed})
    readings = [load_readings] * (published / "readings.csv.gz").is_file()
    for load in (*readings, load_paper):
        rejudge([load(paper, "paper")], place.parent, settings=settings)
    both = (published, place)
    files = {path.name for folder in both for path in folder.iterdir()} - {"README.md"}
    _, differing, missing = filecmp.cmpfiles(*both, sorted(files), shallow=False)
    assert (differing, missing) == ([], [])
    # Its links lead from where it stands to the documentation.
    first, second = (
        re.sub(r"\((\.\./)+[^)]*docs/", "(", (folder / "README.md").read_text("utf-8"))
        for folder in both
    )
    assert first == second
