"""Multi-task multiple kernel learning: terms, solvers, attributes and special cases."""

import numpy as np
import pytest
from method_cases import COSTS, FEW_KERNELS, SQUARE, Case
from method_cases import GAUSSIAN as NARROW
from model_objectives import assert_outputs, grams_of
from mt_mkl_problems import CHAIN, problem
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mtmkl.kernels.base import Linear
from mtmkl.kernels.task_kernels import graph_laplacian, hierarchy, union
from mtmkl.methods import MultiTaskMKLClassifier, multi_task_mkl
from mtmkl.methods._base.multi_task_terms import MultiTaskTerms

GAUSSIAN = {"name": "gaussian", "width": 2.0}
UNION = [("linear", "union")]
GRAPH = {"name": "graph_laplacian", "adjacency": CHAIN.tolist()}
COSINE = {"normalize": "cosine", "fit_intercept": False}
NAMES = np.array(["beech", "oak", "fir", "pine"])  # their sorted order is another


def mixed(seed=0):
    """Return training and other samples."""
    X, y, task = problem(seed, sizes=(25, 25, 25, 25))
    return X[:60], y[:60], task[:60], X[60:], task[60:]


def scores(model, X, task):
    return model.decision_function(X, task)


@pytest.mark.parametrize("solver", ["gram", "features"])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_fitted_attributes(solver, loss):
    X, y, task, Z, other = mixed()
    terms = [("linear", [GRAPH, "union"])]
    R = [graph_laplacian(CHAIN), union(4)]
    options = {"loss": loss, "solver": solver, "fit_intercept": False}
    model = MultiTaskMKLClassifier(terms, p=3, C=0.5, tol=1e-9, **options)
    model.fit(X, y, task)
    assert model.duality_gap_ <= 1e-9
    assert model.solver_ == solver
    assert model.n_iter_ >= 1
    similarity = np.tensordot(model.weights_, R, axes=1)
    np.testing.assert_allclose(model.task_similarity_, similarity)
    expected = similarity[np.ix_(other, task)] * (Z @ X.T) @ model.dual_coef_
    np.testing.assert_allclose(scores(model, Z, other), expected, atol=1e-9)
    by_coef = np.einsum("ij,ji->i", Z, model.coef_[:, other])
    np.testing.assert_allclose(by_coef, expected, atol=1e-9)
    np.testing.assert_array_equal(model.intercept_, np.zeros(4))
    assert [name.partition(" × ")[2] for name in model.term_names_] == [
        "graph laplacian",
        "union",
    ]


@pytest.mark.parametrize(
    ("X", "terms", "options", "solver"),
    [
        (np.asarray, UNION, {"fit_intercept": False}, "features"),
        (np.asarray, UNION, {"solver": "features"}, "features"),
        (csr_array, UNION, {"loss": "logistic"}, "features"),
        (np.asarray, [(Linear(1.0), "union")], COSINE, "features"),
        (csr_array, [(GAUSSIAN, "union")], {}, "gram"),
        (np.asarray, [*UNION, (GAUSSIAN, "union")], {}, "gram"),
        (np.asarray, UNION, {}, "gram"),
        (np.asarray, UNION, {"solver": "gram"}, "gram"),
    ],
)
def test_which_solver_runs(X, terms, options, solver):
    inputs, y, task, *_ = mixed()
    model = MultiTaskMKLClassifier(terms, **options).fit(X(inputs), y, task)
    assert model.solver_ == solver
    # Intercepts are the default of the hinge loss, and are for Gram matrices alone.
    assert model.intercept_.any() == (solver == "gram")


@pytest.mark.parametrize(
    "options",
    [{"fit_intercept": True}, {"fit_intercept": False}, {"solver": "gram"},
     {"solver": "features"}, {"loss": "logistic"}, {"terms": [(GAUSSIAN, "union")]}],
)  # fmt: skip
def test_a_default_alone_builds_no_large_gram_matrices(options, monkeypatch):
    X, y, task, *_ = mixed()
    monkeypatch.setattr(multi_task_mkl, "_MOST_BY_DEFAULT", 59)
    with pytest.raises(ValueError, match=r"60 samples, .* give fit_intercept=False"):
        MultiTaskMKLClassifier().fit(X, y, task)
    MultiTaskMKLClassifier(**options).fit(X, y, task)


@pytest.mark.filterwarnings("error")
def test_gram_matrices_take_over_where_epochs_end_short():
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(4), 20)
    X = rng.standard_normal((80, 10)) * 10.0 ** rng.integers(-1, 2, 10)
    y = np.sign(X[:, 0] + 3.0 * np.abs(X[:, 0]).mean() * rng.standard_normal(80))
    terms = [("linear", ["union", "each_task"])]
    model = MultiTaskMKLClassifier(terms, C=1e5, fit_intercept=False, max_iter=500)
    model.fit(X, y, task)
    assert model.solver_ == "gram"
    assert model.duality_gap_ <= model.tol
    short = clone(model).set_params(solver="features")
    with pytest.warns(ConvergenceWarning, match='solver="gram"'):
        short.fit(X, y, task)
    assert short.duality_gap_ > 0.1


