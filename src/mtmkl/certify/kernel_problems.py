r"""The problems of kernel methods, as papers print them, and those of estimators.

Arguments are alike in all statements. Task t has the outputs ``targets[t]``, labels ±1
or numbers, and the matrix ``grams[t][m]`` of kernel m: square, or a vector x for xx'. C
is the cost of the hinge loss, or with ε of the ε-insensitive one. Each task has a free
intercept. Problems are minimised over w_tm in coordinates of the samples, the rows of a
root R_tm of the matrix, with outputs f_t = Σ_m R_tm w_tm + b_t; or their duals are
maximised over the signed duals β.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import cvxpy as cp
import numpy as np

from mtmkl import methods
from mtmkl.kernels.basis import kernel_basis
from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods._base.multi_task_terms import MultiTaskTerms
from mtmkl.typing import FloatArray, IntArray

Targets = Sequence[FloatArray]
Grams = Sequence[Sequence[FloatArray]]


def square_root(K: FloatArray, tol: float = 1e-13) -> FloatArray:
    """Return R with RR' = K, (n, rank), with one column at least."""
    if K.ndim == 1:
        return K[:, None]
    values, vectors = np.linalg.eigh(K)
    keep = values > tol * max(values[-1], 0.0)
    keep[-1] = True
    out: FloatArray = vectors[:, keep] * np.sqrt(np.maximum(values[keep], 0.0))
    return out


def in_span(X: FloatArray) -> FloatArray:
    """Return the rows in as many orthonormal coordinates as they can span."""
    return X if X.shape[1] <= X.shape[0] else np.linalg.qr(X.T)[1].T


def sum_of_kernels(
    targets: Targets, grams: Grams, C: float, *,
    epsilon: float | None = None, fit_intercept: bool = True,
) -> cp.Problem:  # fmt: skip
    """State support vector machines on sums: min ½ Σ_tm ‖w_tm‖² + C·losses."""
    weights, outputs = _outputs(grams, fit_intercept=fit_intercept)
    norms = sum(cp.sum_squares(w) for of_task in weights for w in of_task)
    return cp.Problem(cp.Minimize(0.5 * norms + C * _losses(targets, outputs, epsilon)))


def kernel_selection(
    targets: Targets,
    grams: Sequence[Sequence[FloatArray | None]],
    C: float,
    log_alpha: float,
    *,
    epsilon: float | None = None,
    is_squared: bool = False,
    common: FloatArray | None = None,
) -> cp.Problem:
    r"""State the dual of Jebara (2011), sections 7 to 9 and 12.

    max Σ_i y_i β_i − ε|β|₁ − ½β'K_0β − Σ_d log((α + exp q_d)/(α + 1)), with
    q_d = ½ Σ_t β_t'K_td β_t (variable ``q``), 0 ≤ y_i β_i ≤ C or with ε |β_i| ≤ C, and
    1'β_t = 0. A matrix None is of zeros, and K_0 that of all samples, ``common``. The
    squared loss, C/2 Σ_i r_i², has no bounds, and ‖β‖²/2C less.
    """
    beta = [cp.Variable(len(y)) for y in targets]
    q = cp.Variable(len(grams[0]), name="q")
    constraints = [cp.sum(b) == 0 for b in beta] + [
        _energy(of_kernel, beta) <= each
        for each, of_kernel in zip(q, zip(*grams, strict=True), strict=True)
    ]
    value = 0.0
    for y, b in zip(targets, beta, strict=True):
        value += y @ b
        if is_squared:
            value -= cp.sum_squares(b) / (2 * C)
        elif epsilon is None:
            constraints += [cp.multiply(y, b) >= 0, cp.multiply(y, b) <= C]
        else:
            constraints.append(cp.abs(b) <= C)
            value -= epsilon * cp.norm1(b)
    if common is not None:
        value -= _energy([common], [cp.hstack(beta)])
    if log_alpha == -np.inf:
        value -= cp.sum(q)
    else:
        off, on = -np.logaddexp(0.0, [-log_alpha, log_alpha])
        value -= sum(cp.log_sum_exp(cp.hstack([off, on + each])) for each in q)
    return cp.Problem(cp.Maximize(value), constraints)


