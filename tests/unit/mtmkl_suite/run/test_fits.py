import json
import subprocess
import sys
import warnings
from collections import defaultdict
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from configured import paper_of
from scipy import sparse
from sklearn.base import BaseEstimator

from mtmkl.methods import IndependentRidgeRegressor
from mtmkl.solvers.solution import Certificate, warn_if_stopped
from mtmkl_suite.config.models import Variant
from mtmkl_suite.data import DataCorruptError, load_splits, make_splits
from mtmkl_suite.evaluation.cells import drawn_points
from mtmkl_suite.files import write_table
from mtmkl_suite.run import fits, pipeline
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.plan import fit_groups, fit_jobs

DATASET = "digits[n_per_class=10]"
AMONG_OTHERS = """
import sys
import numpy as np
from mtmkl.methods import SingleTaskMKLClassifier
from mtmkl_suite.methods import resolve

rng = np.random.default_rng(0)
X, task = rng.normal(size=(90, 7)), np.repeat([0, 1, 2], 30)
y = np.where(X[:, 0] + rng.normal(size=90) > 0, 1.0, -1.0)
for name in sys.argv[1:]:
    resolve(name)().fit(X[:, :3], y, task=task)
kernels = [{"name": "gaussian", "width": w} for w in (0.5, 1.0, 2.0)] + ["linear"]
fitted = SingleTaskMKLClassifier(C=10.0, kernels=kernels).fit(X, y, task=task)
print(fitted.decision_function(X, task=task).tobytes().hex())
"""
VERSIONS = defaultdict(lambda: "v1")
ONE_REPEAT_PER_JOB = {"tier": "paper", "seconds": {f"digits/{DATASET}/ridge": 1e4}}


class Own(BaseEstimator):
    """A method of one's own."""

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y, task=None):
        return self

    def predict(self, X, task=None):
        return X[:, 0]


class Says(Own):
    takes_matrices = True


def with_floor(config, **ridge):
    """Let a control join, and each repeat of the paper tier be a job."""
    floor = {"label": "Floor", "class": "TaskMeanControl", "selection": "none"}
    config["methods"]["floor"] = floor
    both = [{"method": "ridge", **ridge}, {"method": "floor"}]
    config["experiments"]["digits"]["methods"] = both
    return config | ONE_REPEAT_PER_JOB


def fit(config, path, progress=lambda line: None, group=None, chosen=None):
    config = paper_of(config)
    folder = PaperFolder(path)
    group = group or fit_groups(config)[0]
    needs = pipeline.data_needs(config, config.experiments["digits"].variants)
    pipeline.prepare_data(needs, folder, seed=1, download=False, on_missing="fail")
    fits.run_fits(
        fits.group_config(config, group), group, folder, seed=1, cache=path / "cache",
        versions=VERSIONS, chosen=chosen, progress=progress,
    )  # fmt: skip
    return pd.read_csv(folder.scores_of(group.name))


def first_scores(path):
    return PaperFolder(path).scores_of(f"digits/{DATASET}/ridge.0")


def reason_of(scores):
    return json.loads(scores["params"].iloc[0])["reason"]


@pytest.fixture
def breaks(monkeypatch):
    """Let every fit of ridge regression fail."""
    monkeypatch.setattr(
        IndependentRidgeRegressor, "fit", lambda self, X, y, task=None: [][1]
    )