@pytest.mark.parametrize("kernel", ["linear", Linear(2.0)])
@pytest.mark.parametrize("normalize", [None, "trace", "cosine"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "standardized"])
def test_both_solvers_agree_on_linear_kernels(kernel, normalize, kind):
    X, y, task, Z, other = mixed(2)
    X, Z = X + 0.5, Z + 0.5
    X[0] = 0.0  # has no cosine
    if kind == "sparse":
        X, Z = csr_array(X), csr_array(Z)
    terms = [(kernel, "dirac_uniform")]
    options = {"C": 0.3, "fit_intercept": False, "tol": 1e-9, "max_iter": 50_000}
    options |= {"normalize": normalize, "standardize": kind == "standardized"}
    models = [
        MultiTaskMKLClassifier(terms, solver=solver, **options).fit(X, y, task)
        for solver in ("gram", "features")
    ]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=2e-9)
    np.testing.assert_allclose(
        scores(models[0], Z, other), scores(models[1], Z, other), atol=1e-3
    )
    for model in models:
        assert hasattr(model, "coef_") == (normalize != "cosine")
        # Outputs at the training samples are those of the certificate.
        margins = y * scores(model, X, task)
        hinge = 0.3 * np.maximum(1 - margins, 0).sum()
        penalty = 0.5 * (y * margins) @ model.dual_coef_
        assert hinge + penalty == pytest.approx(model.objective_, rel=1e-8)


def test_terms_may_be_written_in_several_ways():
    X, y, task, *_ = mixed(8)
    spellings = [
        [("linear", ["single_task", "union"])],
        [["linear", "single_task"], ("linear", np.ones((4, 4)))],
        ({"kernel": Linear(), "task_kernel": "dirac_uniform"},),
        [{"kernel": "linear", "task_kernel": each} for each in (np.eye(4), "union")],
    ]
    first, *others = (
        MultiTaskMKLClassifier(terms).fit(X, y, task) for terms in spellings
    )
    assert first.weights_.shape == (2,)
    for other in others:
        np.testing.assert_array_equal(other.weights_, first.weights_)
        np.testing.assert_array_equal(other.coef_, first.coef_)


def test_matrices_are_in_the_order_of_sorted_labels_or_of_the_one_given():
    X, y, task, Z, other = mixed(9)
    R = graph_laplacian(CHAIN)
    options = {"terms": [("linear", R)], "tol": 1e-9}
    numbered = MultiTaskMKLClassifier(**options).fit(X, y, task)
    named = MultiTaskMKLClassifier(**options, task_order=NAMES).fit(X, y, NAMES[task])
    np.testing.assert_allclose(
        scores(named, Z, NAMES[other]), scores(numbered, Z, other), atol=1e-3
    )
    assert named.tasks_.tolist() == sorted(NAMES)
    np.testing.assert_array_equal(
        named.task_similarity_, R[np.ix_(np.argsort(NAMES), np.argsort(NAMES))]
    )
    unordered = MultiTaskMKLClassifier([("linear", R)]).fit(X, y, NAMES[task])
    np.testing.assert_array_equal(unordered.task_similarity_, R)


def test_an_order_may_name_the_labels_and_specifications_their_relations():
    X, y, task, *_ = mixed(11)
    R = graph_laplacian(CHAIN)
    tree = "((fir,pine),(oak,beech));"
    spec = [
        {"name": "given", "similarity": "true"},
        {"name": "hierarchy", "tree": "wood"},
    ]
    some = task != 2
    model = MultiTaskMKLClassifier(
        [("linear", spec)],
        task_order={t: NAMES[t] for t in (3, 1, 0, 2)},
        task_relations={"true": R, "wood": tree},
    )
    fitted = clone(model).fit(X[some], y[some], task[some])
    direct = MultiTaskMKLClassifier(
        [("linear", each) for each in (R, *hierarchy(tree, NAMES[[3, 1, 0, 2]]))],
        task_order=[3, 1, 0, 2],
    ).fit(X[some], y[some], task[some])
    np.testing.assert_array_equal(fitted.weights_, direct.weights_)
    np.testing.assert_array_equal(fitted.task_similarity_, direct.task_similarity_)
    assert fitted.term_names_[-1].endswith("hierarchy, oak + beech")


