"""Newick text, and the clusters and distances of its trees."""

import numpy as np
import pytest

from mtmkl.kernels.task_kernels import hierarchy
from mtmkl.kernels.task_trees import (
    clusters,
    leaf_distances,
    parse_newick,
    restrict_tree,
)

NAMES = ["a", "b", "c", "d"]


def test_leaves_that_are_no_task_are_left_out():
    # x and y are no tasks: their nodes have one task below, or none, or the same.
    tree = "(((a,x),((b,c))),(y,(x2,d)));"
    assert clusters(tree, NAMES) == [[0, 1, 2, 3], [0, 1, 2], [1, 2]]


def test_deep_tree():
    depth = 3000
    tree = "(" * depth + "t0" + "".join(f",t{k})" for k in range(1, depth + 1)) + ";"
    assert len(clusters(tree, [f"t{k}" for k in range(depth + 1)])) == depth


def test_newick_names():
    root = parse_newick("('B. subtilis''s':1[c],E_coli[100]:2.5e-3,(q)'in':[c]1)r;")
    assert [child.name for child in root.children] == ["B. subtilis's", "E_coli", "in"]
    assert root.name == "r"
    assert root.children[2].children[0].name == "q"
    assert parse_newick(" a ; ").name == "a"


LENGTHS = "((a:1,b:2)ab:3,(x:9,c:4)[90]:5,('d''s':6,(e:7):8):10):11;"


def test_distances_along_a_tree():
    expected = [[0, 3, 13, 20], [3, 0, 14, 21], [13, 14, 0, 25], [20, 21, 25, 0]]
    np.testing.assert_array_equal(
        leaf_distances(LENGTHS, ["a", "b", "c", "d's"]), expected
    )
    # A branch without length has none.
    assert leaf_distances("(a,b:2);", ["b", "a"])[0, 1] == 2.0


def test_the_part_of_a_tree_keeps_its_distances():
    names = {"c": "third", "e": "it's", "a": "a", "d's": "d"}
    part = restrict_tree(LENGTHS, names)
    assert part == "('a':4,'third':9,('d':6,'it''s':15):10);"
    np.testing.assert_array_equal(
        leaf_distances(part, list(names.values())), leaf_distances(LENGTHS, list(names))
    )
    assert restrict_tree(LENGTHS, {"b": "only"}) == "'only';"
    below = restrict_tree("(x:1,(a:2,b:3):4);", {"a": "s", "b": "t"})
    assert below == "('s':2,'t':3);"


@pytest.mark.parametrize("function", [leaf_distances, restrict_tree])
def test_leaves_must_be_in_the_tree_once(function):
    leaves = {"a": "a", "z": "z"}
    with pytest.raises(ValueError, match="not among the leaves of the tree: z"):
        function(LENGTHS, leaves if function is restrict_tree else list(leaves))
    with pytest.raises(ValueError, match="the tree has two leaves named 'a'"):
        function("(a,(a,b));", {"a": "a"} if function is restrict_tree else ["a"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("((a,b);", "at character 7: 1 parentheses are not closed"),
        ("(a,b)", "at character 6: the end, without a semicolon, follows '\\)'"),
        ("(a,b));", "at character 6: '\\)' is outside all parentheses"),
        ("a,b;", "at character 2: ',' is outside all parentheses"),
        ("(a,,b);", "at character 4: ',' follows ','"),
        ("(a:x,b);", "at character 4: length 'x' is no number"),
        ("(a:1:2,b);", "at character 6: length '2' follows length '1'"),
        ("(a b,c);", "at character 4: name 'b' follows name 'a'"),
        ("(a(b,c));", "at character 3: '\\(' follows name 'a'"),
        ("(a,b);c", "at character 7: name 'c' follows ';'"),
        ("(a,'b);", "at character 4: \"'b"),
        ("", "at character 1: the end, without a semicolon, follows the beginning"),
        (";", "at character 1: ';' follows the beginning"),
    ],
)
def test_malformed_newick(text, message):
    with pytest.raises(ValueError, match=f"not a Newick tree, {message}"):
        parse_newick(text)


def test_a_hierarchy_needs_two_tasks_below_some_node():
    with pytest.raises(ValueError, match="no node of the tree has two tasks"):
        hierarchy("(a,x);", ["a"])
