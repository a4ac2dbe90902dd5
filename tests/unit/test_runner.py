"""What ``run_paper`` refuses before any work, and what it tells at the end."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mtmkl.cli import main
from mtmkl.config import ConfigError, read_yaml
from mtmkl.runner import run_paper

TINY = Path(__file__).parents[1] / "workflow" / "papers" / "tiny"


@pytest.mark.parametrize(
    ("paper", "experiment", "tier", "message"),
    [
        ("yousefi2015", "vehicle", "quick", "only in tier paper: add --tier paper"),
        ("yousefi2015", "nope", "quick", "'nope' is unknown; known: robot, digits"),
        ("yousefi2015", "nope", "paper", "'nope' is unknown; known: robot, vehicle"),
    ],
)
def test_an_experiment_that_is_not_there(tmp_path, paper, experiment, tier, message):
    with pytest.raises(ConfigError, match=message):
        run_paper(paper, tier=tier, experiments=["robot", experiment], results=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("methods", [[], ["mtl_feat_linear", "floor"]])
def test_a_grid_is_for_a_method_that_has_none(tmp_path, methods):
    with pytest.raises(ConfigError, match="--grid needs --method package"):
        run_paper(
            "argyriou2008",
            experiments=["digits"],
            methods=methods,
            grid={"gamma": [1.0]},
            results=tmp_path,
        )
    assert not any(tmp_path.iterdir())


BROKEN = """
import numpy as np
from sklearn.base import BaseEstimator


class Base(BaseEstimator):
    def fit(self, X, y, task=None):
        return self

    def predict(self, X, task=None):
        return np.zeros(len(X))


class Raises(Base):
    def fit(self, X, y, task=None):
        raise RuntimeError("no luck")


class NeedsArgument(Base):
    def __init__(self, k):
        self.k = k


class NoParameters:
    fit, predict = Base.fit, Base.predict


class Strings(Base):
    def predict(self, X, task=None):
        return np.array(["one"] * len(X))


class NotFinite(Base):
    def predict(self, X, task=None):
        return np.full(len(X), np.nan)
"""

REASONS = {
    "Raises": "RuntimeError: no luck",
    "NeedsArgument": "missing 1 required positional argument: 'k'; give it under",
    "NoParameters": "has no get_params: derive it from sklearn.base.BaseEstimator",
    "Strings": "predict returned values of type str, such as ['one']",
    "NotFinite": "predict returned values that are not finite for",
}


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Write a paper with five methods that fail and one that does not."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "broken_methods.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path / "code")
    config = read_yaml(TINY / "experiments.yaml")
    experiment = config["experiments"]["digits"] | {
        "methods": [{"method": name} for name in ("floor", *REASONS)]
    }
    config["experiments"] = {"digits": experiment}
    config["methods"] |= {
        name: {"label": name, "class": f"broken_methods:{name}", "selection": "none"}
        for name in REASONS
    }
    table = read_yaml(TINY / "artefacts.yaml")["artefacts"]["table_1"]
    artefacts = {
        "table_1": table
        | {
            "rows": {},
            "extra_rows": {name: {"method": name} for name in ("floor", *REASONS)},
        }
    }
    paper = tmp_path / "papers" / "tiny"
    paper.mkdir(parents=True)
    (paper / "experiments.yaml").write_text(yaml.safe_dump(config))
    (paper / "artefacts.yaml").write_text(yaml.safe_dump({"artefacts": artefacts}))
    shutil.copytree(TINY / "published", paper / "published")
    return paper


@pytest.mark.parametrize("cores", ["1", "2"])
def test_a_method_that_fails_leaves_the_others_and_the_report(
    broken, tmp_path, capsys, cores
):
    results = tmp_path / "results"
    run = ["run", "--paper", str(broken), "--results", str(results), "--cores", cores]
    assert main(run) == 1
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    for name, reason in REASONS.items():
        (line,) = [line for line in lines if repr(name) in line]
        assert line.startswith(
            f"mtmkl: experiment 'digits': method {name!r} on digits[n_per_class=10] "
            "(repeat 0, train size 60, 10 tasks): "
        )
        assert reason in line
    assert "floor" not in printed.err
    base = results / "quick" / "tiny"
    scores = pd.read_csv(base / "scores.csv.gz")
    assert set(scores.loc[scores["method"] == "floor", "metric"]) == {"misclassified"}
    failed = scores[scores["method"] != "floor"]
    assert sorted(failed["method"]) == sorted(REASONS)
    assert set(failed["metric"]) == {"failed"}
    log = base / "logs" / "digits" / "digits[n_per_class=10]" / "Raises.0.log"
    assert 'raise RuntimeError("no luck")' in log.read_text()
    assert f"tracebacks: {base / 'logs'}" in printed.err
    report = (results / "quick" / "report.html").read_text()
    assert "RuntimeError: no luck" in report


def test_an_experiment_without_its_data_says_what_brings_them(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "cache"))
    run = ["run", "--paper", str(TINY), "--results", str(tmp_path / "results")]
    assert main([*run, "--experiment", "absent"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mtmkl: data set 'school' is not available")
    assert "run `mtmkl datasets fetch school`" in line


def test_a_whole_paper_may_lack_data_and_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(TINY.parents[1])
    run = ["run", "--paper", str(TINY), "--results", str(tmp_path / "results")]
    assert main(run) == 0
    assert "mtmkl datasets fetch school" in capsys.readouterr().err
