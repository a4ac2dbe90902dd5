from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.report.context import load_context, read_jobs
from mtmkl_suite.run.folders import PaperFolder


@pytest.fixture(scope="module")
def context(paper, results):
    return load_context(paper, results)


def test_by_repeat_averages_subsets(context):
    where = {
        "method": "mtl_feat_linear",
        "n_tasks": 25,
        "dataset": "linear_synthetic[n_irrelevant=6]",
    }
    scores = context.scores.query(
        "experiment == 'linear_synthetic' and method == 'mtl_feat_linear' and "
        "n_tasks == 25 and dataset == 'linear_synthetic[n_irrelevant=6]' and "
        "metric == 'mse' and task == 'all'"
    )
    assert scores["subset"].nunique() > 1
    expected = scores.groupby("repeat")["value"].mean()
    found = context.by_repeat("linear_synthetic", "mse", where)
    np.testing.assert_allclose(found, expected)


def test_arrays_are_found_by_name_and_number_of_tasks(context):
    dataset = "linear_synthetic[n_irrelevant=6]"
    place = ("linear_synthetic", dataset, "mtl_feat_linear", "A_")
    assert context.array(*place).shape == (11, 200)
    assert context.array(*place, n_tasks=25).shape == (11, 25)
    assert context.array(*place, n_tasks=7) is None
    assert context.array("school", "school", "nobody", "A_") is None


def test_fits_are_the_same_as_the_scores_of_the_paper(paper, results, context):
    fits = load_context(paper, results, of_fits=True)
    assert len(fits.scores) == len(context.scores)
    np.testing.assert_allclose(fits.scores["value"], context.scores["value"])


def test_origin_and_reasons(context, paper, empty_results):
    assert context.origin("school") == "original"
    assert context.origin("linear_synthetic") == "synthetic"
    assert context.missing_reason("school", "nobody") == "not run in this tier"
    assert context.missing_reason("another") == "not run in this tier"
    empty = load_context(paper, empty_results)
    assert empty.origin("school") == ""
    assert "'school' is absent" in empty.missing_reason("school")
    assert empty.scores.empty


@pytest.mark.parametrize("metric", ["unsupported", "failed"])
def test_a_method_without_scores_has_its_recorded_reason(context, metric):
    scores = context.scores
    mine = (scores["experiment"] == "school") & (scores["method"] == "aggregate")
    gap = (
        scores[mine]
        .iloc[[0]]
        .assign(metric=metric, value=np.nan, params='{"reason": "it stumbled"}')
    )
    assert mine.any()
    partial = replace(context, scores=pd.concat([scores[~mine], gap]))
    assert partial.missing_reason("school", "aggregate") == "it stumbled"
    assert partial.missing_reason("school", ["nobody", "aggregate"]) == "it stumbled"
    assert partial.missing_reason("school", ["nobody"]) == "not run in this tier"
    assert partial.missing_reason("school", "mtl_feat_linear") == "no scores"


def test_missing_scores_are_an_error(paper, tmp_path):
    with pytest.raises(FileNotFoundError):
        load_context(paper, PaperFolder(tmp_path))


def test_job_times(paper, results, tmp_path):
    jobs = read_jobs(paper, results)
    assert jobs["experiment"].tolist() == list(paper.experiments)
    assert set(jobs["seconds"]) == {2.5}
    assert read_jobs(paper, PaperFolder(tmp_path)).empty


def test_what_is_not_configured_is_left_out(paper, results):
    experiments = {"survey": paper.experiments["survey"]}
    part = paper.model_copy(update={"experiments": experiments})
    assert list(load_context(part, results).data_info) == ["computer_survey"]
    assert set(read_jobs(part, results)["experiment"]) == {"survey"}


@pytest.mark.parametrize(
    ("tier", "changes", "judged"),
    [("quick", {}, False), ("paper", {}, True), ("paper", {"repeats": 3}, False)],
)
def test_only_the_full_protocol_is_judged(context, tier, changes, judged):
    config = context.config.model_copy(update={"tier": tier, "changes": changes})
    assert replace(context, config=config).is_judged is judged
