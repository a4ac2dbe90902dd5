"""Trees of tasks: Newick text or lists of parents, and the tasks below each node."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mtmkl.typing import FloatArray


@dataclass
class Node:
    """A node of a Newick tree.

    Attributes
    ----------
    name : str
        Empty if it has none.
    children : list of Node
    length : float
        Of the branch above it; 0 if none is given.
    """

    name: str = ""
    children: "list[Node]" = field(default_factory=list)
    length: float = 0.0


def parse_newick(text: str) -> Node:
    """Return the root of a tree in Newick format.

    Names may be quoted (``'B. subtilis'``, a quote within doubled); an underscore in a
    name without quotes stays as it is. Comments in brackets are skipped. Lengths must
    be numbers.

    Parameters
    ----------
    text : str
        One tree, ended by a semicolon.

    Returns
    -------
    Node

    Raises
    ------
    ValueError
        If the text is not such a tree; the message has the place and what is there.
    """
    tokens = _tokens(text)
    root = Node()
    path = [root]
    complete = False  # whether the length of the current node has been read
    kind, token, place = next(tokens)
    while True:
        if kind == "(":
            if complete or path[-1].children or path[-1].name:
                raise _newick_error(place, "a parenthesis opens after a node")
            path.append(_child(path[-1]))
        elif kind in ",)":
            if len(path) == 1:
                raise _newick_error(place, f"{kind!r} is outside all parentheses")
            if not path[-1].name and not path[-1].children:
                raise _newick_error(place, "a leaf has no name")
            path.pop()
            complete = False
            if kind == ",":
                path.append(_child(path[-1]))
        elif kind == "name":
            if complete or path[-1].name:
                raise _newick_error(place, f"{token!r} follows a name or a length")
            path[-1].name = token
        elif kind == "length":
            if complete:
                raise _newick_error(place, "a node has two lengths")
            path[-1].length = float(token)
            complete = True
        elif kind == ";":
            break
        else:
            raise _newick_error(place, "the text ends without a semicolon")
        kind, token, place = next(tokens)
    if len(path) > 1:
        raise _newick_error(place, f"{len(path) - 1} parentheses are not closed")
    if not root.children and not root.name:
        raise _newick_error(place, "the tree is empty")
    kind, token, place = next(tokens)
    if kind != "end":
        raise _newick_error(place, f"{token!r} follows the semicolon")
    return root


def clusters(tree: str | Sequence[int], tasks: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the tasks below each inner node of a tree.

    Parameters
    ----------
    tree, tasks
        As in :func:`mtmkl.kernels.task_kernels.hierarchy`.

    Returns
    -------
    list of lists of int
        From the root to the leaves: larger clusters first, those of one size by their
        tasks.

    Raises
    ------
    ValueError
        As :func:`mtmkl.kernels.task_kernels.hierarchy`.
    """
    if not len(tasks) or len(set(tasks)) < len(tasks):
        raise ValueError("the tasks of a hierarchy must be named, each differently")
    if isinstance(tree, str):
        found = _newick_clusters(parse_newick(tree), tasks)
    else:
        found = _parent_clusters(tree, len(tasks))
    distinct = {tuple(sorted(members)) for members in found if len(members) > 1}
    if not distinct:
        raise ValueError("no node of the tree has two tasks below it")
    return [list(each) for each in sorted(distinct, key=lambda c: (-len(c), c))]


def leaf_distances(tree: str, leaves: Sequence[str]) -> FloatArray:
    """Return the length of the path between each two leaves of a tree.

    Parameters
    ----------
    tree : str
        Newick text.
    leaves : sequence of str
        Names of T leaves.

    Returns
    -------
    ndarray of shape (T, T)

    Raises
    ------
    ValueError
        If the tree is malformed, or has not one leaf of each name.
    """
    wanted, seen = set(leaves), set[str]()
    above: dict[str, dict[int, float]] = {}  # depth of each node from the root down
    stack: list[tuple[Node, dict[int, float]]] = [(parse_newick(tree), {})]
    while stack:
        node, path = stack.pop()
        path = path | {id(node): _last(path) + node.length}
        if not node.children:
            _refuse_twice(node.name, seen)
            seen.add(node.name)
            if node.name in wanted:
                above[node.name] = path
        stack += [(child, path) for child in node.children]
    _refuse_missing(leaves, above)
    out = np.zeros((len(leaves), len(leaves)))
    for s, first in enumerate(leaves):
        for t, second in enumerate(leaves[:s]):
            a, b = above[first], above[second]
            common = {node: depth for node, depth in a.items() if node in b}
            out[s, t] = out[t, s] = _last(a) + _last(b) - 2.0 * _last(common)
    return out


