import json
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml

from mtmkl_suite.cli.main import main
from mtmkl_suite.config import against
from mtmkl_suite.config.against import published_folder, published_papers
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.parts import with_method
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.run.plan import fit_jobs
from mtmkl_suite.run.workflow import run_workflow

RIDGE = "mtmkl.methods.independent_ridge:IndependentRidgeRegressor"


def run_against_record(paper, folder, **settings):
    return run_workflow(
        papers=[str(paper)],
        tier="paper",
        against="published",
        methods=[RIDGE],
        results=str(folder / "results"),
        **settings,
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    config = load_paper("argyriou2008", "paper")
    return run_against_record(
        "argyriou2008",
        tmp_path_factory.mktemp("against"),
        experiments=["digits"],
        grid=config.methods["independent_common"].grid | {"fit_intercept": [False]},
    )


@pytest.fixture(scope="module")
def scores(done):
    return read_scores(done.report.parent / "argyriou2008" / "scores.csv.gz")


def values(table, method):
    mine = table[
        (table["experiment"] == "digits")
        & (table["method"] == method)
        & (table["metric"] == "misclassified")
        & (table["task"] == "all")
    ]
    return mine.sort_values("repeat")["value"].to_numpy()


def test_a_method_of_the_record_gets_the_scores_of_the_record(scores):
    mine = values(scores, "independentridgeregressor")
    np.testing.assert_array_equal(mine, values(scores, "independent_common"))
    assert len(mine) == scores.loc[scores["experiment"] == "digits", "repeat"].nunique()


def test_baselines_are_those_of_the_record_and_not_fitted(done, scores):
    record = read_scores(published_folder("argyriou2008") / "scores.csv.gz")
    for method in ("aggregate", "mtl_feat_linear", "floor"):
        np.testing.assert_array_equal(values(scores, method), values(record, method))
    fitted = (done.report.parent / "argyriou2008" / "fits").rglob("*.csv.gz")
    assert {path.name.partition(".")[0] for path in fitted} == {
        "independentridgeregressor"
    }


def test_the_report_puts_it_first(done):
    page = done.report.read_text()
    place = page.index("IndependentRidgeRegressor: rank")
    assert place < page.index('id="methods"')
    assert "rank among the baselines" in page[place:]
    assert "Scores of all other methods are those of the published record" in page
    assert "(untuned)" not in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs --method NAME"),
        (["--method", "aggregate"], "needs --method NAME"),
        (["--method", RIDGE, "--tier", "quick"], "leave out --tier and --readings"),
        (["--method", RIDGE, "--set", "protocols.digits_random.repeats=1"],
         "a record is compared with as it is"),
    ],
)  # fmt: skip
def test_refusals_leave_nothing(tmp_path, capsys, words, message):
    run = ["run", "--paper", "argyriou2008", "--experiment", "digits"]
    end = ["--against", "published", "--results", str(tmp_path / "results")]
    assert main([*run, *words, *end]) == 1
    assert message in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("paper", published_papers())
def test_every_published_paper_can_be_compared_with(paper):
    config = against.compared_config(load_paper(paper, "paper"))
    for name in config.experiments:
        config = with_method(config, name, RIDGE)
    config = against.with_record(config)
    assert {job.method for job in fit_jobs(config)} == set(config.own)
    assert {job.experiment for job in fit_jobs(config)} == set(config.experiments)


