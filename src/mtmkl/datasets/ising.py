"""Samples of random Ising models, whose graphs are to be found."""

import zlib
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.synthetic import SHARED, validated
from mtmkl.typing import FloatArray, IntArray

MAX_NODES = 20
"""Nodes up to which all 2^D states are listed."""

_MAX_DRAWS = 1000


@validated(
    {
        **SHARED,
        "n_nodes": [Interval(Integral, 3, MAX_NODES, closed="both")],
        "edge_probability": [Interval(Real, 0, 1, closed="neither"), None],
        "least_coupling": [Interval(Real, 0, np.inf, closed="neither")],
        "largest_coupling": [Interval(Real, 0, np.inf, closed="neither")],
    }
)
def ising_graphs(
    *,
    n_nodes: int = 5,
    n_train: int = 60,
    n_test: int = 200,
    edge_probability: float | None = None,
    least_coupling: float = 0.5,
    largest_coupling: float = 1.5,
    seed: int = 0,
) -> MultiTaskData:
    r"""Draw a random graph, an Ising model on it, and independent samples of that.

    .. math::

        p(x) \propto \exp\Bigl(\sum_m \eta(m) x(m) + \sum_{m, n} E(m, n) \theta(m, n)
        x(m) x(n)\Bigr), \qquad x \in \{0, 1\}^D,

    as in Jebara (2011), section 12, who leaves the parameters open. Here edges are
    independent, couplings θ have a uniform magnitude and a random sign, and
    η(m) = −Σ_n E(m, n) θ(m, n), by which every node is 1 half of the time. Samples are
    exact draws from the 2^D states.

    Parameters
    ----------
    n_nodes : int
        D, from 3 to 20.
    n_train, n_test : int
        Samples for training and for testing.
    edge_probability : float, optional
        Between 0 and 1; by default 2/(D − 1), at most ½: two neighbours per node.
        Graphs without an edge, or with all, are drawn again.
    least_coupling, largest_coupling : float
        Range of the magnitude of θ, positive.
    seed : int
        Not negative. The same seed gives the same graph and the same first samples
        whatever the numbers of samples are.

    Returns
    -------
    MultiTaskData
        One task per node, each with all samples: X holds the D nodes as 0 and 1, y is
        2x(m) − 1 for the node m of the task. ``truth`` has "is_test" (n,), "adjacency"
        E and "coupling" E·θ, both (D, D), the first as 0 and 1, and "field" η (D,).
    """
    if edge_probability is None:
        edge_probability = min(0.5, 2.0 / (n_nodes - 1))
    if least_coupling > largest_coupling:
        raise ValueError(
            f"least_coupling is {least_coupling}, more than the {largest_coupling} of "
            "largest_coupling"
        )
    root = np.random.SeedSequence([zlib.crc32(b"ising_graphs"), seed])
    graph_rng, sample_rng = (np.random.default_rng(child) for child in root.spawn(2))
    adjacency = _random_graph(graph_rng, n_nodes, edge_probability)
    magnitude = graph_rng.uniform(least_coupling, largest_coupling, (n_nodes, n_nodes))
    sign = np.where(graph_rng.random((n_nodes, n_nodes)) < 0.5, -1.0, 1.0)
    upper = np.triu(adjacency * magnitude * sign, 1)
    coupling = upper + upper.T
    field = -coupling.sum(axis=1)

    X = _exact_samples(sample_rng, coupling, field, n_train + n_test)
    n = n_train + n_test
    return MultiTaskData(
        X=np.tile(X, (n_nodes, 1)),
        y=(2.0 * X - 1.0).T.ravel(),
        task=np.repeat(np.arange(n_nodes), n),
        sample=np.tile(np.arange(n), n_nodes),
        name="ising_graphs",
        task_names=tuple(f"node {m + 1}" for m in range(n_nodes)),
        origin="synthetic",
        truth={
            "is_test": np.tile(np.arange(n) >= n_train, n_nodes),
            "adjacency": adjacency.astype(np.intp),
            "coupling": coupling,
            "field": field,
        },
    )


def state_probabilities(coupling: FloatArray, field: FloatArray) -> FloatArray:
    """Return the probabilities of all 2^D states of an Ising model.

    The couplings E·θ (D, D) are symmetric with a zero diagonal, the fields are η (D,).
    Node m of state k is bit m of k (see ``states``).
    """
    # The two halves of the nodes are listed by themselves, and meet in one product.
    half = field.size // 2
    low = states(np.arange(2**half), half)
    high = states(np.arange(2 ** (field.size - half)), field.size - half)
    parts = []
    for listed, mine in ((low, slice(0, half)), (high, slice(half, None))):
        inner = np.einsum("sm,sm->s", listed @ coupling[mine, mine], listed)
        parts.append(listed @ field[mine] + inner)
    between = 2.0 * high @ coupling[half:, :half] @ low.T
    log_weight = (parts[1][:, None] + parts[0][None, :] + between).ravel()
    weight = np.exp(log_weight - log_weight.max())
    probability: FloatArray = weight / weight.sum()
    return probability


def states(numbers: IntArray, n_nodes: int) -> FloatArray:
    """Return states by their numbers as 0 and 1, (k, D)."""
    bits: FloatArray = ((numbers[:, None] >> np.arange(n_nodes)) & 1).astype(np.float64)
    return bits


def _random_graph(
    rng: np.random.Generator, n_nodes: int, edge_probability: float
) -> NDArray[np.bool_]:
    for _ in range(_MAX_DRAWS):
        upper = np.triu(rng.random((n_nodes, n_nodes)) < edge_probability, 1)
        if 0 < upper.sum() < n_nodes * (n_nodes - 1) // 2:
            return upper | upper.T
    raise ValueError(
        f"edge_probability {edge_probability} gives no graph with some edges and some "
        "missing"
    )


def _exact_samples(
    rng: np.random.Generator, coupling: FloatArray, field: FloatArray, n: int
) -> FloatArray:
    cumulative = np.cumsum(state_probabilities(coupling, field))
    numbers = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], "right")
    return states(np.minimum(numbers, cumulative.size - 1), field.size)
