import gzip
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mtmkl import pipeline
from mtmkl.config import TIERS, ConfigError, load_paper
from mtmkl.datasets import DataCorruptError, load_splits, make_splits
from mtmkl.evaluation.plan import Variant, fit_jobs, method_specs
from mtmkl.files import write_bytes, write_table
from mtmkl.methods import IndependentRidge

ONE_REPEAT_PER_JOB = {
    "tier": "paper",
    "seconds": {"digits/digits[n_per_class=10]/ridge": 1e4},
}


@pytest.fixture
def config():
    return {
        "paper": {"id": "toy2000"},
        "published": "papers/toy2000/published",
        "protocols": {
            "random": {"kind": "random", "train_samples": 60, "repeats": 2, "folds": 2}
        },
        "methods": {
            "ridge": {
                "label": "Ridge",
                "class": "IndependentRidge",
                "grid": {"gamma": [0.1, 1.0]},
                "selection": "common",
            }
        },
        "experiments": {
            "digits": {
                "title": "Digits",
                "datasets": {"name": "digits", "options": {"n_per_class": 10}},
                "protocol": "random",
                "methods": [{"method": "ridge"}],
                "metrics": ["misclassified"],
            }
        },
        "artefacts": {},
        "claims": [],
    }


def fit(config, folder, progress=lambda line: None, job=None, **more):
    job = job or next(iter(fit_jobs(config)))
    variant = Variant("digits", {"n_per_class": 10})
    info, splits = folder / "info.json", folder / "splits.npz"
    pipeline.write_data_info(info, variant, 1, download=False, on_missing="fail")
    protocol = {"id": "random", **config["protocols"]["random"]}
    pipeline.write_splits(splits, info, variant, protocol, 1)
    pipeline.run_fit(
        pipeline.job_config(config, job),
        job,
        seed=1,
        splits=splits,
        scores=folder / "scores.csv.gz",
        arrays=folder / "arrays.npz",
        cache=folder / "cache",
        progress=progress,
        **more,
    )
    return pd.read_csv(folder / "scores.csv.gz")


def test_a_fit_job_from_files_to_files(config, tmp_path):
    scores = fit(config, tmp_path)
    assert list(scores["repeat"]) == [0, 1]
    assert set(scores["metric"]) == {"misclassified"}
    info = json.loads((tmp_path / "info.json").read_text())
    assert set(scores["data_digest"]) == {info["digest"]}
    assert info["n_tasks"] == 10


def test_the_reason_of_a_method_that_cannot_run_is_kept(config, tmp_path, monkeypatch):
    monkeypatch.setattr(
        IndependentRidge, "unsupported", classmethod(lambda cls, data: "too many tasks")
    )
    scores = fit(config, tmp_path)
    assert list(scores["metric"]) == [pipeline.UNSUPPORTED]
    assert json.loads(scores["params"].iloc[0]) == {"reason": "too many tasks"}


def test_scores_say_what_train_sizes_count(config, tmp_path):
    scores = fit(config, tmp_path)
    assert scores.columns[-1] == "train_unit"
    assert set(scores["train_unit"]) == {"examples"}


@pytest.fixture
def sparse_digits(monkeypatch):
    """The digits, stored as a sparse matrix."""
    from mtmkl import datasets

    def load(*args, load=datasets.load, **options):
        data = load(*args, **options)
        return replace(data, X=sparse.csr_array(data.X))

    monkeypatch.setattr("mtmkl.datasets.load", load)


@pytest.mark.usefixtures("sparse_digits")
def test_a_method_for_dense_inputs_is_a_named_gap_on_sparse_ones(config, tmp_path):
    scores = fit(config, tmp_path)
    assert list(scores["metric"]) == [pipeline.UNSUPPORTED]
    assert json.loads(scores["params"].iloc[0])["reason"].startswith(
        "X is sparse, and IndependentRidge takes dense inputs only: "
    )
    info = json.loads((tmp_path / "info.json").read_text())
    assert 0 < info["nonzeros"] < info["n"] * info["d"]


@pytest.mark.usefixtures("sparse_digits")
@pytest.mark.parametrize(
    ("kernels", "metrics"),
    [
        ([["linear"], [{"name": "gaussian", "width": 20.0}]], {"misclassified"}),
        ([["linear"], ["features"]], {pipeline.UNSUPPORTED}),
    ],
)
def test_sparse_inputs_go_to_methods_whose_settings_take_them(
    config, tmp_path, kernels, metrics
):
    config["methods"]["ridge"] |= {
        "class": "PooledSVM",
        "grid": {"kernels": kernels},
    }
    assert set(fit(config, tmp_path)["metric"]) == metrics


