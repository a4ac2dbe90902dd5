import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared_methods import (
    COMPARISON,
    DECISIONS,
    MEANS,
    NAMES,
    SECONDS,
    artefact,
    context,
)

from mtmkl_suite.judge.overlap import Overlap, variance_ratio
from mtmkl_suite.judge.sample import select
from mtmkl_suite.report.context import load_context
from mtmkl_suite.report.pages.comparison_parts import parts_of_run
from mtmkl_suite.report.pages.report import load_pages, render_report
from mtmkl_suite.report.tables.comparison import compare_block
from mtmkl_suite.run.folders import PublishedFolder

NO_TABLES = PublishedFolder(Path("nowhere"))


@pytest.fixture
def compared():
    """Return results of the comparison, with its decisions and overlaps."""
    found = context()
    found.config.artefacts["table_decisions"] = DECISIONS
    split = Overlap(pool_share=1.0, test_share=0.25, train_share=0.5)
    same = Overlap(1.0, 0.25, 0.5, same_roles=True)
    overlaps = {(name.lower(), name.lower(), 10): split for name in MEANS}
    overlaps |= {("a", "a", 50): split, ("b", "b", 50): same}
    object.__setattr__(found, "overlaps", overlaps)
    return found


def test_a_comparison_has_every_repeat_and_what_it_took(compared):
    (part,) = parts_of_run(compared, NO_TABLES)
    assert part["methods"] == list(NAMES)
    assert part["datasets"] == list(MEANS)
    assert part["sizes"] == ["10", "50"]
    (metric,) = part["metrics"]
    assert metric["of"] == ["accuracy"] * len(MEANS)
    assert (metric["higher"], metric["scale"], metric["rope"]) == (True, 100, 0.5)
    for name, scores, took in zip(
        MEANS, part["scores"]["accuracy"], part["seconds"], strict=True
    ):
        for k, label in enumerate(NAMES):
            if MEANS[name][0][k] is None:
                assert scores[k] is None
                assert took[k] is None
                continue
            means = [100 * np.mean(each) for each in scores[k]]
            np.testing.assert_allclose(means, [size[k] for size in MEANS[name]])
            assert [len(each) for each in scores[k]] == [2, 2]
            assert took[k] == [SECONDS[label]] * 2


def test_the_first_choice_is_the_plan(compared):
    (part,) = parts_of_run(compared, NO_TABLES)
    found = compare_block(compared, COMPARISON, COMPARISON.main)
    assert part["start"] == {
        "metric": 0,
        "sizes": [0, 1],
        "datasets": list(found.scores.values.index),
        "methods": list(found.methods.index),
    }
    assert part["control"] == "Alone"
    # Of settings without a data set there is none.
    assert [each["label"] for each in part["presets"]] == [
        "methods whose pairs are tested", "few samples", "images",
    ]  # fmt: skip
    assert all(text.endswith(" tasks") for text in part["about"])
    few = part["presets"][1]
    assert (few["sizes"], few["datasets"]) == ([0], list(found.scores.values.index))
    tested = compare_block(compared, COMPARISON, COMPARISON.main, only_tested=True)
    (given,) = part["given"]
    (row,) = tested.pairs.to_dict("records")
    assert given["pairs"] == [
        [row[name] for name in (
            "first", "second", "p_first_better", "p_equivalent", "p_second_better",
        )]
    ]  # fmt: skip
    assert given["of"] == {
        key: part["start"][key] for key in ("metric", "sizes", "datasets")
    }


def given(compared, table, rows, folder):
    """Return the probabilities that are given with a part, from a table of them."""
    compared.config.artefacts["table"] = table
    pd.DataFrame(rows).to_csv(folder / "table.csv", index=False)
    (part,) = parts_of_run(compared, PublishedFolder(folder))
    return part["given"]


