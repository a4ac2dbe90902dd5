import gzip

import numpy as np
import pandas as pd
import pytest

from mtmkl.documents import ConfigError
from mtmkl.files import write_bytes, write_table
from mtmkl_suite.config.load import TIERS, load_paper, load_run_config
from mtmkl_suite.run import pipeline
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.plan import Variant


def test_missing_data_are_told_once_for_a_set_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path))
    variants = [Variant("school", {"bias": bias}) for bias in (False, True)]
    folder = PaperFolder(tmp_path)
    variants.append(Variant("digits"))
    needs = [{"variant": variant, "protocols": []} for variant in variants]
    pipeline.prepare_data(needs, folder, seed=1, download=False, on_missing="report")
    (line,) = pipeline.missing_data(folder.data_info(v.id) for v in variants)
    assert line.startswith("data set 'school' is not available")
    assert "mtmkl datasets fetch school" in line


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


@pytest.mark.parametrize("paper", load_run_config()["papers"])
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


def test_code_version_depends_on_how_a_paper_chooses():
    clean, authors = (
        pipeline.code_version(configured("GroupFeatureSharing", how), ["accuracy"])
        for how in (
            "validation",
            "mtmkl_suite.papers.yousefi2015.best_on_test:best_on_test",
        )
    )
    assert clean != authors


def test_a_seed_among_the_options_fixes_the_draw():
    variant = Variant("digits_pairs", {"n_per_class": 10, "seed": 1})
    first, second = (pipeline.load_variant(variant, 5, repeat=r) for r in range(2))
    assert first.digest() == second.digest()


def test_a_file_of_ones_own_that_changes_is_looked_at_again(tmp_path):
    path = tmp_path / "own.csv"
    variant = Variant(str(path), {"task": "a", "target": "b"})
    assert pipeline.data_source(variant) == "missing"
    path.write_text("a,b")
    before = pipeline.data_source(variant)
    path.write_text("a,b,c")
    assert before != pipeline.data_source(variant) != "missing"
    assert variant.id == "own.csv[target=b,task=a]"


def test_a_claim_on_a_method_that_is_not_there_names_the_file():
    config = load_paper("jebara2011", "paper")
    claim = config.claims[0]
    args = {**claim.args, "lower": {"method": "nobody"}}
    config = config | {"claims": [claim | {"args": args}]}
    message = r"jebara2011/claims\.yaml: claim '\w+': method 'nobody' is not configured"
    with pytest.raises(ConfigError, match=message):
        pipeline.check_names(config)