PLAN = {
    "control": "Features", "scale": 100, "unit": "points", "rope": 0.5,
    "main": "all sizes", "pairs": ["Features", "Variables"],
    "columns": {"Features": "features", "Variables": "variables", "Ridge": "ridge"},
    "rows": {
        name.capitalize(): {
            "experiment": name, "metric": "explained_variance", "properties": []
        }
        for name in ("linear", "nonlinear", "school")
    },
    "blocks": {"all sizes": {}},
}  # fmt: skip


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """Write a paper of two drawn data sets and one that is missing, and its record."""
    grid = {"grid": {"gamma": [0.1, 1.0]}, "selection": "common"}
    classes = {
        "features": "MultiTaskFeatureLearningRegressor",
        "variables": "MultiTaskVariableSelectionRegressor",
        "ridge": "IndependentRidgeRegressor",
    }
    drawn = {"options": {"n_tasks": 6}}
    datasets = {
        "linear": {"name": "linear_synthetic", **drawn},
        "nonlinear": {"name": "nonlinear_synthetic", **drawn},
        "school": {"name": "school"},
    }
    protocols = {
        "given": {"kind": "given", "repeats": 2, "folds": 2},
        "published": {"kind": "published", "repeats": 2, "folds": 2},
    }
    experiments = {
        name: {
            "section": "none", "title": name, "datasets": dataset,
            "protocol": "published" if name == "school" else "given",
            "methods": [{"method": method} for method in classes],
            "metrics": ["explained_variance"],
        }
        for name, dataset in datasets.items()
    }  # fmt: skip
    paper = {"id": "compared", "title": "C", "authors": "N", "year": 1, "venue": "v"}
    methods = {n: {"label": n, "class": c, **grid} for n, c in classes.items()}
    table = {"kind": "table", "title": "T", "comparison": PLAN}
    artefacts = {
        "table_ranks": {**table, "layout": "method_ranks"},
        "table_pairs": {**table, "layout": "method_pairs"},
    }
    folder = tmp_path / "compared"
    folder.mkdir()
    files = {
        "experiments": {
            "paper": paper, "protocols": protocols, "methods": methods,
            "experiments": experiments,
        },
        "artefacts": {"artefacts": artefacts},
    }  # fmt: skip
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "cache"))
    settings = ["download=never", "on_missing_data=report"]
    made = run_workflow(
        papers=[str(folder)],
        tier="paper",
        settings=settings,
        results=str(tmp_path / "all"),
    )
    record = tmp_path / "figures" / "compared"
    record.mkdir(parents=True)
    for name in ("scores.csv.gz", "provenance.json"):
        shutil.copyfile(made.report.parent / "compared" / name, record / name)
    (tmp_path / "config").mkdir()
    monkeypatch.setattr(against, "config_dir", lambda: tmp_path / "config")
    return folder


@pytest.mark.nightly
def test_it_joins_the_ranks_of_the_data_sets_that_are_here(compared, tmp_path):
    done = run_against_record(
        compared, tmp_path, grid={"gamma": [0.1]}, settings=["download=never"]
    )
    folder = done.report.parent / "compared" / "artefacts"
    ranks = pd.read_csv(folder / "table_ranks.csv")
    assert set(ranks["method"]) == {*PLAN["columns"], "IndependentRidgeRegressor"}
    assert set(ranks["n"]) == {2}
    assert ranks["p_holm"].notna().sum() == 3
    text = (folder / "table_ranks.md").read_text()
    assert (
        "IndependentRidgeRegressor joined the methods of the plan, and is compared"
        in text
    )
    assert "IndependentRidgeRegressor" in (folder / "table_pairs.md").read_text()
    assert "IndependentRidgeRegressor" not in (folder / "table_pairs.csv").read_text()
    assert any("school" in line for line in done.missing)


def test_a_path_compares_nothing(tmp_path):
    config = load_paper("argyriou2008", "paper")
    path = next(n for n, e in config.experiments.items() if e.mode == "path")
    with pytest.raises(ConfigError, match="records a path and compares nothing"):
        run_against_record("argyriou2008", tmp_path, experiments=[path])


def test_other_data_than_those_of_the_record(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "figures" / "argyriou2008"
    shutil.copytree(published_folder("argyriou2008"), folder)
    provenance = json.loads((folder / "provenance.json").read_text())
    name = next(n for n in provenance["data"] if n.startswith("digits"))
    provenance["data"][name]["digest"] = "0" * 16
    (folder / "provenance.json").write_text(json.dumps(provenance))
    (tmp_path / "config").mkdir()
    monkeypatch.setattr(against, "config_dir", lambda: tmp_path / "config")
    done = run_against_record("argyriou2008", tmp_path, experiments=["digits"])
    assert done.status == 1
    assert not done.report.exists()
    assert "is not the one behind the published scores" in capsys.readouterr().err