@pytest.mark.parametrize(
    ("name", "grid", "runs"),
    [
        (f"{__name__}:Own", {"depth": [1, 2]}, False),
        (f"{__name__}:Says", {"depth": [1, 2]}, True),
        ("TaskMeanControl", None, True),
        ("IndependentRidgeRegressor", {"gamma": [1.0]}, False),
        ("PooledSVMClassifier", {"kernels": [["linear"], ["precomputed"]]}, False),
        ("PooledSVMClassifier", {"kernels": [["precomputed"]]}, True),
    ],
)
def test_the_row_number_of_an_example_is_no_input(
    config, tmp_path, monkeypatch, name, grid, runs
):
    """Examples known by matrices come sorted by class: their number tells it."""

    def load(*args, load=pipeline.load, **options):
        data = load(*args, **options)
        place = np.unique(data.sample, return_inverse=True)[1].astype(float)
        matrix = np.eye(int(place.max()) + 1)
        return replace(
            data, X=place[:, None], feature_names=("image",), matrices={"eye": matrix}
        )

    monkeypatch.setattr("mtmkl_suite.run.pipeline.load", load)
    chosen = {"grid": grid, "selection": "common"} if grid else {"selection": "none"}
    config["methods"]["ridge"] = {"label": "Method", "class": name, **chosen}
    scores = fit(config, tmp_path)
    if runs:
        assert set(scores["metric"]) == {"misclassified"}
        return
    assert list(scores["metric"]) == [fits.UNSUPPORTED]
    reason = reason_of(scores)
    called = name.rpartition(":")[2]
    assert f"row number, of which {called} would learn their order" in reason
    assert "(eye)" in reason


@pytest.fixture
def sparse_digits(monkeypatch):
    """The digits, stored as a sparse matrix."""

    def load(*args, load=pipeline.load, **options):
        data = load(*args, **options)
        return replace(data, X=sparse.csr_array(data.X))

    monkeypatch.setattr("mtmkl_suite.run.pipeline.load", load)


@pytest.mark.usefixtures("sparse_digits")
def test_a_method_for_dense_inputs_is_a_named_gap_on_sparse_ones(config, tmp_path):
    scores = fit(config, tmp_path)
    assert list(scores["metric"]) == [fits.UNSUPPORTED]
    reason = "X is sparse, and IndependentRidgeRegressor takes dense features only: "
    assert reason_of(scores).startswith(reason)
    info = json.loads(PaperFolder(tmp_path).data_info(DATASET).read_text())
    assert 0 < info["nonzeros"] < info["n"] * info["d"]


def test_a_failure_is_a_named_gap_that_a_new_run_tries_again(
    config, tmp_path, monkeypatch, breaks
):
    lines = []
    scores = fit(config, tmp_path, lines.append)
    assert list(scores["metric"]) == [fits.FAILED]
    reason = (
        "method 'ridge' on digits[n_per_class=10] (repeat 0, train size 60 samples, 10 "
        "tasks): IndexError: list index out of range"
    )
    assert reason_of(scores) == reason
    assert "Traceback" in lines[-1]
    assert "in <lambda>" in lines[-1]
    assert fits.failures(first_scores(tmp_path)) == [f"experiment 'digits': {reason}"]
    monkeypatch.undo()
    assert set(fit(config, tmp_path)["metric"]) == {"misclassified"}
    assert fits.failures(first_scores(tmp_path)) == []


def test_an_error_that_is_not_the_methods_is_no_gap(config, tmp_path, monkeypatch):
    def damaged(*args, **options):
        raise DataCorruptError("damaged")

    fit(config, tmp_path)
    monkeypatch.setattr("mtmkl_suite.run.pipeline.load", damaged)
    (group,) = fit_groups(paper_of(config))
    folder = PaperFolder(tmp_path)
    folder.scores_of(group.name).unlink()
    with pytest.raises(DataCorruptError):
        fits.run_fits(
            paper_of(config), group, folder, seed=2, cache=tmp_path / "cache",
            versions=VERSIONS,
        )  # fmt: skip
    assert not folder.scores_of(group.name).exists()


def test_the_failure_of_the_first_chunk_is_that_of_the_others(
    config, tmp_path, monkeypatch, breaks
):
    held = {"method": "ridge", "hold": {"gamma": 0}}
    config["experiments"]["digits"]["methods"] = [held]
    config |= ONE_REPEAT_PER_JOB
    first, second = fit_groups(paper_of(config))
    fit(config, tmp_path, group=first)
    monkeypatch.undo()
    chosen = PaperFolder(tmp_path).scores_of(first.name)
    scores = fit(config, tmp_path, group=second, chosen=chosen)
    assert list(scores["metric"]) == [fits.FAILED]
    assert "(repeat 0, train size 60 samples, 10 tasks): Index" in reason_of(scores)


