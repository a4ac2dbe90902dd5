"""Classification tasks at the leaves of a binary tree: near ones are alike."""

import math
import zlib
from collections.abc import Sequence
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.utils._param_validation import Interval, StrOptions

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.synthetic import COUNT, NOT_NEGATIVE, SHARED, validated
from mtmkl.typing import FloatArray

Reading = Literal["standard_deviation", "variance"]


@validated(
    {
        **SHARED,
        "spread": [Interval(Real, 0, np.inf, closed="neither")],
        "reading": [StrOptions({"standard_deviation", "variance"})],
        "dims": COUNT,
        "depth": COUNT,
        "flips": NOT_NEGATIVE,
        "n_validation": COUNT,
    }
)
def toy_tree(
    *,
    spread: float = 20.0,
    reading: Reading = "standard_deviation",
    dims: int = 100,
    depth: int = 5,
    flips: int = 5,
    n_train: int = 10,
    n_validation: int = 100,
    n_test: int = 1000,
    seed: int = 0,
) -> MultiTaskData:
    r"""Draw the hierarchical tasks of Widmer et al. (2015), Section 4.2.

    The root of a binary tree has μ = (1, …, 1). Along every edge the signs of a few
    entries, drawn anew, are flipped. The task of leaf t has

    .. math::

        y = \pm 1 \text{ equally often}, \qquad x \mid y \sim N(\tfrac{1}{2} y \mu_t,
        \sigma^2 I).

    The paper has 32 tasks, at the leaves of a tree of depth 5 (its text says 4); 10
    training and 1,000 test samples per class and task; and "a standard deviation of
    σ = 20". It does not say on how many samples C was chosen: here on a draw of its
    own.

    Parameters
    ----------
    spread : float
        Positive.
    reading : {"standard_deviation", "variance"}
        Meaning of ``spread``: σ or σ².
    dims, depth, flips : int
        d; edges from the root to a leaf, so that there are 2^depth tasks; entries
        flipped along an edge, at most d.
    n_train, n_validation, n_test : int
        Samples per class and task.
    seed : int
        Not negative. The same seed gives the same tree, and the same samples up to the
        spread; more samples of a role extend the draw of fewer.

    Returns
    -------
    MultiTaskData
        Rows sorted by task, its classes in turns. ``truth`` has "is_validation" and
        "is_test" (n,); "coef" (d, T), the differences μ_t of the means; "similarity"
        (T, T), their scalar products; "parents", the tree as the number of the parent
        of each node, the T tasks first and −1 for the root; and "bayes_auc" (T,), the
        largest area under the ROC curve that is possible. Methods find the tree and the
        similarity by these names, "tree" and "similarity".
    """
    if flips > dims:
        raise ValueError(f"flips is {flips}, wanted at most the {dims} dims")
    sd = standard_deviation(spread, reading)
    root = np.random.SeedSequence([zlib.crc32(b"toy_tree"), seed])
    tree, *examples = (np.random.default_rng(child) for child in root.spawn(4))
    mu = _leaves(tree, dims, depth, flips)
    n_tasks = len(mu)
    names = tuple(f"leaf {t + 1}" for t in range(n_tasks))
    label = np.array([1.0, -1.0])
    counts = (n_train, n_validation, n_test)
    # Samples first, so that more of them do not change those before.
    noise = [
        rng.standard_normal((count, 2, n_tasks, dims))
        for rng, count in zip(examples, counts, strict=True)
    ]
    X = sd * np.concatenate(noise)
    X += 0.5 * label[:, None, None] * mu
    n = sum(counts)
    role = np.repeat([0, 1, 2], counts)
    role = np.tile(np.repeat(role, 2), n_tasks)
    return MultiTaskData(
        X=X.transpose(2, 0, 1, 3).reshape(-1, dims),
        y=np.tile(label, n * n_tasks),
        task=np.repeat(np.arange(n_tasks), 2 * n),
        name="toy_tree",
        task_names=names,
        task_relations={"tree": f"{_newick(names)};", "similarity": mu @ mu.T},
        origin="synthetic",
        truth={
            "is_validation": role == 1,
            "is_test": role == 2,
            "coef": mu.T,
            "similarity": mu @ mu.T,
            "parents": np.array(_parents(depth)),
            "bayes_auc": bayes_auc(mu, sd),
        },
    )


def standard_deviation(spread: float, reading: Reading) -> float:
    """Return σ for a spread by its reading."""
    return spread if reading == "standard_deviation" else math.sqrt(spread)


def bayes_auc(mu: ArrayLike, sd: float) -> FloatArray:
    """Return the largest area under the ROC curve of each task, of μ (..., d) and σ.

    The best score is ⟨μ, x⟩, by which a positive sample less a negative one is
    N(‖μ‖², 2σ²‖μ‖²); the chance that it is positive is Φ(‖μ‖/(√2 σ)).
    """
    norm = np.linalg.norm(np.asarray(mu, dtype=np.float64), axis=-1)
    area: FloatArray = ndtr(norm / (math.sqrt(2.0) * sd))
    return area


def _leaves(rng: np.random.Generator, dims: int, depth: int, flips: int) -> FloatArray:
    """Return the differences of means at the leaves, (2^depth, dims)."""
    mu = np.ones((1, dims))
    for _ in range(depth):
        mu = np.repeat(mu, 2, axis=0)
        for child in mu:
            child[rng.choice(dims, flips, replace=False)] *= -1.0
    return mu


def _newick(names: Sequence[str]) -> str:
    """Return the balanced binary tree of some leaves as Newick text."""
    if len(names) == 1:
        return f"'{names[0]}'"
    half = len(names) // 2
    return f"({_newick(names[:half])},{_newick(names[half:])})"


def _parents(depth: int) -> list[int]:
    """Return the number of the parent of each node, level by level from the leaves."""
    parents: list[int] = []
    end = 2**depth
    for level in range(depth, 0, -1):
        parents += [end + k // 2 for k in range(2**level)]
        end += 2 ** (level - 1)
    return [*parents, -1]