def adaptive_pooling(
    targets: Targets, common: FloatArray, own: Sequence[FloatArray], C: float,
    log_alpha: float,
) -> cp.Problem:  # fmt: skip
    """State section 8 of Jebara (2011): a switch for each task's own matrix."""
    tasks = range(len(own))
    grams = [[own[t] if s == t else None for s in tasks] for t in tasks]
    return kernel_selection(targets, grams, C, log_alpha, common=common)


def group_sharing(
    targets: Targets,
    grams: Grams,
    C: float,
    lam: float,
    *,
    is_shared: bool = False,
    epsilon: float | None = None,
) -> cp.Problem:
    r"""State problem (2) of Yousefi et al. (2015).

    min ½ Σ_tm ‖w_tm‖²/θ_tm + C·losses + λ Σ_{s<t} ‖θ_s − θ_t‖ over weights θ_t ≥ 0
    (variable ``theta``, one row per task) with 1'θ_t ≤ 1, or with one θ of all tasks.
    """
    n_tasks, n_kernels = len(targets), len(grams[0])
    shape = (1 if is_shared else n_tasks, n_kernels)
    theta = cp.Variable(shape, nonneg=True, name="theta")
    weights, outputs = _outputs(grams)
    ratios = cp.Variable((n_tasks, n_kernels))
    constraints = [cp.sum(theta, axis=1) <= 1] + [
        _is_ratio(w, theta[0 if is_shared else t, m], ratios[t, m])
        for t, of_task in enumerate(weights)
        for m, w in enumerate(of_task)
    ]
    value = 0.5 * cp.sum(ratios) + C * _losses(targets, outputs, epsilon)
    if lam > 0:
        value += lam * sum(
            cp.norm(one - other) for one, other in combinations(theta, 2)
        )
    return cp.Problem(cp.Minimize(value), constraints)


def mixed_norm(
    targets: Targets, grams: Grams, C: float, p: float, epsilon: float | None = None
) -> cp.Problem:
    """State MK-MTFL of Jawanpuria and Nath (2011), p ≥ 2.

    min ½ (Σ_m ‖(‖w_1m‖, …, ‖w_Tm‖)‖_p)² + C·losses
    """
    weights, outputs = _outputs(grams)
    norms = [
        cp.norm(cp.hstack([cp.norm(w) for w in of_kernel]), p)
        for of_kernel in zip(*weights, strict=True)
    ]
    losses = _losses(targets, outputs, epsilon)
    return cp.Problem(cp.Minimize(0.5 * cp.square(sum(norms)) + C * losses))


def mixed_schatten(
    y: FloatArray,
    factors: Sequence[FloatArray],
    task: IntArray,
    C: float,
    q: float,
    epsilon: float | None = None,
) -> cp.Problem:
    r"""State the dual of MK-MTSFL of Jawanpuria and Nath (2011), 1 ≤ q ≤ 2.

    Of all samples, kernel m has the coordinates ``factors[m]`` (N, D_m), and weights
    W_m (D_m, T). The dual of min ½ (Σ_m ‖W_m‖_tr^q)^{2/q} + C·losses is, with
    1/q + 1/q* = 1 and B_m = Σ_i β_i x_im e_t(i)',

        max Σ_i y_i β_i − ε|β|₁ − ½ ‖(‖B_1‖_op, ‖B_2‖_op, …)‖²_{q*}.
    """
    is_of_task = np.equal.outer(task, np.arange(task.max() + 1)).astype(float)
    beta, largest = cp.Variable(len(y)), cp.Variable(len(factors))
    constraints = [is_of_task.T @ beta == 0] + [
        cp.sigma_max(in_span(Z).T @ cp.diag(beta) @ is_of_task) <= each
        for each, Z in zip(largest, factors, strict=True)
    ]
    value = y @ beta - 0.5 * cp.square(
        cp.norm(largest, np.inf if q == 1 else q / (q - 1))
    )
    if epsilon is None:
        constraints += [cp.multiply(y, beta) >= 0, cp.multiply(y, beta) <= C]
    else:
        constraints.append(cp.abs(beta) <= C)
        value -= epsilon * cp.norm1(beta)
    return cp.Problem(cp.Maximize(value), constraints)


