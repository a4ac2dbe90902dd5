"""CoClus: its objective."""

import numpy as np
from method_cases import WEIGHTS, Case
from model_objectives import standardised


def penalty(model, X, task):
    W = standardised(model, X, model.coef_)
    Q = standardised(model, X, model.clustered_coef_)
    P = W - Q
    deviations = P - P.mean(axis=1, keepdims=True)
    beyond = np.linalg.svd(Q, compute_uv=False)[min(model.n_clusters, W.shape[1]) :]
    penalty = model.lam_1 * np.sum(deviations**2) + model.lam_2 * np.sum(beyond**2)
    return penalty + 1e-6 * np.sum(W**2)


CASES = {
    "CoClusClassifier": Case(
        settings={"": {"n_restarts": 2}},
        penalty=penalty,
        variants=[{"n_restarts": 2}],
        grid=[{"lam_1": lam, "lam_2": 2.0, "n_clusters": 2} for lam in WEIGHTS],
    )
}
