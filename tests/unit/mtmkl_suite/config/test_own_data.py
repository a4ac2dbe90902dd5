from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.cli.main import main
from mtmkl_suite.config.models import OwnData
from mtmkl_suite.config.own_data import own_data_config
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import read_table
from mtmkl_suite.run import workflow
from mtmkl_suite.run.workflow import run_workflow

OF_PAPERS = ("Published numbers", "Claims", "papers' results", "In a sentence")


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 3))
    table = pd.DataFrame(x, columns=["a", "b", "c"]).assign(
        place=np.repeat(["p", "q", "r"], 40),
        size=x @ [1.0, 2.0, 3.0] + rng.normal(size=120),
        large=x @ [1.0, 2.0, 3.0] > 0,
    )
    path = tmp_path / "My data.csv"
    table.to_csv(path, index=False)
    return path


def test_the_target_decides_which_methods_suit(file):
    def config_of(target, *methods):
        ignored = [name for name in ("size", "large") if name != target]
        options = {"task": "place", "target": target, "ignore": ignored}
        own = OwnData(source=str(file), options=options, methods=list(methods))
        return own_data_config(own, "quick")

    assert list(config_of("large").experiments) == ["labels"]
    config = config_of("size", "svr", "ridge")
    (experiment,) = config.experiments.values()
    assert [entry.method for entry in experiment.methods] == ["ridge", "svr"]
    assert experiment.title == "My data: 3 tasks, 120 samples"
    assert config.paper.id == "my_data"
    table = pd.read_csv(file).assign(half=np.tile([0, 1], 60))
    table.to_csv(file, index=False)
    options = {"task": "place", "target": "half", "outputs": "numbers"}
    own = OwnData(source=str(file), options=options, methods=[])
    assert list(own_data_config(own, "quick").experiments) == ["numbers"]
    with pytest.raises(ConfigError, match="'svm' is not for numbers"):
        config_of("size", "svm")
    with pytest.raises(ConfigError, match="unknown method 'rigde'; did you mean 'rid"):
        config_of("size", "rigde")


@pytest.mark.parametrize(
    ("positive", "metrics", "remark"),
    [
        ([4, 8, 8], ["auc", "accuracy", "balanced_accuracy"], "17% of the rarer label"),
        ([36, 32, 4], ["auc", "accuracy", "balanced_accuracy"], "13% of the rarer"),
        ([12, 16, 16], ["accuracy", "balanced_accuracy", "auc"], "120 samples"),
    ],
)
def test_unbalanced_labels_are_ranked_by_the_area(file, positive, metrics, remark):
    """By the balance within tasks: of all samples together it may be another."""
    table = pd.read_csv(file)
    table["rare"] = [f"{k < n}" for n in positive for k in range(40)]
    table.to_csv(file, index=False)
    options = {"task": "place", "target": "rare", "ignore": ["size", "large"]}
    own = OwnData(source=str(file), options=options)
    (experiment,) = own_data_config(own, "quick").experiments.values()
    assert experiment.metrics == metrics
    assert remark in experiment.title
    asked = {"experiments.labels.metrics": ["balanced_accuracy", "auc"]}
    (experiment,) = own_data_config(own, "quick", asked).experiments.values()
    assert experiment.metrics == ["balanced_accuracy", "auc"]