def test_a_method_that_failed_in_one_job_has_no_scores(config, tmp_path):
    paper, folder = paper_of(with_floor(config)), PaperFolder(tmp_path)
    for name, metric, params in (
        ("ridge.0", "misclassified", ""),
        ("ridge.1", "failed", '{"reason": "no luck"}'),
        ("floor.0", "misclassified", ""),
    ):
        row = {"experiment": "digits", "dataset": DATASET, "method": name[:-2]}
        table = pd.DataFrame([row | {"metric": metric, "params": params}])
        write_table(folder.scores_of(f"digits/{DATASET}/{name}"), table)
    fits.collect_scores(paper, folder)
    collected = pd.read_csv(folder.scores)
    assert collected[["method", "metric"]].to_numpy().tolist() == [
        ["ridge", "failed"],
        ["floor", "misclassified"],
    ]
    assert fits.failures(folder.scores) == ["experiment 'digits': no luck"]
    fits.discard_failures(paper, folder)
    left = folder.scores_of(f"digits/{DATASET}/floor.0")
    assert list(left.parent.iterdir()) == [left]


def test_an_experiment_that_failed_may_be_named_like_a_gap(tmp_path):
    row = {"experiment": "null", "dataset": "d", "method": "none", "metric": "failed"}
    table = pd.DataFrame([row | {"params": '{"reason": "no luck"}'}])
    write_table(tmp_path / "scores.csv.gz", table)
    found = fits.failures(tmp_path / "scores.csv.gz")
    assert found == ["experiment 'null': no luck"]


@pytest.mark.nightly
def test_a_fit_is_the_same_among_others():
    def found(*methods):
        command = [sys.executable, "-c", AMONG_OTHERS, *methods]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()[-1]

    alone = found("SingleTaskMKLClassifier")
    assert found("IndependentSVMClassifier", "MultiTaskMKLClassifier") == alone


def test_held_parameters_need_the_first_chunk(config):
    config["methods"]["ridge"]["grid"]["kernel"] = [None]
    held = {"method": "ridge", "hold": {"kernel": 0}}
    config["experiments"]["digits"]["methods"] = [held]
    paper = paper_of(config | ONE_REPEAT_PER_JOB)
    needs = [fits.needs_first_chunk(paper, job) for job in fit_jobs(paper)]
    assert needs == [False, True]


def test_each_repeat_of_a_drawn_set_is_split_and_fitted_on_its_own_draw(
    config, tmp_path
):
    variant = Variant("digits_pairs", {"n_per_class": 10})
    draws = [pipeline.load_variant(variant, 5, repeat=repeat) for repeat in range(2)]
    assert draws[0].digest() != draws[1].digest()
    tenth = {"kind": "fractions", "train_percent": [20, 50], "repeats": 2}
    svm = {
        "class": "IndependentSVMClassifier", "selection": "validation",
        "grid": {"C": [0.1, 1.0, 10.0, 100.0]}, "search": {"points": 2},
    }  # fmt: skip
    pairs = {
        "protocol": "tenth", "methods": [{"method": "svm"}], "metrics": ["accuracy"],
        "datasets": {"name": variant.name, "options": variant.options},
    }  # fmt: skip
    config |= {"protocols": {"tenth": tenth}, "experiments": {"pairs": pairs}}
    paper = paper_of(config | {"methods": {"svm": svm}})
    folder = PaperFolder(tmp_path)
    needs = pipeline.data_needs(paper, [variant])
    pipeline.prepare_data(needs, folder, seed=5, download=False, on_missing="fail")
    info = json.loads(folder.data_info(variant.id).read_text())
    assert info["digest"] == draws[0].digest()
    ((_, (protocol,)),) = needs
    expected = make_splits(draws[1], protocol, 5)
    stored = load_splits(folder.splits("tenth", variant.id))
    assert set(stored) == set(expected)
    np.testing.assert_array_equal(stored[20, 1].train, expected[20, 1].train)
    (group,) = fit_groups(paper)
    fits.run_fits(
        paper, group, folder, seed=5, cache=tmp_path / "cache", versions=VERSIONS
    )
    scores = pd.read_csv(folder.scores_of(group.name))
    digests = scores.groupby("repeat")["data_digest"].unique()
    assert digests.tolist() == [[data.digest()] for data in draws]
    chosen = {json.loads(params)["C"] for params in scores["params"].dropna()}
    tried = drawn_points(paper.methods["svm"], "svm", 5)
    assert chosen <= {point["C"] for point in tried}