def test_a_failure_is_a_named_gap_that_a_new_run_tries_again(
    config, tmp_path, monkeypatch
):
    lines = []
    with monkeypatch.context() as broken:
        broken.setattr(IndependentRidge, "fit", lambda self, X, y, task=None: [][1])
        scores = fit(config, tmp_path, lines.append)
    assert list(scores["metric"]) == [pipeline.FAILED]
    assert json.loads(scores["params"].iloc[0]) == {
        "reason": "method 'ridge' on digits[n_per_class=10] (repeat 0, train size "
        "60 examples, 10 tasks): IndexError: list index out of range"
    }
    assert "Traceback" in lines[-1]
    assert "in <lambda>" in lines[-1]
    assert pipeline.failures(tmp_path / "scores.csv.gz") == [
        "experiment 'digits': method 'ridge' on digits[n_per_class=10] (repeat 0, "
        "train size 60 examples, 10 tasks): IndexError: list index out of range"
    ]
    assert set(fit(config, tmp_path)["metric"]) == {"misclassified"}
    assert pipeline.failures(tmp_path / "scores.csv.gz") == []


def test_an_error_that_is_not_the_methods_is_no_gap(config, tmp_path, monkeypatch):
    def damaged(*args, **options):
        raise DataCorruptError("damaged")

    fit(config, tmp_path)
    monkeypatch.setattr("mtmkl.datasets.load", damaged)
    (job,) = fit_jobs(config)
    with pytest.raises(DataCorruptError):
        pipeline.run_fit(
            pipeline.job_config(config, job),
            job,
            seed=2,
            splits=tmp_path / "splits.npz",
            scores=tmp_path / "other.csv.gz",
            arrays=tmp_path / "other.npz",
            cache=tmp_path / "cache",
        )
    assert not (tmp_path / "other.csv.gz").exists()


def test_the_failure_of_the_first_chunk_is_that_of_the_others(
    config, tmp_path, monkeypatch
):
    config["experiments"]["digits"]["methods"] = [
        {"method": "ridge", "hold": {"gamma": 0}}
    ]
    config |= ONE_REPEAT_PER_JOB
    first, second = fit_jobs(config)
    with monkeypatch.context() as broken:
        broken.setattr(IndependentRidge, "fit", lambda self, X, y, task=None: [][1])
        fit(config, tmp_path, job=first)
    (tmp_path / "scores.csv.gz").rename(tmp_path / "first.csv.gz")
    scores = fit(config, tmp_path, job=second, first_chunk=tmp_path / "first.csv.gz")
    assert list(scores["metric"]) == [pipeline.FAILED]
    assert (
        "(repeat 0, train size 60 examples, 10 tasks): IndexError"
        in scores["params"].iloc[0]
    )


def test_a_method_that_failed_in_one_job_has_no_scores(config, tmp_path):
    config["methods"]["floor"] = {
        "label": "Floor", "class": "TaskMeanControl", "selection": "none"
    }  # fmt: skip
    config["experiments"]["digits"]["methods"] = [
        {"method": "ridge"},
        {"method": "floor"},
    ]
    config |= ONE_REPEAT_PER_JOB
    rows = {
        "ridge.0": {"method": "ridge", "metric": "misclassified", "params": ""},
        "ridge.1": {
            "method": "ridge", "metric": "failed", "params": '{"reason": "no luck"}'
        },
        "floor.0": {"method": "floor", "metric": "misclassified", "params": ""},
    }  # fmt: skip
    fits, table = tmp_path / "fits", tmp_path / "scores.csv.gz"
    folder = fits / "digits/digits[n_per_class=10]"
    for name, row in rows.items():
        common = {"experiment": "digits", "dataset": folder.name}
        write_table(folder / f"{name}.csv.gz", pd.DataFrame([common | row]))
    pipeline.collect_scores(config, fits, table)
    collected = pd.read_csv(table)
    assert collected[["method", "metric"]].to_numpy().tolist() == [
        ["ridge", "failed"],
        ["floor", "misclassified"],
    ]
    assert pipeline.failures(table) == ["experiment 'digits': no luck"]
    pipeline.discard_failures(config, fits, table)
    assert [path.name for path in folder.iterdir()] == ["floor.0.csv.gz"]


def test_missing_data_are_told_once_for_a_set_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path))
    variants = [Variant("school", {"bias": bias}) for bias in (False, True)]
    paths = [tmp_path / f"{k}.json" for k in range(3)]
    for path, variant in zip(paths, [*variants, Variant("digits")], strict=True):
        pipeline.write_data_info(path, variant, 1, download=False, on_missing="report")
    (line,) = pipeline.missing_data(paths)
    assert line.startswith("data set 'school' is not available")
    assert "mtmkl datasets fetch school" in line


