from types import SimpleNamespace

import numpy as np
import pytest
from method_cases import Case
from model_objectives import relative_entropy
from sklearn.base import clone

from mtmkl.methods.med_graph_structure import MEDGraphStructure
from mtmkl.methods.neighbourhood_selection import NeighbourhoodSelection

METHODS = [MEDGraphStructure(alpha=50.0), NeighbourhoodSelection(alpha=1.0)]
both = pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)


ADJACENCY = np.diag([1, 1, 0, 1], 1) + np.diag([1, 1, 0, 1], -1)


def draw(n, seed):
    """Return samples of an Ising model on a path of three nodes and one of two."""
    states = (np.arange(32)[:, None] >> np.arange(5)) & 1
    signs = 2.0 * states - 1.0
    energy = 0.3 * np.einsum("im,mn,in->i", signs, ADJACENCY, signs)
    p = np.exp(energy) / np.exp(energy).sum()
    return states[np.random.default_rng(seed).choice(32, n, p=p)].astype(float)


@pytest.fixture(scope="module")
def samples():
    return draw(400, 1)


@both
def test_edges_are_ranked_first(method, samples):
    scores = method.fit(samples).edge_scores_
    pairs = np.triu_indices(5, 1)
    edge = ADJACENCY[pairs] == 1
    assert scores[pairs][edge].min() > scores[pairs][~edge].max()
    np.testing.assert_array_equal(scores, scores.T)
    np.testing.assert_array_equal(np.diag(scores), 0.0)
    # Other codings are made binary.
    second = method.fit(2 * samples - 1).edge_scores_
    np.testing.assert_array_equal(scores, second)


@both
def test_multi_task_data_give_the_same_graph(method, samples):
    def as_tasks(X):
        return np.tile(X, (5, 1)), 2 * X.T.ravel() - 1, np.repeat(np.arange(5), len(X))

    alone = method.fit(samples).edge_scores_
    X, y, task = as_tasks(samples)
    fitted = method.fit(X, y, task=task)
    np.testing.assert_array_equal(fitted.edge_scores_, alone)
    X, y, task = as_tasks(draw(50, 2))
    labels = fitted.predict(X, task=task)
    assert np.mean(labels == y) > 0.6
    every = fitted.predict(X[:50])
    np.testing.assert_array_equal(every.T.ravel(), labels)


@both
def test_node_itself_is_no_input(method, samples):
    fitted = method.fit(samples)
    np.testing.assert_array_equal(np.diag(fitted.coef_), 0.0)
    flipped = samples.copy()
    flipped[:, 2] = 1 - flipped[:, 2]
    scores = fitted.decision_function(samples)
    np.testing.assert_allclose(
        fitted.decision_function(flipped)[:, 2], scores[:, 2], rtol=1e-9, atol=1e-12
    )


@both
def test_a_threshold_set_after_the_fit_changes_no_prediction(method, samples):
    model = next(clone(method).fit_path(samples, grid=[{}]))
    expected = model.decision_function(samples)
    model.set_params(binarize=5.0)
    np.testing.assert_array_equal(model.decision_function(samples), expected)


@both
def test_tasks_that_are_not_nodes_are_refused(method, samples):
    n = len(samples)
    with pytest.raises(ValueError, match="one task per node is needed: got 2"):
        method.fit(samples, task=np.arange(n) % 2)
    with pytest.raises(ValueError, match="must hold the same samples"):
        method.fit(samples, task=np.arange(n) % 5)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        method.fit(samples[:, :1])
    data = SimpleNamespace(X=samples, n_tasks=5, name="paths")
    assert type(method).unsupported(data) is None
    data.n_tasks = 2
    assert "one task per node" in type(method).unsupported(data)


@both
def test_labels_in_another_order_than_the_columns_are_refused(method):
    X = np.random.default_rng(0).integers(2, size=(20, 11))
    names = np.repeat([f"node {k + 1}" for k in range(11)], len(X))
    with pytest.raises(ValueError, match="task 'node 10' is not column 1 of X"):
        method.fit(np.tile(X, (11, 1)), 2 * X.T.ravel() - 1, names)


@both
def test_a_node_that_never_varies(method, samples):
    constant = samples.copy()
    constant[:, 1] = 1.0
    fitted = method.fit(constant)
    assert np.all(np.isfinite(fitted.edge_scores_))
    np.testing.assert_array_equal(fitted.predict(constant)[:, 1], 1.0)


def test_edges_without_any_weight_are_tied(samples):
    # Two nodes that never change have no edges; only rounding tells theirs apart.
    constant = samples.copy()
    constant[:, 3:] = 1.0
    for C in (0.1, 1.0, 10.0):
        scores = MEDGraphStructure(C=C, alpha=5.0).fit(constant).edge_scores_
        assert np.unique(scores[3, :3]).size == 1
        assert np.unique(scores[4, :3]).size == 1


def test_path_of_graphs_equals_single_fits(samples):
    grid = [{"C": C, "alpha": a} for C in (10.0, 0.1) for a in (100.0, 0.0, 3.0)]
    path = list(MEDGraphStructure(tol=1e-11).fit_path(samples, grid=grid))
    for point, fitted in zip(grid, path, strict=True):
        single = MEDGraphStructure(tol=1e-11, **point).fit(samples)
        assert fitted.get_params() == single.get_params()
        np.testing.assert_allclose(fitted.switches_, single.switches_, atol=1e-4)


def test_and_needs_both_ends_or_one(samples):
    for rule, of_both, is_edge in (
        ("and", np.minimum, np.logical_and),
        ("or", np.maximum, np.logical_or),
    ):
        fitted = NeighbourhoodSelection(alpha=12.0, rule=rule).fit(samples)
        magnitude = np.abs(fitted.coef_)
        expected = of_both(magnitude, magnitude.T)
        np.testing.assert_array_equal(fitted.edge_scores_, expected)
        expected = is_edge(magnitude > 0, magnitude.T > 0)
        np.testing.assert_array_equal(fitted.adjacency_, expected)


def med_objective(model, X, y, task):
    signs, scores = 2 * X - 1, model.decision_function(X)
    above = np.triu_indices(X.shape[1], 1)
    squares = (model.coef_**2 + model.coef_.T**2)[above]
    switches = model.switches_[above]
    penalty = relative_entropy(switches, model.log_alpha_)
    penalty += 0.5 * np.sum(squares / switches)
    return model.C * np.maximum(1 - signs * scores, 0.0).sum() + penalty


def logistic_objective(model, X, y, task):
    signs, scores = 2 * X - 1, model.decision_function(X)
    varying = np.ptp(X, axis=0) > 0
    losses = np.logaddexp(0.0, -(signs * scores)[:, varying]).sum()
    return losses + model.alpha * np.abs(model.coef_).sum()


GRID = [{"alpha": alpha} for alpha in (1.0, 20.0, 0.05)]
CASES = {
    "MEDGraphStructure": Case(objective=med_objective, grid=GRID),
    "NeighbourhoodSelection": Case(objective=logistic_objective, grid=GRID),
}