@pytest.mark.parametrize("hold", [{}, {"gamma": 0}])
def test_fits_that_share_a_process_have_the_scores_of_fits_that_do_not(
    config, tmp_path, hold
):
    arrays = {"names": ["coef_"], "repeats": [1]}
    config["experiments"]["digits"]["arrays"] = arrays
    config = with_floor(config, hold=hold)
    tables, arrays = {}, {}
    for tier in ("paper", "quick"):
        config["tier"] = tier
        folder = PaperFolder(tmp_path / tier)
        groups = fit_groups(paper_of(config))
        first = folder.scores_of(groups[0].name)
        for group in groups:
            chosen = first if first.exists() else None
            fit(config, folder.path, group=group, chosen=chosen)
        fits.collect_scores(paper_of(config), folder)
        table = pd.read_csv(folder.scores, dtype=str, keep_default_na=False)
        tables[tier] = table.drop(columns="fit_seconds")
        arrays[tier] = _arrays(folder, groups)
    assert [group.name for group in groups] == ["digits"]
    pd.testing.assert_frame_equal(tables["paper"], tables["quick"])
    assert arrays["paper"].keys() == arrays["quick"].keys() != set()
    for name, array in arrays["paper"].items():
        np.testing.assert_array_equal(array, arrays["quick"][name])


def _arrays(folder, groups):
    found = {}
    for group in groups:
        with np.load(folder.arrays_of(group.name)) as stored:
            found |= {name: stored[name] for name in stored.files}
    return found


def test_configuration_of_fits_leaves_out_what_a_fit_does_not_need(config):
    (group,) = fit_groups(paper_of(config))
    before = fits.group_config(paper_of(config), group)
    config["experiments"]["digits"]["title"] = "Other"
    config["claims"].append({"id": "new"})
    assert fits.group_config(paper_of(config), group) == before
    config["experiments"]["digits"]["metrics"] = ["mse"]
    assert fits.group_config(paper_of(config), group) != before


@pytest.fixture
def log(tmp_path):
    return tmp_path / "fit.log"


def test_solvers_that_stopped_are_counted_by_method(log):
    certificate = Certificate(
        objective=1.5, dual_objective=1.0, n_iter=100, status="stopped",
        history=np.zeros(1),
    )  # fmt: skip
    with log.open("w") as file, redirect_stdout(file):
        for method in ("A", "B", "A"):
            with fits.warnings_of(method):
                warn_if_stopped(certificate, "a norm, gamma=0.1", 1e-6)
    start = "A: ConvergenceWarning: a norm, gamma=0.1: stopped after 100"
    first, _, again = log.read_text().splitlines()
    assert first == again
    assert first.startswith(start)
    assert fits.counted_warnings([log]) == [
        "A: ConvergenceWarning (2 times)", "B: ConvergenceWarning",
    ]  # fmt: skip


def test_other_warnings_are_told_with_their_text(log):
    with log.open("w") as file, redirect_stdout(file), fits.warnings_of("A"):
        warnings.warn("tol=3 is\n large", RuntimeWarning, stacklevel=1)
        print("repeat 0: no warning")
    assert log.read_text().startswith("A: RuntimeWarning: tol=3 is large\n")
    assert fits.counted_warnings([log, log]) == [
        "A: RuntimeWarning: tol=3 is large (2 times)"
    ]
