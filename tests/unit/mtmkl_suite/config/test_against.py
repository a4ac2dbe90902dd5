import json
import shutil

import numpy as np
import pytest

from mtmkl_suite.cli.main import main
from mtmkl_suite.config import runs
from mtmkl_suite.config.load import load_paper, published_folder, published_papers
from mtmkl_suite.config.runs import with_method
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.run.plan import fit_jobs
from mtmkl_suite.run.workflow import run_workflow

RIDGE = "mtmkl.methods.independent_ridge:IndependentRidgeRegressor"


def run_against_record(folder, **settings):
    record = {"papers": ["argyriou2008"], "tier": "paper", "against": "published"}
    part = {"experiments": ["digits"], "methods": [RIDGE], **settings}
    return run_workflow(**record, **part, results=str(folder / "results"))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    configured = load_paper("argyriou2008", "paper").methods["independent_common"]
    grid = configured.grid | {"fit_intercept": [False]}
    return run_against_record(tmp_path_factory.mktemp("against"), grid=grid)


@pytest.fixture(scope="module")
def scores(done):
    return read_scores(done.report.parent / "argyriou2008" / "scores.csv.gz")


def values(table, method):
    digits = "experiment == 'digits' and metric == 'misclassified' and task == 'all'"
    mine = table.query(f"{digits} and method == @method")
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
    names = {path.name.partition(".")[0] for path in fitted}
    assert names == {"independentridgeregressor"}


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
        (["--method", RIDGE, "--set", "seed=7"], "not 7: leave out the key 'seed'"),
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
    config = runs.comparable(load_paper(paper, "paper"))
    for name in config.experiments:
        config = with_method(config, name, RIDGE)
    record = json.loads((published_folder(paper) / "provenance.json").read_text())
    config = runs.with_record(config, record["seed"])
    assert {job.method for job in fit_jobs(config)} == set(config.own)
    assert {job.experiment for job in fit_jobs(config)} == set(config.experiments)


def test_other_data_than_those_of_the_record(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "figures" / "argyriou2008"
    shutil.copytree(published_folder("argyriou2008"), folder)
    provenance = json.loads((folder / "provenance.json").read_text())
    name = next(n for n in provenance["data"] if n.startswith("digits"))
    provenance["data"][name]["digest"] = "0" * 16
    (folder / "provenance.json").write_text(json.dumps(provenance))
    monkeypatch.setattr(runs, "published_folder", lambda paper: folder)
    done = run_against_record(tmp_path)
    assert done.status == 1
    assert not done.report.exists()
    assert "is not the one behind the published scores" in capsys.readouterr().err