def multi_task_mkl(
    y: FloatArray,
    grams: Sequence[FloatArray],
    C: float,
    p: float,
    loss: Literal["hinge", "logistic"] = "hinge",
    *,
    fit_intercept: bool = False,
) -> cp.Problem:
    """State problem 1 of Widmer et al. (2015), a matrix of all samples per term.

    min ½ Σ_m ‖w_m‖²/θ_m + C·losses over θ ≥ 0 (variable ``theta``) with ‖θ‖_p ≤ 1.
    W_m = V_m B_m' with B_m B_m' = R_m has ‖W_m‖²_{Q_m} = ‖V_m‖², so that w_m in
    coordinates of the term's matrix stands for it.
    """
    theta = cp.Variable(len(grams), nonneg=True, name="theta")
    (weights,), outputs = _outputs([grams], fit_intercept=fit_intercept)
    ratios = cp.Variable(len(grams))
    constraints = [cp.norm(theta, p) <= 1] + [
        _is_ratio(w, theta[m], ratios[m]) for m, w in enumerate(weights)
    ]
    if loss == "hinge":
        losses = _losses([y], outputs, None)
    else:
        losses = cp.sum(cp.logistic(-cp.multiply(y, outputs[0])))
    return cp.Problem(cp.Minimize(0.5 * cp.sum(ratios) + C * losses), constraints)


def _energy(grams: Iterable[FloatArray | None], beta: Iterable[Any]) -> Any:
    """Return ½ Σ_t β_t'K_tβ_t."""
    return 0.5 * sum(
        cp.sum_squares(square_root(K).T @ b)
        for K, b in zip(grams, beta, strict=True)
        if K is not None
    )


def _outputs(
    grams: Grams, *, fit_intercept: bool = True
) -> tuple[list[list[Any]], list[Any]]:
    """Return the variables w_tm, and the outputs f_t."""
    weights, outputs = [], []
    for of_task in grams:
        roots = [square_root(K) for K in of_task]
        weights.append([cp.Variable(root.shape[1]) for root in roots])
        products = [root @ w for root, w in zip(roots, weights[-1], strict=True)]
        outputs.append(sum(products) + (cp.Variable() if fit_intercept else 0.0))
    return weights, outputs


def _is_ratio(w: Any, theta: Any, ratio: Any) -> Any:
    """Ask for ‖w‖²/θ ≤ ratio, by a cone that has a violation where θ is 0, too."""
    return cp.norm(cp.hstack([2 * w, theta - ratio])) <= theta + ratio


def _losses(targets: Targets, outputs: Iterable[Any], epsilon: float | None) -> Any:
    """Return the sum of the hinge or ε-insensitive losses of all tasks."""
    return sum(
        cp.sum(
            cp.pos(1 - cp.multiply(y, f))
            if epsilon is None
            else cp.pos(cp.abs(y - f) - epsilon)
        )
        for y, f in zip(targets, outputs, strict=True)
    )


def _grams(model: Any, X: FloatArray, kernels: Any) -> list[FloatArray]:
    """Return the matrices of an estimator's kernels on all samples."""
    terms = KernelTerms.of(
        X, kernels, normalize=model.normalize, standardize=model.standardize
    )
    Z, out = terms.inputs(X), []
    for d, kernel in enumerate(terms.kernels):
        x = Z[:, terms.column[d]]
        out.append(np.outer(x, x) if kernel is None else kernel(Z, Z))
    return [scale * K for scale, K in zip(terms.scale, out, strict=True)]


def _by_task(
    y: FloatArray, task: IntArray, grams: Sequence[FloatArray]
) -> tuple[list[FloatArray], list[list[FloatArray]]]:
    """Return the targets and the matrices of each task."""
    rows = [task == t for t in range(int(task.max()) + 1)]
    return [y[own] for own in rows], [[K[own][:, own] for K in grams] for own in rows]


def _loss(model: Any) -> dict[str, Any]:
    """Return C, and ε where there is one, in the unit of the targets."""
    scale = getattr(model, "target_scale_", 1.0)
    epsilon = model.epsilon * scale if hasattr(model, "epsilon") else None
    return {"C": model.C * scale, "epsilon": epsilon}


