from itertools import pairwise

import matplotlib as mpl
import pytest
from configured import of
from matplotlib.colors import to_rgb

from mtmkl_suite.config.models import Method
from mtmkl_suite.report.figures.drawing import (
    figure_style,
    levels,
    method_styles,
)


def methods(*names, control=()):
    classes = {n: "TaskMeanControl" if n in control else "M" for n in names}
    return {name: of(Method, {"class": each}) for name, each in classes.items()}


def test_a_method_added_at_the_end_changes_no_colour():
    before = method_styles(methods("a", "b", "floor", control=["floor"]))
    after = method_styles(methods("a", "b", "floor", "new", control=["floor"]))
    assert {name: after[name] for name in before} == before


def test_methods_of_the_paper_all_look_different(paper):
    styles = method_styles(paper.methods)
    assert len(styles) == len(paper.methods)
    assert len({(s["color"], s["marker"]) for s in styles.values()}) == len(styles)


def test_controls_are_grey():
    style = method_styles(methods("a", "floor", control=["floor"]))["floor"]
    red, green, blue = to_rgb(style["color"])
    assert red == green == blue


@pytest.mark.parametrize("count", [2, 9])
def test_levels_are_told_apart(count):
    found = [to_rgb(colour) for colour in levels("#0072b2", count)]
    steps = [
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
        for one, other in pairwise(found)
    ]
    assert min(steps) > 0.1


def test_style_does_not_leak_and_does_not_depend_on_settings():
    with mpl.rc_context({"font.size": 30, "svg.hashsalt": None}):
        with figure_style():
            assert mpl.rcParams["font.size"] == 9
            assert mpl.rcParams["svg.hashsalt"] == "mtmkl"
        assert mpl.rcParams["font.size"] == 30
