"""Trees of tasks: Newick text or lists of parents, and the tasks below each node."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Node:
    """A node of a Newick tree.

    Attributes
    ----------
    name : str
        Empty if it has none.
    children : list of Node
    """

    name: str = ""
    children: "list[Node]" = field(default_factory=list)


def parse_newick(text: str) -> Node:
    """Return the root of a tree in Newick format.

    Names may be quoted (``'B. subtilis'``, a quote within doubled); an underscore in a
    name without quotes stays as it is. Comments in brackets are skipped. Lengths must
    be numbers, and are not kept.

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


def _newick_clusters(root: Node, tasks: Sequence[str]) -> list[list[int]]:
    number = {name: t for t, name in enumerate(tasks)}
    found: list[list[int]] = []
    seen: set[str] = set()
    below: dict[int, list[int]] = {}
    # Children before parents, without recursion: trees can be deep.
    stack = [(root, False)]
    while stack:
        node, visited = stack.pop()
        if not node.children:
            if node.name in seen:
                raise ValueError(f"the tree has two leaves named {node.name!r}")
            seen.add(node.name)
            below[id(node)] = [number[node.name]] if node.name in number else []
        elif visited:
            members = [t for child in node.children for t in below[id(child)]]
            below[id(node)] = members
            found.append(members)
        else:
            stack.append((node, True))
            stack += [(child, False) for child in node.children]
    missing = [name for name in tasks if name not in seen]
    if missing:
        raise ValueError(
            f"not among the leaves of the tree: {', '.join(missing)}; each task needs "
            "a leaf of its name"
        )
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