def test_probabilities_of_the_logistic_loss():
    X, y, task, Z, other = mixed(12)
    model = MultiTaskMKLClassifier(loss="logistic").fit(
        X, np.where(y > 0, "b", "a"), task
    )
    chances = model.predict_proba(Z, other)
    np.testing.assert_allclose(chances[:, 1], expit(scores(model, Z, other)))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    best = model.classes_[chances.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(Z, other), best)
    assert not hasattr(MultiTaskMKLClassifier(), "predict_proba")
    alone = MultiTaskMKLClassifier(loss="logistic").fit(X, np.ones(60), task)
    np.testing.assert_array_equal(alone.predict_proba(Z, other), np.ones((40, 1)))


def test_a_path_tells_large_task_kernels_apart():
    # Of more than 1,000 entries, of which NumPy prints a few.
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((80, 2)), np.arange(80) % 40
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(80))
    other = np.eye(40)
    other[18:21, 18:21] = 1.0
    grid = [{"terms": [("linear", R)], "C": C} for R in (np.eye(40), other)
            for C in (1.0, 2.0)]  # fmt: skip
    fitted = list(MultiTaskMKLClassifier().fit_path(X, y, task, grid=grid))
    for model, point in zip(fitted, grid, strict=True):
        np.testing.assert_array_equal(model.task_similarity_, point["terms"][0][1])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"p": 0.5}, "p must be a number of at least 1, or infinite, got 0.5"),
        ({"terms": []}, r"terms must be a list of pairs .* got \[\]"),
        ({"terms": ["linear"]}, "terms: not a pair of .* task kernel: 'linear'"),
        ({"terms": [{"kernel": "linear"}]}, "terms: a mapping has kernel and task_k"),
        ({"terms": [("cubic", "union")]}, "terms: unknown kernel 'cubic'"),
        ({"terms": [("linear", "tree")]}, "terms: unknown task kernel 'tree'"),
        ({"terms": [("linear", np.eye(3))]}, r"terms: .* \(4, 4\), got \(3, 3\)"),
        ({"terms": [("linear", [["a"]])]}, r"terms: not a task kernel: \[\['a'\]\]"),
        ({"task_order": [0, 1, 2]}, r"task_order .* lacks 3: \[0, 1, 2\]"),
        ({"task_order": [0, 1, 2, 3, 3]}, "task_order .* has a label twice"),
        ({"task_order": {0: "a"}}, r"task_order .* lacks 1: \[0\]"),
        ({"task_order": "abcd"}, "a list of task labels, or a mapping .* got 'abcd'"),
        ({"task_relations": [1]}, r"task_relations must be a mapping .* got \[1\]"),
        ({"terms": [(GAUSSIAN, "union")], "solver": "features"}, "got Gaussian.*gram"),
        ({"fit_intercept": True, "solver": "features"}, "got fit_intercept=True"),
        ({"fit_intercept": True, "loss": "logistic"}, "is for the hinge loss"),
    ],
)
def test_wrong_parameters(params, message):
    X, y, task, *_ = mixed()
    with pytest.raises(ValueError, match=message):
        MultiTaskMKLClassifier(**params).fit(X, y, task)


def penalty(model, X, task):
    theta, beta = model.weights_, model.dual_coef_
    assert (theta >= 0).all()
    size = max(np.linalg.norm(theta, model.p), 1.0)
    terms = MultiTaskTerms.of(model.terms, model.tasks_.tolist(), None, None)
    grams = grams_of(model, X, terms.kernels)
    pairs = np.ix_(task, task)
    matrices = [
        grams[b] * R[pairs] for b, R in zip(terms.base, terms.task_kernels, strict=True)
    ]
    made = np.einsum("m,mij,j->i", theta, matrices, beta)
    assert_outputs(model, X, task, [made] * (task.max() + 1))
    return 0.5 * size * theta @ [beta @ K @ beta for K in matrices]


RELATED = ["dirac_uniform", "union"]
LINEAR, OTHERS = [("linear", RELATED)], [(k, RELATED) for k in (NARROW, SQUARE)]
TWO_KERNELS = FEW_KERNELS[1:]
CASES = {
    "MultiTaskMKLClassifier": Case(
        settings={
            "": {},
            "logistic": {"loss": "logistic"},
            "kernels": {"terms": [(k, "dirac_uniform") for k in TWO_KERNELS], "p": 1.0},
            "kernels, logistic": {
                "terms": [{"kernel": k, "task_kernel": "union"} for k in TWO_KERNELS],
                "loss": "logistic",
                "normalize": "cosine",
                "standardize": True,
            },
        },
        penalty=penalty,
        variants=[
            {"terms": LINEAR},
            {"terms": LINEAR, "p": 1.3, "loss": "logistic", "standardize": True},
            {"terms": LINEAR, "p": np.inf, "solver": "gram", "normalize": "trace"},
            {"terms": OTHERS, "p": 1.0, "fit_intercept": False},
            {"terms": OTHERS, "p": 3.0, "loss": "logistic", "normalize": "cosine"},
        ],
        grid=COSTS,
    )
}
