import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mtmkl.methods import IndependentRidgeRegressor
from mtmkl.methods._base.checks import refusal_of_sparse
from mtmkl_suite.config.models import Variant
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.loaders.class_tables import DIGITS, ClassTable
from mtmkl_suite.files import write_json, write_table
from mtmkl_suite.report.context import (
    drawn_share,
    load_context,
    overlaps_table,
    read_overlaps,
    recorded_context,
    stored_overlaps,
)
from mtmkl_suite.run.folders import PaperFolder


@pytest.fixture(scope="module")
def context(paper, results):
    return load_context(paper, results)


def test_a_missing_set_of_a_record_has_a_reason_and_no_origin(paper, context, tmp_path):
    folder = tmp_path / paper.paper.id
    write_table(folder / "scores.csv.gz", context.scores)
    write_table(folder / "overlaps.csv", overlaps_table({}))
    data = {"school": {"missing": "gone"}, "computer_survey": {"origin": "original"}}
    write_json(folder / "provenance.json", {"data": data})
    recorded = recorded_context(paper, tmp_path)
    assert recorded.origin("school") == ""
    assert recorded.missing_reason("school") == "gone"
    assert recorded.origin("survey") == "original"


def test_names_of_published_numbers_are_texts(paper, results, tmp_path):
    (tmp_path / "table_9.csv").write_text("row,column,value\n1,10,0.5\n2,20,0.25\n")
    published = load_context(
        paper.model_copy(update={"published": tmp_path}), results
    ).published["table_9.csv"]
    assert published["row"].tolist() == ["1", "2"]
    assert published["column"].tolist() == ["10", "20"]
    assert published["value"].tolist() == [0.5, 0.25]


def test_arrays_are_found_by_name_of_most_tasks(context):
    dataset = "linear_synthetic[n_irrelevant=6]"
    place = ("linear_synthetic", dataset, "mtl_feat_linear", "A_")
    assert context.array(*place).shape == (11, 200)
    assert context.array("school", "school", "nobody", "A_") is None


def test_origin_and_reasons(context, paper, empty_results):
    assert context.origin("school") == "original"
    assert context.origin("linear_synthetic") == "synthetic"
    assert context.missing_reason("school", "nobody") == "not run in this tier"
    assert context.missing_reason("another") == "not run in this tier"
    assert context.rows("another", "mse", {}).empty
    empty = load_context(paper, empty_results)
    assert empty.origin("school") == ""
    assert "'school' is absent" in empty.missing_reason("school")
    assert empty.scores.empty


@pytest.mark.parametrize("metric", ["unsupported", "failed"])
def test_a_method_without_scores_has_its_recorded_reason(context, metric):
    scores = context.scores
    mine = (scores["experiment"] == "school") & (scores["method"] == "aggregate")
    gap = scores[mine].iloc[[0]].assign(metric=metric, value=np.nan)
    gap = gap.assign(params='{"reason": "it stumbled"}')
    assert mine.any()
    partial = replace(context, scores=pd.concat([scores[~mine], gap]))
    assert partial.missing_reason("school", "aggregate") == "it stumbled"
    assert partial.missing_reason("school", ["nobody", "aggregate"]) == "it stumbled"
    assert partial.missing_reason("school", ["nobody"]) == "not run in this tier"
    assert partial.missing_reason("school", "mtl_feat_linear") == "no scores"
    refusal = refusal_of_sparse(IndependentRidgeRegressor(), csr_array((1000, 500)))
    gap = gap.assign(params=json.dumps({"reason": refusal}))
    refused = replace(context, scores=pd.concat([scores[~mine], gap]))
    reason = refused.missing_reason("school", "aggregate")
    assert reason == "needs dense features (4 MB)"


def test_what_is_not_configured_is_left_out(paper, results):
    experiments = {"survey": paper.experiments["survey"]}
    part = paper.model_copy(update={"experiments": experiments})
    assert list(load_context(part, results).data_info) == ["computer_survey"]


@pytest.mark.parametrize(
    ("tier", "changes", "judged"),
    [("quick", {}, False), ("paper", {}, True), ("paper", {"repeats": 3}, False)],
)
def test_only_the_full_protocol_is_judged(context, tier, changes, judged):
    config = context.config.model_copy(update={"tier": tier, "changes": changes})
    assert replace(context, config=config).is_judged is judged


def test_overlap_follows_from_protocol_and_data(paper, context, tmp_path):
    overlaps = context.overlaps
    assert {name for name, _, _ in overlaps} == set(paper.experiments)
    # Made-up splits: four rows are for testing, eight for training, others unused.
    for (_, dataset, _), found in overlaps.items():
        n = context.data_info[dataset]["n"]
        np.testing.assert_allclose(found.test_share, 4 / n)
        np.testing.assert_allclose(found.train_share, 8 / n)
    school = overlaps["school", "school", 0]
    assert (school.pool_share, school.same_roles) == (1.0, False)
    survey = overlaps["survey", "computer_survey", 0]
    assert (survey.pool_share, survey.same_roles) == (1.0, True)
    drawn = overlaps["linear_synthetic", "linear_synthetic[n_irrelevant=6]", 0]
    assert (drawn.pool_share, drawn.same_roles) == (0.0, False)
    assert stored_overlaps(paper, context.data_info, PaperFolder(tmp_path)) == {}
    # The record keeps them.
    write_table(tmp_path / "overlaps.csv", overlaps_table(overlaps))
    assert read_overlaps(tmp_path / "overlaps.csv") == overlaps


def test_tasks_that_have_examples_in_common(paper, results, context):
    info = dict(context.data_info)
    assert "n_samples" not in info["school"]
    info["school"] = {**info["school"], "n_samples": info["school"]["n"] - 1}
    overlaps = stored_overlaps(paper, info, results)
    assert overlaps["school", "school", 0].tasks_share
    assert not overlaps["survey", "computer_survey", 0].tasks_share


@pytest.mark.parametrize(
    ("variant", "share"),
    [
        (Variant("school"), 1.0),
        (Variant("linear_synthetic"), 0.0),
        (Variant("toy_tree", {"seed": 3}), 1.0),
        (Variant("segmentation", {"n_per_class": 33}), 0.1),
        (Variant("segmentation", {"n_per_class": None}), 1.0),
        # By default 2000 of the 4449 rows for each joint.
        (Variant("sarcos"), 2000 / 4449),
    ],
    ids=str,
)
def test_share_of_the_examples_that_a_draw_takes(variant, share):
    assert drawn_share(variant) == pytest.approx(share)


def test_pools_are_the_sizes_of_the_classes(data_mirror):
    registry = default_registry()
    tables = {"digits_pairs": DIGITS}
    for name in registry:
        loader = registry[name].find_loader() if registry[name].loader else None
        if isinstance(table := getattr(loader, "__self__", None), ClassTable):
            tables[name] = table
    assert len(tables) == 7
    for name, table in tables.items():
        files = {file: data_mirror / table.name / file for file in table.files}
        assert registry[name].pool["n_per_class"] == Counter(table.rows(files)[1])