def test_a_method_that_cannot_be_compiled_fails_in_its_job_instead(monkeypatch):
    monkeypatch.setattr(IndependentRidge, "fit", lambda self, X, y, task=None: [][1])
    assert set(pipeline.warm_compiled_code(["IndependentRidge"])) == {
        "IndependentRidge"
    }


def edited(config, *, dataset="digits", methods=None, **experiment):
    config["experiments"]["digits"].update(experiment)
    config["experiments"]["digits"]["datasets"] = {"name": dataset}
    config["methods"]["ridge"].update(methods or {})
    return config


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            {"dataset": "school", "metrics": ["rmse", "auc"]},
            "key 'experiments.digits.metrics': 'auc' needs labels −1 and \\+1, which "
            "data set 'school' does not have; it can have mse, rmse, explained_",
        ),
        (
            {"metrics": ["edge_auc"]},
            "'edge_auc' needs 'adjacency' of the ground truth, which data set 'digits'",
        ),
        ({"dataset": "school", "metrics": ["covariance_distance"]}, "'covariance' of"),
        ({"dataset": "scool", "metrics": ["mse"]}, "'scool'.* mean 'school'"),
        (
            {"select_by": "auc"},
            "key 'experiments.digits.select_by': 'auc' is not among the metrics of "
            "the experiment: misclassified",
        ),
        (
            {"select_by": "misclassified", "methods": {"selection": "per_task"}},
            "'ridge' has selection 'per_task', which takes the smallest squared error",
        ),
        (
            {"metrics": ["n_features", "mse"], "methods": {"selection": "validation"}},
            "'ridge' cannot be chosen by 'n_features', which is not better or worse; "
            "choose by mse",
        ),
        (
            {"metrics": ["mse", "n_features"], "select_by": "n_features"},
            "'ridge' cannot be chosen by 'n_features'",
        ),
        (
            {
                "dataset": "linear_synthetic",
                "metrics": ["covariance_distance"],
                "methods": {"selection": "validation"},
            },
            "which asks for the truth; choose by another metric",
        ),
    ],
)
def test_a_metric_that_cannot_be_had_or_chosen_by_is_refused(config, edit, message):
    with pytest.raises(ValueError, match=message):
        pipeline.check_names(edited(config, **edit))


@pytest.mark.parametrize(
    "edit",
    [
        {"metrics": ["n_features", "misclassified"]},
        {"metrics": ["n_features", "auc"], "select_by": "auc"},
        {"metrics": ["auc"], "methods": {"selection": "per_task"}},
        {
            "dataset": "ising_graphs",
            "metrics": ["edge_auc"],
            "mode": "path",
            "methods": {"selection": "validation"},
        },
    ],
)
def test_metrics_that_can_be_had_are_accepted(config, edit):
    pipeline.check_names(edited(config, **edit))


def test_job_configuration_leaves_out_what_a_fit_does_not_need(config):
    (job,) = fit_jobs(config)
    before = pipeline.job_config(config, job)
    config["experiments"]["digits"]["title"] = "Other"
    config["claims"].append({"id": "new"})
    assert pipeline.job_config(config, job) == before
    config["experiments"]["digits"]["metrics"] = ["mse"]
    assert pipeline.job_config(config, job) != before


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c["methods"]["ridge"].update({"class": "Rigde"}), "'Rigde'"),
        (lambda c: c["experiments"]["digits"].update(metrics=["mape"]), "'mape'"),
        (
            lambda c: c["claims"].append({"id": "x", "test": "tea_leaves", "args": {}}),
            "'tea_leaves'",
        ),
        (
            lambda c: c["methods"]["ridge"].update({"class": "fractions:Fraction"}),
            "'fractions:Fraction': has no fit; a method is a class with fit",
        ),
        (
            lambda c: c["methods"]["ridge"].update(
                {"class": "sklearn.linear_model:RidgeClassifier"}
            ),
            "'sklearn.linear_model:RidgeClassifier': fit takes no task",
        ),
    ],
)
def test_unknown_names_are_found_before_any_work(config, edit, message):
    pipeline.check_names(config)
    edit(config)
    with pytest.raises(ValueError, match=message):
        pipeline.check_names(config)


@pytest.mark.parametrize("paper", ["argyriou2008", "jebara2011", "yousefi2015"])
def test_names_of_the_papers_exist(paper):
    for tier in TIERS:
        pipeline.check_names(load_paper(paper, tier))


def test_a_generator_draws_anew_each_repeat_and_alike_for_its_variants():
    base = {"n_tasks": 4}
    one = pipeline.load_variant(Variant("linear_synthetic", base), 7, repeat=0)
    same = pipeline.load_variant(Variant("linear_synthetic", base), 7, repeat=0)
    other = pipeline.load_variant(Variant("linear_synthetic", base), 7, repeat=1)
    wider = pipeline.load_variant(
        Variant("linear_synthetic", base | {"n_irrelevant": 2}), 7, repeat=0
    )
    assert one.digest() == same.digest() != other.digest()
    np.testing.assert_array_equal(one.y, wider.y)


