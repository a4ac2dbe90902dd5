"""The papers of a run: what it takes of them, adds and changes."""

import pytest
import tiny_workflow

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.config.runs import load_papers
from mtmkl_suite.errors import ConfigError

TINY = str(tiny_workflow.TINY)
RIDGE = "mtmkl.methods.independent_ridge:IndependentRidgeRegressor"


def papers(*names, **settings):
    usual = load_run_config().model_dump()
    run = load_run_config({**usual, "papers": list(names), **settings})
    return {paper.paper.id: paper for paper in load_papers(run)}


def test_a_run_without_choices_takes_whole_papers():
    (paper,) = papers(TINY).values()
    assert list(paper.experiments) == ["digits", "drawn", "absent"]
    assert paper.parts == []


def test_experiments_are_taken_in_the_order_of_the_paper():
    paper = papers(TINY, experiments=["absent", "digits"])["tiny"]
    assert list(paper.experiments) == paper.parts == ["digits", "absent"]
    assert list(paper.artefacts) == ["table_1"]
    everything = papers(TINY, experiments=["absent", "digits", "drawn"])["tiny"]
    assert everything.parts == []


def test_of_several_papers_those_are_taken_that_have_a_part():
    chosen = papers(TINY, "argyriou2008", experiments=["school"])
    assert list(chosen) == ["argyriou2008"]
    chosen = papers(TINY, "argyriou2008", experiments=["drawn", "school"])
    assert {name: paper.parts for name, paper in chosen.items()} == {
        "tiny": ["drawn"],
        "argyriou2008": ["school"],
    }
    with pytest.raises(ConfigError, match="'scholl'; did you mean 'school'"):
        papers(TINY, "argyriou2008", experiments=["drawn", "scholl"])


def test_artefacts_bring_their_experiments():
    paper = papers(TINY, artefacts=["table_1"])["tiny"]
    assert list(paper.experiments) == ["digits"]
    assert (paper.parts, paper.claims) == (["table_1"], [])


def test_settings_of_a_part_of_an_artefact_say_so():
    run = {"artefacts": ["figure_3"], "tier": "paper"}
    keys = {
        name: f"experiments.{name}.protocol=synthetic_given"
        for name in ("linear_synthetic", "linear_synthetic_path")
    }
    one = papers("argyriou2008", settings=[keys["linear_synthetic"]], **run)
    remark = "--set changes linear_synthetic, and not linear_synthetic_path."
    assert one["argyriou2008"].remarks == [remark]
    both = papers("argyriou2008", settings=[*keys.values()], **run)
    assert both["argyriou2008"].remarks == []


def test_methods_repeats_and_settings():
    paper = papers(
        TINY,
        methods=[RIDGE],
        grid={"gamma": [1.0]},
        repeats=1,
        settings=["methods.ridge.grid.gamma=[2.0]"],
    )["tiny"]
    assert paper.own == ["independentridgeregressor"]
    assert paper.methods["independentridgeregressor"].grid == {"gamma": [1.0]}
    assert paper.methods["ridge"].grid["gamma"] == [2.0]
    assert paper.changes == {"methods.ridge.grid.gamma": [2.0], "repeats": 1}


@pytest.mark.parametrize(
    ("paper", "settings", "message"),
    [
        ("yousefi2015", {"experiments": ["vehicle"]}, "only in tier paper: add --tier"),
        (
            "yousefi2015",
            {"readings": True, "settings": ["protocols.robot.repeats=1"]},
            "take one of the two",
        ),
        (
            "argyriou2008",
            {
                "experiments": ["linear_synthetic_path"], "methods": [RIDGE],
                "tier": "paper", "against": "published",
            },
            "records a path and compares nothing",
        ),
    ],
)  # fmt: skip
def test_choices_that_do_not_go_together(paper, settings, message):
    with pytest.raises(ConfigError, match=message):
        papers(paper, **settings)


def test_methods_over_some_data_sets_are_ranked_over_these():
    names = ["on_landmine", "on_robot", "on_school"]
    run = {"experiments": names, "methods": ["own:Own"], "tier": "paper"}
    paper = papers("comparison", **run)["comparison"]
    ranks = paper.artefacts["table_decisions_classification"].comparison
    assert list(ranks.rows) == ["Landmine", "Robot"]
    assert "Own (untuned)" in ranks.columns
    # One data set has no ranks over data sets.
    assert "table_decisions_regression" not in paper.artefacts


@pytest.mark.parametrize("against", [None, "published"])
def test_a_classifier_joins_where_there_are_labels(against):
    method = "mtmkl.methods:IndependentSVMClassifier"
    run = {"methods": [method], "tier": "paper", "against": against}
    names = ["on_landmine", "on_school"]
    paper = papers("comparison", experiments=names, **run)["comparison"]
    entries = {
        name: [entry.method for entry in experiment.methods]
        for name, experiment in paper.experiments.items()
    }
    assert entries["on_landmine"][-1] == "independentsvmclassifier"
    assert "independentsvmclassifier" not in entries.get("on_school", [])
    assert list(entries) == names[: 1 if against else 2]
    assert paper.remarks[0] == f"{method} is a classifier: not run in on_school."
    assert "--grid" in paper.remarks[1]
    with pytest.raises(ConfigError, match="classifier, and targets are numbers"):
        papers("comparison", experiments=["on_school"], **run)


def test_each_method_has_a_grid_of_its_own():
    run = {"methods": [RIDGE, "own:A", "own:B"], "experiments": ["digits"]}
    grids = [{"gamma": [1.0]}, {}, {"C": [1, 2]}]
    methods = papers(TINY, grid=grids, **run)["tiny"].methods
    assert methods["independentridgeregressor"].grid == grids[0]
    assert methods["a"].selection == "none"
    assert methods["b"].grid == grids[2]
    with pytest.raises(ConfigError, match="--grid is given 2 times and --method 3"):
        papers(TINY, grid=grids[:2], **run)
    with pytest.raises(ConfigError, match="configured methods have their grid"):
        papers(TINY, grid=[{"gamma": [1.0]}] * 2, methods=["ridge", "own:A"])
