import pytest

from mtmkl_suite.judge.claim_words import in_words, side_in_words
from mtmkl_suite.judge.observations import name_of

LABELS = {"mtl": "MTL", "mtl_fast": "MTL (fast)"}


@pytest.mark.parametrize(
    ("side", "words"),
    [
        ({"method": "mtl"}, "MTL"),
        ({"method": "mtl", "n_tasks": 200}, "MTL, 200 tasks"),
        ({"method": "mtl", "setting": '{"alpha": 148.4131591025766}'},
         "MTL, alpha = 148.4"),
        ({"method": "mtl", "setting": ""}, "MTL"),
        ({"method": "mtl", "dataset": "ising_graphs[n_nodes=5]"},
         "MTL, data set ising graphs (n nodes = 5)"),
        ({"method": "mtl", "repeat": [0, 1, 2]}, "MTL, repeats 0 to 2"),
        ({"metric": ["weight_2", "weight_10"]}, "weights 2, 10"),
        ({"solver": "mirror_descent", "level": 0.01}, "mirror descent, level 0.01"),
        ({}, "all"),
    ],
)  # fmt: skip
def test_sides_have_labels_and_words(side, words):
    assert side_in_words(side, LABELS) == words


def test_both_sides_of_a_note_are_named():
    sides = [{"method": "mtl"}, {"method": "mtl_fast", "train_size": 10}]
    first, second = map(name_of, sides)
    note = f"10 repeats: mean 0.1 ({first}) against 0.2 ({second})"
    assert in_words(note, sides, LABELS) == (
        "10 repeats: mean 0.1 (MTL) against 0.2 (MTL (fast), training size 10)"
    )