def restrict_tree(tree: str, names: Mapping[str, str]) -> str:
    """Return the part of a tree that joins some of its leaves, with other names.

    Nodes with one branch left are left out, and the lengths of their branches added.

    Parameters
    ----------
    tree : str
        Newick text.
    names : mapping of str to str
        New name of each leaf to keep.

    Returns
    -------
    str
        Newick text.

    Raises
    ------
    ValueError
        If the tree is malformed, or has not one leaf of each name.
    """
    kept: dict[int, tuple[str, float]] = {}  # text and length of what is left of a node
    seen: set[str] = set()
    for node in _children_first(parse_newick(tree)):
        if node.children:
            parts = [kept[id(child)] for child in node.children if id(child) in kept]
            if len(parts) > 1:
                inside = ",".join(f"{text}:{length:g}" for text, length in parts)
                kept[id(node)] = (f"({inside})", node.length)
            elif parts:
                kept[id(node)] = (parts[0][0], parts[0][1] + node.length)
        elif node.name in names:
            _refuse_twice(node.name, seen)
            seen.add(node.name)
            quoted = names[node.name].replace("'", "''")
            kept[id(node)] = (f"'{quoted}'", node.length)
        last = node
    _refuse_missing(names, seen)
    return f"{kept[id(last)][0]};"


def _child(parent: Node) -> Node:
    node = Node()
    parent.children.append(node)
    return node


_TOKEN = re.compile(
    r"""\s* (?:
        (?P<comment> \[ [^\]]* \] )
      | (?P<mark> [(),;] )
      | : \s* (?: \[ [^\]]* \] \s* )* (?P<length> [^\s()\[\],:;']* )
      | (?P<quoted> ' (?: [^'] | '' )* ' )
      | (?P<name> [^\s()\[\],:;']+ )
      | (?P<end> \Z )
    )""",
    re.VERBOSE,
)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield (kind, text, place) of each mark, name and length, and of the end."""
    place = 0
    while True:
        match = _TOKEN.match(text, place)
        if match is None:
            raise _newick_error(place, f"{text[place : place + 20].strip()!r}")
        kind = str(match.lastgroup)
        token = match[kind]
        begin = match.start(kind)
        if kind == "mark":
            yield token, token, begin
        elif kind == "quoted":
            yield "name", token[1:-1].replace("''", "'"), begin
        elif kind == "length":
            try:
                float(token)
            except ValueError:
                raise _newick_error(begin, f"length {token!r} is no number") from None
            yield kind, token, begin
        elif kind != "comment":
            yield kind, token, begin
        place = match.end()


def _newick_error(place: int, what: str) -> ValueError:
    return ValueError(f"not a Newick tree, at character {place + 1}: {what}")


def _children_first(root: Node) -> Iterator[Node]:
    """Yield the nodes of a tree, children before parents, the root last."""
    # Without recursion: trees can be deep.
    stack = [(root, False)]
    while stack:
        node, visited = stack.pop()
        if visited or not node.children:
            yield node
        else:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node.children)]


def _last(depths: dict[int, float]) -> float:
    return next(reversed(depths.values()), 0.0)


def _refuse_twice(name: str, seen: Container[str]) -> None:
    if name in seen:
        raise ValueError(f"the tree has two leaves named {name!r}")


def _refuse_missing(names: Iterable[str], seen: Container[str]) -> None:
    missing = [name for name in names if name not in seen]
    if missing:
        raise ValueError(
            f"not among the leaves of the tree: {', '.join(missing)}; each task needs "
            "a leaf of its name"
        )


def _newick_clusters(root: Node, tasks: Sequence[str]) -> list[list[int]]:
    number = {name: t for t, name in enumerate(tasks)}
    found: list[list[int]] = []
    seen: set[str] = set()
    below: dict[int, list[int]] = {}
    for node in _children_first(root):
        if node.children:
            members = [t for child in node.children for t in below[id(child)]]
            below[id(node)] = members
            found.append(members)
        else:
            _refuse_twice(node.name, seen)
            seen.add(node.name)
            below[id(node)] = [number[node.name]] if node.name in number else []
    _refuse_missing(tasks, seen)
    return found


def _parent_clusters(parents: Sequence[int], n_tasks: int) -> list[list[int]]:
    above = np.asarray(parents)
    if above.ndim != 1 or not np.issubdtype(above.dtype, np.integer):
        raise ValueError(f"parents must be a list of whole numbers, got {parents!r}")
    if above.size <= n_tasks:
        raise ValueError(
            f"parents must have the {n_tasks} tasks first and the inner nodes after "
            f"them, got {above.size} nodes"
        )
    outside = (above < -1) | (above >= above.size)
    if outside.any():
        raise ValueError(f"parent {above[outside][0]} is not in -1..{above.size - 1}")
    roots = np.flatnonzero(above == -1)
    if roots.size != 1:
        raise ValueError(f"parents must have one root (-1), got {roots.size}")
    if (above[above >= 0] < n_tasks).any():
        wrong = above[(above >= 0) & (above < n_tasks)][0]
        raise ValueError(f"task {wrong} is a parent: tasks must be leaves")
    found: list[list[int]] = [[] for _ in range(above.size)]
    for t in range(n_tasks):
        node = above[t]
        steps = 0
        while node != -1:
            found[node].append(t)
            node = above[node]
            steps += 1
            if steps > above.size:
                raise ValueError(f"parents go round in a circle above task {t}")
    empty = [k for k in range(n_tasks, above.size) if not found[k]]
    if empty:
        raise ValueError(f"node {empty[0]} has no task below it")
    return found
