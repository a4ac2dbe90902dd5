"""Trees of tasks in Newick format, and the tasks below each node."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mtmkl.typing import FloatArray


@dataclass(eq=False)
class Node:
    """A node of a tree; the length is that of the branch above it."""

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

    Raises
    ------
    ValueError
        If the text is not such a tree; the message has the place and what is there.
    """
    root = Node()
    path = [root]
    before, said_before = "", "the beginning"
    for kind, token, place in _tokens(text):
        said = f"{kind} {token!r}" if token != kind else repr(token)
        if kind == "end":
            said = "the end, without a semicolon,"
        if before not in _BEFORE[kind]:
            raise _newick_error(place, f"{said} follows {said_before}")
        if kind in (",", ")") and len(path) == 1:
            raise _newick_error(place, f"{said} is outside all parentheses")
        if kind == ";" and len(path) > 1:
            raise _newick_error(place, f"{len(path) - 1} parentheses are not closed")
        if kind == "name":
            path[-1].name = token
        elif kind == "length":
            path[-1].length = float(token)
        elif kind in (",", ")"):
            path.pop()
        if kind in ("(", ","):
            path[-1].children.append(Node())
            path.append(path[-1].children[-1])
        before, said_before = kind, said
    return root


def clusters(tree: str, tasks: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the tasks below each inner node of a tree.

    As for :func:`mtmkl.kernels.task_kernels.hierarchy`; larger clusters come first,
    those of one size in the order of their tasks.
    """
    if not len(tasks) or len(set(tasks)) < len(tasks):
        raise ValueError("the tasks of a hierarchy must be named, each differently")
    below = _below(_nodes(tree, tasks), tasks)
    distinct = {tuple(each) for each in below.values() if len(each) > 1}
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
        Different names of T leaves.

    Returns
    -------
    ndarray of shape (T, T)

    Raises
    ------
    ValueError
        If the tree is malformed, or has not one leaf of each name.
    """
    nodes = _nodes(tree, leaves)
    below, depth = _below(nodes, leaves), {nodes[-1]: nodes[-1].length}
    # Depth of the last node above both leaves; of a leaf and itself, its own.
    common = np.zeros((len(leaves), len(leaves)))
    for node in reversed(nodes):
        common[np.ix_(below[node], below[node])] = depth[node]
        depth |= {child: depth[node] + child.length for child in node.children}
    depths = np.diag(common)
    return depths[:, None] + depths - 2.0 * common


def restrict_tree(tree: str, names: Mapping[str, str]) -> str:
    """Return the part of a tree that joins the leaves in ``names``, renamed by it.

    Trees are Newick text. Nodes with one branch left are left out, and the lengths of
    their branches added.
    """
    kept: dict[Node, tuple[str, float]] = {}  # text and length of the rest of a node
    nodes = _nodes(tree, names)
    for node in nodes:
        parts = [kept[child] for child in node.children if child in kept]
        if len(parts) > 1:
            inside = ",".join(f"{text}:{length:g}" for text, length in parts)
            kept[node] = (f"({inside})", node.length)
        elif parts:
            kept[node] = (parts[0][0], parts[0][1] + node.length)
        elif not node.children and node.name in names:
            quoted = names[node.name].replace("'", "''")
            kept[node] = (f"'{quoted}'", node.length)
    return f"{kept[nodes[-1]][0]};"


#: The kinds of tokens that each kind may follow.
_BEFORE = {
    "(": ("", "(", ","),
    "name": ("", "(", ",", ")"),
    "length": (")", "name"),
    ",": (")", "name", "length"),
    ")": (")", "name", "length"),
    ";": (")", "name", "length"),
    "end": (";",),
}

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
    place, kind = 0, ""
    while kind != "end":
        match = _TOKEN.match(text, place)
        if match is None:
            raise _newick_error(place, f"{text[place : place + 20].strip()!r}")
        kind = str(match.lastgroup)
        token, begin, place = match[kind], match.start(kind), match.end()
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


def _newick_error(place: int, what: str) -> ValueError:
    return ValueError(f"not a Newick tree, at character {place + 1}: {what}")


def _nodes(tree: str, names: Iterable[str]) -> list[Node]:
    """Return the nodes of a tree, children before parents, the root last.

    Raises ValueError unless the tree has one leaf of each name.
    """
    order, pending = [], [parse_newick(tree)]
    while pending:  # no recursion: trees can be deep
        node = pending.pop()
        order.append(node)
        pending += node.children
    leaves = Counter(node.name for node in order if not node.children)
    twice = [name for name, count in leaves.items() if count > 1]
    if twice:
        raise ValueError(f"the tree has two leaves named {twice[0]!r}")
    missing = [name for name in names if name not in leaves]
    if missing:
        raise ValueError(
            f"not among the leaves of the tree: {', '.join(missing)}; each task needs "
            "a leaf of its name"
        )
    return order[::-1]


def _below(nodes: Sequence[Node], names: Sequence[str]) -> dict[Node, list[int]]:
    """Return the numbers of the names among the leaves below each node, sorted."""
    number = {name: t for t, name in enumerate(names)}
    below: dict[Node, list[int]] = {}
    for node in nodes:
        own = [number[node.name]] if not node.children and node.name in number else []
        below[node] = sorted(own + [t for child in node.children for t in below[child]])
    return below
