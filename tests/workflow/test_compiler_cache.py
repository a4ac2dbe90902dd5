"""A run that has to compile and one that loads compiled code have the same scores."""

import pytest
import yaml
from tiny_workflow import ROOT, TinyWorkflow

from mtmkl.documents import read_yaml


@pytest.fixture
def workflow(tmp_path, monkeypatch):
    """A paper of one method, run on a compiler cache that is empty at first."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    config = read_yaml(ROOT / "tests/workflow/papers/tiny/experiments.yaml")
    config["methods"] = {
        "svr": {
            "label": "SVR",
            "class": "IndependentSVR",
            "grid": {"C": [0.1, 1.0, 10.0]},
            "selection": "common",
        }
    }
    config["experiments"] = {"drawn": config["experiments"]["drawn"]}
    changed = {"methods": [{"method": "svr"}], "metrics": ["mse"]}
    config["experiments"]["drawn"] |= changed
    paper = tmp_path / "tiny"
    paper.mkdir()
    (paper / "experiments.yaml").write_text(yaml.safe_dump(config))

    def workflow(name):
        folder = tmp_path / name
        folder.mkdir()
        return TinyWorkflow(folder, papers=[str(paper)])

    return workflow


@pytest.mark.nightly
def test_scores_do_not_depend_on_who_has_compiled(workflow, tmp_path):
    first, second = workflow("first"), workflow("second")
    # As if the rule that compiles had missed everything: the fit itself compiles.
    compiled = first.results("compiled/kernel.json")
    compiled.parent.mkdir(parents=True)
    compiled.write_text("{}")
    for each in (first, second):
        done = each.run(each.target("scores.csv.gz"))
        assert done.returncode == 0, done.stderr
        assert list(tmp_path.glob("numba/**/*.nbc"))
    assert compiled.read_text() == "{}"
    assert first.scores() == second.scores()
