"""Where results go."""

from types import SimpleNamespace

import pytest

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.run.folders import run_label


def usual(**changes):
    return load_run_config().model_copy(update=changes)


def label_of(parts=(), **changes):
    return run_label(usual(**changes), [SimpleNamespace(parts=parts, changes={})])


def test_what_the_configuration_says_is_the_tier_alone():
    assert label_of() == "quick"
    usual_of_paper = load_run_config(usual(tier="paper").model_dump())
    of_paper = usual_of_paper.model_copy(update={"on_missing_data": "fail"})
    assert run_label(of_paper, []) == "paper"


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"seed": 7}, "quick+seed=7"),
        ({"papers": ["jebara2011"]}, "quick+jebara2011"),
        ({"parts": ["digits", "school"]}, "quick+digits+school"),
        ({"methods": ["own.module:Class"]}, "quick+own.module.Class"),
        ({"against": "published"}, "quick+against=published"),
    ],
)
def test_a_label_says_what_differs(changes, label):
    assert label_of(**changes) == label


def test_a_label_says_what_is_changed_in_papers():
    changes = {"repeats": 2, "methods.a.grid": {"b": [1]}}
    paper = SimpleNamespace(parts=[], changes=changes)
    assert run_label(usual(), [paper]).startswith("quick+repeats=2+methods.a.grid-")


def test_a_label_of_data_of_ones_own():
    paper = SimpleNamespace(paper=SimpleNamespace(id="mine"), parts=[], changes={})
    options = {"task": "place", "ignore": ["size", "age"]}
    data = {"source": "/a/Mine.csv", "options": options, "methods": ["ridge"]}
    run = load_run_config(usual().model_dump() | {"data": data, "papers": ["own_data"]})
    label = run_label(run, [paper])
    assert label == "quick+mine+task=place+ignore=size.age+ridge"


def test_grids_have_folders_of_their_own():
    labels = [
        label_of(methods=["m:C"], grid=grid)
        for grid in ({"a": [1], "b": [2]}, {"b": [2], "a": [1]}, {"a": [1]}, None)
    ]
    assert labels[0] == labels[1]
    assert len(set(labels)) == 3


def test_a_label_is_a_possible_name_of_a_folder(tmp_path):
    long = [label_of([f"experiment_{n}" for n in range(stop)]) for stop in (40, 41)]
    assert long[0] != long[1]
    for label in [*long, label_of(papers=["a/{b} c.yaml"])]:
        (tmp_path / label).mkdir()
        assert not set(label) & set("/{} ")