def test_posteriors_of_a_table_are_given_with_their_words(compared, tmp_path):
    found = compare_block(compared, COMPARISON, "10 %")
    row = {
        "first": "Ours", "second": "Alone", "n_datasets": 6, "n_repeats": 12,
        "p_first_better": 0.9976543, "p_equivalent": 0.001,
        "p_second_better": 0.0013457,
        "conclusion": "first better", "probability": 0.9976543, "weakest_without": "A",
        "probability_without": 0.81, "reversed_without": "", "block": "10 %",
    }  # fmt: skip
    open_row = row | {"probability": 0.9, "block": "all sizes"}
    table = artefact("method_posteriors")
    small, whole = given(compared, table, [row, open_row], tmp_path)
    assert small["of"] == {
        "metric": 0, "sizes": [0], "datasets": list(found.scores.values.index),
    }  # fmt: skip
    assert whole["of"]["sizes"] == [0, 1]
    words = (
        "Ours beats Alone with probability more than 0.99 (6 data sets, 12 repeats);"
    )
    assert small["pairs"] == [
        ["Ours", "Alone", 0.997654, 0.001, 0.001346, f"{words} if A is left out, 0.81."]
    ]
    # What is not decided has no sentence.
    assert whole["pairs"] == [["Ours", "Alone", 0.997654, 0.001, 0.001346]]
    assert small["decides"]


def test_posteriors_of_baselines_are_given(compared, tmp_path):
    row = {"first": "Linear", "second": "Ours", "block": "10 %", "p_first_better": 0.1}
    row |= {"p_equivalent": 0.2, "p_second_better": 0.7, "reversed_without": ""}
    table = artefact("baselines", baselines=["Linear"], proposed=["Ours"])
    (found,) = given(compared, table, [row], tmp_path)
    assert found["pairs"] == [["Linear", "Ours", 0.1, 0.2, 0.7]]
    assert not found["decides"]


def test_overlaps_give_the_variance_ratio(compared):
    (part,) = parts_of_run(compared, NO_TABLES)
    both = part["overlaps"][0]
    for chosen in ([0], [0, 1]):
        pool = max(both[k][0] for k in chosen)
        within = sum(both[k][1] for k in chosen) / sum(both[k][2] for k in chosen) ** 2
        splits = [compared.overlaps["a", "a", (10, 50)[k]] for k in chosen]
        assert pool / (1 - pool + within) == pytest.approx(variance_ratio(splits))
    # The same samples are for testing, or nothing is known: no test.
    assert part["overlaps"][1][1] is None
    assert part["overlaps"][2][1] is None


def test_data_of_ones_own_have_a_part_for_each_experiment(paper, results):
    config = paper.model_copy(update={"own": []})
    found = load_context(config, results)
    parts = parts_of_run(found, NO_TABLES)
    by_title = {each.title: name for name, each in config.experiments.items()}
    assert len(parts) > 1
    for part in parts:
        experiment = by_title[part["title"]]
        configured = config.experiments[experiment]
        assert configured.mode == "select"
        methods = {found.label(each.method): each.method for each in configured.methods}
        rows = found.scores[found.scores["experiment"] == experiment]
        for metric in (each["of"][0] for each in part["metrics"]):
            # Variants of one data set are averaged.
            (by_method,) = part["scores"][metric]
            for label, (repeats,) in zip(part["methods"], by_method, strict=True):
                where = {"method": methods[label], "setting": ""}
                n_tasks = select(rows, where)["n_tasks"].max()
                where |= {"n_tasks": n_tasks}
                wanted = found.by_repeat(experiment, metric, where)
                np.testing.assert_allclose(repeats, wanted)
                assert len(repeats) > 1
        ((overlap,),) = part["overlaps"]
        if overlap is not None:
            pool, others, n = overlap
            datasets = found.datasets(experiment)
            splits = [found.overlaps[experiment, each, 0] for each in datasets]
            ratio = pool / (1 - pool + others / n**2)
            assert ratio == pytest.approx(variance_ratio(splits))
    assert not parts_of_run(load_context(paper, results), NO_TABLES)


def test_the_report_leads_to_the_page(paper, reported):
    config = paper.model_copy(update={"own": []})
    pages = render_report([load_pages(config, reported)], tier="quick")
    page = pages["comparison-argyriou2008.html"]
    (data,) = re.findall(r'id="data">(.*?)</script>', page)
    parts = json.loads(data)["parts"]
    assert parts == parts_of_run(load_context(config, reported), NO_TABLES)
    assert 'href="comparison-argyriou2008.html"' in pages["paper-argyriou2008.html"]
    assert 'href="report/comparison-argyriou2008.html"' in pages["report.html"]