def test_held_parameters_need_the_first_chunk(config):
    config["methods"]["ridge"]["grid"]["kernel"] = [None]
    config["experiments"]["digits"]["methods"] = [
        {"method": "ridge", "hold": {"kernel": 0}}
    ]
    config |= ONE_REPEAT_PER_JOB
    needs = [pipeline.needs_first_chunk(config, job) for job in fit_jobs(config)]
    assert needs == [False, True]


def test_a_mirror_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        pipeline.use_mirror(str(tmp_path / "nowhere"))


def test_tables_have_bytes_that_depend_on_content_alone(tmp_path):
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    for name in ("one.csv.gz", "two.csv.gz"):
        write_table(tmp_path / name, table)
    one, two = ((tmp_path / f"{n}.csv.gz").read_bytes() for n in ("one", "two"))
    assert one == two
    assert gzip.decompress(one) == b"a,b\n1,x\n2,\n"


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    with pytest.raises(TypeError):
        write_bytes(path, "new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def configured(class_name, selection="common"):
    return {"class": class_name, "selection": selection}


def test_unknown_class_has_no_code_version():
    with pytest.raises(ValueError, match="Rigde"):
        pipeline.code_version(configured("Rigde"), ["mse"])


def test_code_version_depends_on_the_metrics():
    one = pipeline.code_version(configured("IndependentRidge"), ["mse"])
    assert one == pipeline.code_version(configured("IndependentRidge"), ["rmse", "mse"])
    assert one != pipeline.code_version(
        configured("IndependentRidge"), ["misclassified"]
    )


def test_code_version_depends_on_the_loop():
    clean, authors = (
        pipeline.code_version(configured("GroupFeatureSharing", how), ["accuracy"])
        for how in ("validation", "best_on_test")
    )
    assert clean != authors


def test_each_repeat_of_a_drawn_set_is_split_and_fitted_on_its_own_draw(tmp_path):
    variant = Variant("digits_pairs", {"n_per_class": 10})
    draws = [pipeline.load_variant(variant, 5, repeat=repeat) for repeat in range(2)]
    assert draws[0].digest() != draws[1].digest()
    config = {
        "paper": {"id": "toy2000"},
        "protocols": {
            "tenth": {"kind": "fractions", "train_percent": [20, 50], "repeats": 2}
        },
        "methods": {
            "svm": {
                "label": "SVM",
                "class": "IndependentSVM",
                "grid": {"C": [0.1, 1.0, 10.0, 100.0]},
                "search": {"points": 2},
                "selection": "validation",
            }
        },
        "experiments": {
            "pairs": {
                "title": "Pairs",
                "datasets": {"name": variant.name, "options": variant.options},
                "protocol": "tenth",
                "methods": [{"method": "svm"}],
                "metrics": ["accuracy"],
            }
        },
        "artefacts": {},
        "claims": [],
    }
    (job,) = fit_jobs(config)
    info, splits = tmp_path / "info.json", tmp_path / "splits.npz"
    pipeline.write_data_info(info, variant, 5, download=False, on_missing="fail")
    assert json.loads(info.read_text())["digest"] == draws[0].digest()
    protocol = {"id": "tenth", **config["protocols"]["tenth"]}
    pipeline.write_splits(splits, info, variant, protocol, 5)
    expected = make_splits(draws[1], protocol, 5)
    stored = load_splits(splits)
    assert set(stored) == set(expected)
    np.testing.assert_array_equal(stored[20, 1].train, expected[20, 1].train)
    pipeline.run_fit(
        pipeline.job_config(config, job),
        job,
        seed=5,
        splits=splits,
        scores=tmp_path / "scores.csv.gz",
        arrays=tmp_path / "arrays.npz",
        cache=tmp_path / "cache",
    )
    scores = pd.read_csv(tmp_path / "scores.csv.gz")
    for repeat, data in enumerate(draws):
        assert set(scores.loc[scores["repeat"] == repeat, "data_digest"]) == {
            data.digest()
        }
    chosen = {json.loads(params)["C"] for params in scores["params"].dropna()}
    (spec,) = method_specs(config, "pairs").values()
    assert chosen <= {point["C"] for point in spec.with_design(5).grid_points()}


def test_a_seed_among_the_options_fixes_the_draw():
    variant = Variant("digits_pairs", {"n_per_class": 10, "seed": 1})
    first, second = (pipeline.load_variant(variant, 5, repeat=r) for r in range(2))
    assert first.digest() == second.digest()