def _sum_of_kernels(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    if type(model).__name__ == "PooledSVMClassifier":
        task = np.zeros_like(task)
    examples = _by_task(y, task, _grams(model, X, model.kernels))
    return sum_of_kernels(*examples, fit_intercept=model.fit_intercept, **_loss(model))


def _switched(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    targets, grams = _by_task(y, task, _grams(model, X, model.kernels))
    options = {"log_alpha": model.log_alpha_, **_loss(model)}
    if getattr(model, "switches", "shared") == "per_task":
        alone = zip(targets, grams, strict=True)
        return sum(kernel_selection([c], [own], **options) for c, own in alone)
    is_squared = getattr(model, "loss", None) == "squared"
    return kernel_selection(targets, grams, is_squared=is_squared, **options)


def _pooling(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    (K,) = _grams(model, X, [model.kernel])
    scale = model.specialised_scale or 0.9 * (task.max() + 1)
    targets, grams = _by_task(y, task, [scale * K])
    common, own = model.communal_scale * K, [K for (K,) in grams]
    return adaptive_pooling(targets, common, own, model.C, model.log_alpha_)


def _graph(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    """State the selection of edges: a switch of one feature at both ends."""
    samples = (X[task == 0] > model.binarize).T.astype(float)
    edges = list(combinations(range(len(samples)), 2))
    grams = [
        [samples[b if m == a else a] if m in (a, b) else None for a, b in edges]
        for m in range(len(samples))
    ]
    return kernel_selection(list(2.0 * samples - 1.0), grams, model.C, model.log_alpha_)


def _weighted(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    return group_sharing(
        *_by_task(y, task, _grams(model, X, model.kernels)),
        lam=getattr(model, "lam", 0.0),
        is_shared=type(model).__name__ == "SharedMKLClassifier",
        **_loss(model),
    )


def _mixed_norm(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    examples = _by_task(y, task, _grams(model, X, model.kernels))
    return mixed_norm(*examples, p=float(model.p), **_loss(model))


def _mixed_schatten(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    terms = KernelTerms.of(
        X, model.kernels, normalize=model.normalize, standardize=model.standardize
    )
    Z, factors = terms.inputs(X), []
    for d, kernel in enumerate(terms.kernels):
        # The problem is that of the coordinates kept.
        values = Z[:, [terms.column[d]]]
        if kernel is not None:
            _, values = kernel_basis(kernel, Z, tol=model.basis_tol)
        factors.append(np.sqrt(terms.scale[d]) * values)
    return mixed_schatten(y, factors, task, q=float(model.q), **_loss(model))


def _multi_task_mkl(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    terms = MultiTaskTerms.of(
        model.terms, model.tasks_.tolist(), model.task_order, model.task_relations
    )
    base, pairs = _grams(model, X, terms.kernels), np.ix_(task, task)
    grams = [
        R[pairs] * base[b] for b, R in zip(terms.base, terms.task_kernels, strict=True)
    ]
    intercept, p = model._has_offset, float(model.p)
    return multi_task_mkl(y, grams, model.C, p, model.loss, fit_intercept=intercept)


#: Of each method, its problem as a fitted estimator has it, with samples by task.
PROBLEMS: Mapping[type, Callable[[Any, Any, Any, Any], cp.Problem]] = {
    methods.GroupFeatureSharingClassifier: _weighted,
    methods.IndependentSVMClassifier: _sum_of_kernels,
    methods.IndependentSVMRegressor: _sum_of_kernels,
    methods.MEDAdaptivePoolingClassifier: _pooling,
    methods.MEDGraphStructure: _graph,
    methods.MEDKernelSelectionClassifier: _switched,
    methods.MEDRegressor: _switched,
    methods.MKMTFLClassifier: _mixed_norm,
    methods.MKMTFLRegressor: _mixed_norm,
    methods.MKMTSFLClassifier: _mixed_schatten,
    methods.MKMTSFLRegressor: _mixed_schatten,
    methods.MultiTaskMKLClassifier: _multi_task_mkl,
    methods.PooledSVMClassifier: _sum_of_kernels,
    methods.SharedMKLClassifier: _weighted,
    methods.SingleTaskMKLClassifier: _weighted,
    methods.SingleTaskMKLRegressor: _weighted,
}
