"""Task kernels: what is known of how tasks are related, as matrices over the tasks.

Each function returns a symmetric positive semi-definite matrix R of shape (T, T), the
Q^{-1} of [1]_, or a list of such matrices, one per term of a multi-task kernel sum
Σ_m θ_m R_m[s,t] k_m(x, z). An entry of 0 keeps two tasks apart; a matrix of ones pools
them. Penalties on W correspond to their (pseudo-)inverse Q, by ½ tr(W Q W').

`task_kernels_from_spec` makes them from the mappings of a configuration file.

References
----------
.. [1] C. Widmer, M. Kloft, V. T. Sreedharan and G. Rätsch, Framework for multi-task
   multiple kernel learning and applications in genome analysis, arXiv:1506.09153, 2015.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mtmkl.kernels.base import FloatArray
from mtmkl.kernels.gram import check_task_kernel


def single_task(n_tasks: int) -> FloatArray:
    """Return the identity: tasks apart, each with the same kernel weight (Dirac).

    Parameters
    ----------
    n_tasks : int
        T, at least 1.

    Returns
    -------
    ndarray of shape (T, T)
    """
    return np.eye(_positive_count(n_tasks))


def each_task(n_tasks: int) -> list[FloatArray]:
    """Return one matrix per task, e_t e_t': tasks apart, each with its own weight.

    Parameters
    ----------
    n_tasks : int
        T, at least 1.

    Returns
    -------
    list of T ndarrays of shape (T, T)
    """
    return [np.diag(row) for row in np.eye(_positive_count(n_tasks))]


def union(n_tasks: int) -> FloatArray:
    """Return the matrix of ones: all tasks pooled (the uniform kernel).

    Parameters
    ----------
    n_tasks : int
        T, at least 1.

    Returns
    -------
    ndarray of shape (T, T)
    """
    return np.ones((_positive_count(n_tasks), n_tasks))


def dirac_uniform(n_tasks: int) -> list[FloatArray]:
    """Return the identity and the matrix of ones, a weight each [1]_.

    Parameters
    ----------
    n_tasks : int
        T, at least 1.

    Returns
    -------
    list of two ndarrays of shape (T, T)

    References
    ----------
    .. [1] L. Jacob and J.-P. Vert, Efficient peptide-MHC-I binding prediction for
       alleles with few known binders, Bioinformatics 24, 2008.
    """
    return [single_task(n_tasks), union(n_tasks)]


def frustratingly_easy(n_tasks: int) -> FloatArray:
    """Return I + 11': a pair of tasks shares half of what a task shares with itself.

    It is the kernel of features that stand twice in each example, once for all tasks
    and once for its own [1]_.

    Parameters
    ----------
    n_tasks : int
        T, at least 1.

    Returns
    -------
    ndarray of shape (T, T)

    References
    ----------
    .. [1] H. Daumé III, Frustratingly easy domain adaptation, Annual Meeting of the
       Association for Computational Linguistics, 2007.
    """
    return single_task(n_tasks) + union(n_tasks)


def task_clustering(
    assignments: ArrayLike, *, centre: float = 1.0, ridge: float = 0.0
) -> FloatArray:
    r"""Return (λI + G)^{-1}: tasks are drawn to the centres of their clusters.

    With ρ_m^t ≥ 0 the degree to which task t belongs to cluster m,
    G_st = Σ_m (ρ_m^t δ_st − ρ_m^s ρ_m^t / (ρ + Σ_r ρ_m^r)), eqs. (13) to (15) of [1]_.

    Parameters
    ----------
    assignments : array-like of shape (n_clusters, T)
        ρ_m^t, finite, at least 0. One row of ones with the defaults gives
        `frustratingly_easy`.
    centre : float
        ρ > 0, the penalty on the centres; the smaller, the more the tasks share.
    ridge : float
        λ ≥ 0, the penalty on each task. It must be positive if a task belongs to no
        cluster.

    Returns
    -------
    ndarray of shape (T, T)

    Raises
    ------
    ValueError
        If a value is out of its range, or a task without ridge is in no cluster.
    """
    rho = np.array(assignments, dtype=np.float64)
    if rho.ndim != 2 or not rho.size:
        raise ValueError(
            "assignments must have one row per cluster and one column per task, got "
            f"shape {rho.shape}"
        )
    if not (np.isfinite(rho) & (rho >= 0)).all():
        wrong = rho[~(np.isfinite(rho) & (rho >= 0))][0]
        raise ValueError(f"assignments must be finite and at least 0, got {wrong:g}")
    _require_positive("centre", centre)
    if not (ridge >= 0 and np.isfinite(ridge)):
        raise ValueError(f"ridge must be finite and at least 0, got {ridge}")
    outside = np.flatnonzero(rho.sum(axis=0) == 0)
    if ridge == 0 and outside.size:
        raise ValueError(
            f"task {outside[0]} is in no cluster: give it one, or set ridge above 0"
        )
    sizes = rho.sum(axis=1)
    Q = np.diag(ridge + rho.sum(axis=0)) - (rho.T / (centre + sizes)) @ rho
    return _inverse(Q)


def graph_laplacian(adjacency: ArrayLike) -> FloatArray:
    """Return (I + L)^{-1}: neighbours in a graph have close weights.

    L = D − A is the Laplacian of the graph; the penalty is
    ½ (Σ_t ||w_t||² + Σ_{s<t} A_st ||w_s − w_t||²), each pair counted once.

    Parameters
    ----------
    adjacency : array-like of shape (T, T)
        A, symmetric, finite, at least 0; its diagonal is of no account.

    Returns
    -------
    ndarray of shape (T, T)

    Raises
    ------
    ValueError
        If A is not such a matrix.
    """
    A = _pairs(adjacency, "adjacency")
    np.fill_diagonal(A, 0.0)
    return _inverse(np.eye(len(A)) + np.diag(A.sum(axis=0)) - A)


def smooth(distances: ArrayLike, scales: Sequence[float]) -> list[FloatArray]:
    """Return exp(−D_st / σ) for each scale σ.

    The larger σ, the more the tasks share. If D is the length of the path between two
    leaves of a tree, as in a phylogeny, all these are positive semi-definite; of other
    distances some may not be, and are refused.

    Parameters
    ----------
    distances : array-like of shape (T, T)
        D, symmetric, finite, at least 0, with a diagonal of 0.
    scales : sequence of float
        σ > 0, in the units of the distances.

    Returns
    -------
    list of ndarrays of shape (T, T)

    Raises
    ------
    ValueError
        If D or a scale is out of its range, or a matrix is not positive semi-definite.
    """
    D = _pairs(distances, "distances")
    if np.diag(D).any():
        wrong = np.flatnonzero(np.diag(D))[0]
        raise ValueError(
            f"the distance of task {wrong} to itself must be 0, got {D[wrong, wrong]:g}"
        )
    if not np.ndim(scales) == 1 or not len(scales):
        raise ValueError(f"scales must be a list of numbers, got {scales!r}")
    kernels = []
    for scale in scales:
        _require_positive("scales", scale)
        try:
            kernels.append(_checked(np.exp(-D / scale)))
        except ValueError as error:
            raise ValueError(
                f"exp(-distance/{scale:g}) is no task kernel ({error}): use smaller "
                "scales, or distances along a tree"
            ) from None
    return kernels


def hierarchy(
    tree: str | Sequence[int], tasks: Sequence[str], *, centre: float = 1.0
) -> list[FloatArray]:
    """Return one matrix per inner node of a tree, over the tasks below it.

    A node is a cluster of the tasks among its leaves. In [1]_, sec. 2.6.2, its matrix
    is the pseudo-inverse of G_m of `task_clustering`, which is 1_st (δ_st + 1/ρ) with
    1_st = 1 for two tasks below the node, and 0 otherwise.

    Parameters
    ----------
    tree : str or sequence of int
        Newick text with the tasks among its leaves; or the number of the parent of each
        node, −1 for the root, nodes 0..T-1 being the tasks. Leaves of a Newick tree
        that are no task are left out; so are nodes that then have but one task below,
        or the same tasks as a node below them.
    tasks : sequence of str
        Names of the T tasks, in order.
    centre : float
        ρ > 0, as in `task_clustering`; towards 0 the tasks below a node are pooled.

    Returns
    -------
    list of ndarrays of shape (T, T)
        In the order of :func:`clusters`.

    Raises
    ------
    ValueError
        If the tree is malformed, a task is not one of its leaves, or no node has two
        tasks below.
    """
    _require_positive("centre", centre)
    kernels = []
    for members in clusters(tree, tasks):
        inside = np.zeros(len(tasks))
        inside[members] = 1.0
        kernels.append(np.diag(inside) + np.outer(inside, inside) / centre)
    return kernels


def given(similarity: ArrayLike) -> FloatArray:
    """Return a matrix of similarities, for instance the true one of made data.

    Parameters
    ----------
    similarity : array-like of shape (T, T)
        Symmetric, positive semi-definite.

    Returns
    -------
    ndarray of shape (T, T)

    Raises
    ------
    ValueError
        If the matrix is not such a matrix; the least eigenvalue is named.
    """
    return _checked(similarity)


def unit_mean_diagonal(kernel: ArrayLike) -> FloatArray:
    """Return R · T / tr(R), whose diagonal has a mean of 1.

    With it, terms on one feature map have the same mean of k̃_m(x, x) over the tasks, so
    that weights compare, and none is favoured by its scale.

    Parameters
    ----------
    kernel : array-like of shape (T, T)
        R, symmetric, positive semi-definite, not 0.

    Returns
    -------
    ndarray of shape (T, T)

    Raises
    ------
    ValueError
        If R is not a task kernel, or 0.
    """
    R = _checked(kernel)
    if not np.trace(R) > 0:
        raise ValueError("a task kernel of zeros cannot be normalised: leave it out")
    return R * (len(R) / np.trace(R))


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
        As in :func:`hierarchy`.

    Returns
    -------
    list of lists of int
        From the root to the leaves: larger clusters first, those of one size by their
        tasks.

    Raises
    ------
    ValueError
        As :func:`hierarchy`.
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


def task_kernels_from_spec(
    spec: Mapping[str, Any] | str | Sequence[Mapping[str, Any] | str],
    tasks: Sequence[str],
    *,
    matrices: Mapping[str, ArrayLike] | None = None,
) -> list[tuple[str, FloatArray]]:
    """Return labelled task kernels from a specification or a list of them.

    Parameters
    ----------
    spec : mapping, str or sequence of these
        A name, or a mapping of ``name`` and the parameters:

        ==================== =========================================================
        name                 parameters
        ==================== =========================================================
        single_task
        each_task
        union
        dirac_uniform
        frustratingly_easy
        task_clustering      assignments; centre, ridge
        graph_laplacian      adjacency
        hierarchy            tree; centre
        smooth               distances, scales
        given                similarity
        ==================== =========================================================

        as in the functions of this module. Several graphs are a list of
        ``graph_laplacian``. ``adjacency``, ``distances`` and ``similarity`` are
        matrices, or names in ``matrices``. With ``normalize: true`` each kernel is
        passed through `unit_mean_diagonal`; without, it is as the functions return it.
    tasks : sequence of str
        Names of the tasks, in the order of the rows.
    matrices : mapping, optional
        Matrices over the tasks by name, such as the distances of a phylogeny.

    Returns
    -------
    list of (str, ndarray of shape (T, T))
        Labels and kernels, at least one.

    Raises
    ------
    ValueError
        If a name or a parameter is not known or missing, or a value is not valid.

    Examples
    --------
    >>> spec = ["union", {"name": "smooth", "distances": [[0, 1], [1, 0]],
    ...                   "scales": [0.5]}]
    >>> [label for label, _ in task_kernels_from_spec(spec, ["a", "b"])]
    ['union', 'smooth, σ = 0.5']
    """
    if isinstance(spec, str | Mapping):
        return _kernels_of(spec, [str(task) for task in tasks], matrices or {})
    if not isinstance(spec, Sequence) or not spec:
        raise ValueError(f"not a specification of task kernels: {spec!r}")
    labelled = []
    for each in spec:
        if not isinstance(each, str | Mapping):
            raise ValueError(f"not a specification of task kernels: {each!r}")
        labelled += task_kernels_from_spec(each, tasks, matrices=matrices)
    return labelled


_BUILDERS: dict[str, Callable[..., Any]] = {
    "single_task": single_task,
    "each_task": each_task,
    "union": union,
    "dirac_uniform": dirac_uniform,
    "frustratingly_easy": frustratingly_easy,
    "task_clustering": task_clustering,
    "graph_laplacian": graph_laplacian,
    "hierarchy": hierarchy,
    "smooth": smooth,
    "given": given,
}
_MATRICES = ("adjacency", "distances", "similarity")
_NOT_IN_SPEC = ("n_tasks", "tasks")  # the data say these


def _kernels_of(
    spec: Mapping[str, Any] | str, tasks: list[str], matrices: Mapping[str, ArrayLike]
) -> list[tuple[str, FloatArray]]:
    values: dict[str, Any] = {"name": spec} if isinstance(spec, str) else dict(spec)
    name = values.pop("name", None)
    if name not in _BUILDERS:
        raise ValueError(
            f"unknown task kernel {name!r}; known: {', '.join(sorted(_BUILDERS))}"
        )
    normalize = values.pop("normalize", False)
    if not isinstance(normalize, bool):
        raise ValueError(f"{name}: normalize must be true or false, got {normalize!r}")
    accepted = signature(_BUILDERS[name]).parameters
    known = {key: each for key, each in accepted.items() if key not in _NOT_IN_SPEC}
    unknown = ", ".join(repr(key) for key in values if key not in known)
    if unknown:
        raise ValueError(
            f"task kernel {name!r} has no {unknown}; its parameters: "
            f"{', '.join([*known, 'normalize'])}"
        )
    for key, each in known.items():
        if each.default is each.empty and key not in values:
            raise ValueError(f"task kernel {name!r} needs {key}")
    for key in ("centre", "ridge"):
        if key in values and not _is_number(values[key]):
            raise ValueError(f"{name}: {key} must be a number, got {values[key]!r}")
    for key in _MATRICES:
        if isinstance(values.get(key), str):
            values[key] = _named(matrices, values[key], f"{name}: {key}")
    if "n_tasks" in accepted:
        values["n_tasks"] = len(tasks)
    if "tasks" in accepted:
        values["tasks"] = tasks
    kernels = _BUILDERS[name](**values)
    labels = [name.replace("_", " ")]
    if isinstance(kernels, list):
        labels = [f"{labels[0]}, {part}" for part in _parts(name, values, tasks)]
    else:
        kernels = [kernels]
    for kernel in kernels:
        if len(kernel) != len(tasks):
            raise ValueError(
                f"task kernel {name!r} is over {len(kernel)} tasks, the data have "
                f"{len(tasks)}"
            )
    if normalize:
        kernels = [unit_mean_diagonal(kernel) for kernel in kernels]
    return list(zip(labels, kernels, strict=True))


def _parts(name: str, values: Mapping[str, Any], tasks: list[str]) -> list[str]:
    """Return what tells the kernels of a list apart."""
    if name == "smooth":
        return [f"σ = {scale:g}" for scale in values["scales"]]
    if name == "hierarchy":
        return [
            " + ".join(tasks[t] for t in members)
            for members in clusters(values["tree"], tasks)
        ]
    return tasks if name == "each_task" else ["Dirac", "uniform"]


def _named(matrices: Mapping[str, ArrayLike], name: str, what: str) -> ArrayLike:
    if name not in matrices:
        raise ValueError(
            f"{what} {name!r} is not known; known: {', '.join(sorted(matrices)) or '-'}"
        )
    return matrices[name]


def _checked(values: ArrayLike) -> FloatArray:
    return check_task_kernel(values, len(np.atleast_1d(values)))


def _inverse(Q: FloatArray) -> FloatArray:
    inverse = np.linalg.inv(Q)
    symmetric: FloatArray = 0.5 * (inverse + inverse.T)
    return _checked(symmetric)


def _pairs(values: ArrayLike, name: str) -> FloatArray:
    """Return a copy of a symmetric matrix of finite numbers of at least 0."""
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"{name} must be a square matrix, got shape {matrix.shape}")
    valid = np.isfinite(matrix) & (matrix >= 0)
    if not valid.all():
        raise ValueError(
            f"{name} must be finite and at least 0, got {matrix[~valid][0]:g}"
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12 * matrix.max()):
        s, t = np.argwhere(~np.isclose(matrix, matrix.T, rtol=1e-10, atol=0.0))[0]
        raise ValueError(
            f"{name} must be symmetric, but of tasks {s} and {t} it has "
            f"{matrix[s, t]:g} and {matrix[t, s]:g}"
        )
    return matrix


def _positive_count(n_tasks: int) -> int:
    if not n_tasks >= 1:
        raise ValueError(f"n_tasks must be at least 1, got {n_tasks}")
    return n_tasks


def _require_positive(name: str, value: float) -> None:
    if not (_is_number(value) and value > 0 and np.isfinite(value)):
        raise ValueError(f"{name} must be positive and finite, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


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