def test_a_run_ranks_methods_and_one_of_ones_own(file, tmp_path):
    options = {"task": "place", "target": "size", "ignore": ["large"]}
    named = {"source": str(file), "methods": ["ridge", "aggregate", "floor"]}
    done = run_workflow(
        data={**named, "options": options}, repeats=5,
        methods=["mtmkl.methods.rr_het:RRHetRegressor"],
        results=str(tmp_path / "results"),
    )  # fmt: skip
    assert done.status == 0
    assert done.report.parent.name == (
        "quick+my_data+task=place+target=size+ignore=large+ridge+aggregate+floor"
        "+mtmkl.methods.rr_het.RRHetRegressor"
    )
    scores = read_table(done.report.parent / "my_data" / "scores.csv.gz")
    assert set(scores["method"]) == {"ridge", "aggregate", "floor", "rrhetregressor"}
    assert scores["repeat"].nunique() == 5
    page = done.report.read_text()
    assert "RRHetRegressor (untuned): rank" in page
    assert page.index("rank among the baselines") < page.index('id="methods"')
    # Nothing is published of these data, and no paper claims anything of them.
    of_data = (done.report.parent / "report/paper-my-data.html").read_text()
    for text in (page, of_data):
        assert "<h1>Methods on My data</h1>" in text
        assert not [words for words in OF_PAPERS if words in text]
    assert "My data.csv (task: place; target: size; ignore: large" in of_data
    assert "ignore=" not in of_data
    (described,) = done.report.parent.glob("report/data-*.html")
    told = "Read My data.csv: 120 rows, tasks in place (p, q, r)"
    assert told in described.read_text()
    paths = done.report.parent.rglob("fits/**/*.gz")
    fits = {path.name.partition(".")[0] for path in paths}
    # Short fits share a file, which is named after the first of them.
    assert {"ridge", "rrhetregressor"} <= fits <= set(scores["method"])


def test_wrong_files_are_refused_before_any_work(file, tmp_path, capsys):
    out = tmp_path / "out"
    run = ["run", "--data", str(file), "--results", str(out), "--task", "place"]
    for words, message in (
        (["--target", "sice"], "unknown column (target) 'sice'; did you mean 'size'?"),
        (["--target", "size", "--experiment", "x"], "--experiment is for --paper"),
        (["--target", "size", "--methods", "nope"], "unknown method 'nope'"),
        (["--target", "size", "--set", "methods.nope.label=x"], "unknown key 'nope'"),
    ):
        ignored = ["--ignore", "large"]
        assert main([*run, *words, *ignored]) == 1
        assert message in capsys.readouterr().err
    assert main(["run", "--paper", "argyriou2008", "--task", "x"]) == 1
    assert "--task is for --data" in capsys.readouterr().err
    assert not out.exists()


PAPER = """
paper: {id: mine, title: Mine, authors: Me, year: 2026, venue: here}
protocols:
  split: {kind: fractions, train_percent: [60], repeats: 2, stratified: false}
methods:
  ridge: {label: Ridge, class: IndependentRidgeRegressor, selection: none}
experiments:
  size:
    section: none
    title: Size
    datasets: {name: My data.csv, options: {task: place, target: size, ignore: [large]}}
    protocol: split
    methods: [{method: ridge}]
    metrics: [METRIC]
"""


def test_a_file_in_a_paper_of_ones_own(file, tmp_path, capsys):
    (tmp_path / "experiments.yaml").write_text(PAPER.replace("METRIC", "rmse"))
    run = ["run", "--paper", str(tmp_path), "--results", str(tmp_path / "out")]
    assert main(run) == 0
    (found,) = (tmp_path / "out").rglob("mine/scores.csv.gz")
    assert read_table(found)["dataset"].str.startswith("My data.csv[").all()
    (tmp_path / "experiments.yaml").write_text(PAPER.replace("METRIC", "accuracy"))
    assert main(run) == 1
    assert "'accuracy' needs labels −1 and +1" in capsys.readouterr().err


def test_results_of_another_file_are_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workflow, "_run_snakemake", lambda *given: 0)
    rng = np.random.default_rng(0)
    for number, name in enumerate(("a/res", "b/res", "res.2024-01", "res.2024-02")):
        table = pd.DataFrame(rng.normal(size=(40, 3)), columns=["x1", "x2", "y"])
        Path(name).parent.mkdir(exist_ok=True)
        table.assign(task=["s", "t"] * 20).to_csv(f"{name}.csv", index=False)
        words = ["--task", "task", "--target", "y", "--set", "download=never"]
        status = main(["run", "--data", f"{name}.csv", *words])
        assert status == (number == 1)
    said = f"has the results of {tmp_path}/a/res.csv: rename the file, or give"
    assert said in capsys.readouterr().err
    names = {path.name.split("+")[1] for path in Path("results").glob("quick+*")}
    assert names == {"res", "res_2024_01", "res_2024_02"}
    # The same file elsewhere is no other.
    Path("a/res.csv").rename("b/res.csv")
    assert main(["run", "--data", "b/res.csv", *words]) == 0
