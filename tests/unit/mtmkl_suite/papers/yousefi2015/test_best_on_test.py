import numpy as np
import pytest
from made_scores import made_job
from sklearn.svm import SVC

from mtmkl.datasets.container import MultiTaskData
from mtmkl_suite.data.splits import make_split
from mtmkl_suite.evaluation.cells import COLUMNS, run_job
from mtmkl_suite.papers.yousefi2015.best_on_test import Round, accuracies, alternate

KERNELS = ["linear", *({"name": "gaussian", "width": w} for w in (0.5, 2))]
C_VALUES = (0.1, 3.0, 50.0)
PARAMS = {"kernels": KERNELS, "C_values": C_VALUES}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(3), 60)
    X = rng.standard_normal((180, 4)) * [1.0, 5.0, 1.0, 0.2] + 1.0
    z = np.sin((1 + task) * X[:, 0]) + 0.1 * X[:, 1]
    y = np.where(z + 0.4 * rng.standard_normal(180) > np.median(z), 1.0, -1.0)
    return MultiTaskData(X=X, y=y, task=task, name="made")


@pytest.fixture(scope="module")
def split(data):
    protocol = {"id": "thirds", "kind": "thirds", "repeats": 1}
    return make_split(data, protocol, 0, train_size=0, repeat=0)


def test_first_round_is_a_choice_of_c_on_the_mean_kernel(data, split):
    first = next(alternate(data, split, 0.5, **PARAMS))
    np.testing.assert_allclose(first.weights, 1 / 3)
    X = data.X[split.train]
    Z = (data.X - X.mean(axis=0)) / X.std(axis=0)
    for t in range(3):
        roles = {k: getattr(split, k) for k in ("train", "validation", "test")}
        rows = {k: each[data.task[each] == t] for k, each in roles.items()}

        def kernel(A, B):
            inner = A @ B.T
            inner /= np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))
            squares = np.sum((A[:, None] - B) ** 2, axis=-1)
            return (inner + np.exp(-squares / 0.5) + np.exp(-squares / 8)) / 3

        K = {role: kernel(Z[each], Z[rows["train"]]) for role, each in rows.items()}
        scores = {}
        for C in (*C_VALUES, 1.0):
            machine = SVC(C=C, kernel="precomputed", tol=1e-8)
            machine.fit(K["train"], data.y[rows["train"]])
            scores[C] = [
                machine.score(K[role], data.y[rows[role]])
                for role in ("validation", "test")
            ]
        best = max(scores[C][0] for C in C_VALUES)
        C = min(C for C in C_VALUES if scores[C][0] == best)
        assert first.C[t] == C
        assert first.validation_accuracy[t] == pytest.approx(best)
        assert first.test_accuracy[t] == pytest.approx(scores[C][1])
        assert first.final_test_accuracy[t] == pytest.approx(scores[1.0][1])


def test_rounds_go_on_from_the_step_of_the_weights(data, split):
    rounds = list(alternate(data, split, 0.0, **PARAMS, n_rounds=4))
    assert len(rounds) == 4
    for each in rounds[1:]:
        # Linear in θ: without λ one kernel takes all.
        assert sorted(each.weights.ravel()) == [0.0] * 6 + [1.0] * 3
    together = list(alternate(data, split, 1e6, **PARAMS, n_rounds=2))
    assert np.ptp(together[1].weights, axis=0).max() == 0.0


def test_what_is_reported_of_the_rounds():
    def round_of(*accuracies):
        return Round(np.zeros((2, 1)), np.zeros(2), *map(np.array, accuracies))

    rounds = [
        round_of([0.6, 0.6], [0.9, 0.7], [0.5, 0.5]),
        round_of([0.5, 0.9], [0.6, 0.6], [0.7, 0.9]),
        round_of([0.6, 0.7], [0.7, 0.7], [0.6, 0.6]),
    ]
    assert accuracies(rounds) == {
        "accuracy": pytest.approx(0.8),
        "accuracy_chosen_C": pytest.approx(0.8),
        "accuracy_last_round": pytest.approx(0.7),
        "accuracy_validated_round": pytest.approx(0.6),
    }


@pytest.fixture
def job(tmp_path):
    way = "mtmkl_suite.papers.yousefi2015.best_on_test:best_on_test"
    params, grid = {**PARAMS, "n_rounds": 2}, {"lam": [0.01, 10.0]}
    method = {"params": params, "grid": grid, "selection": way}
    return made_job(
        tmp_path, object, method=method, experiment={"metrics": ["accuracy"]}
    )


def test_validation_chooses_lambda_and_finished_splits_are_kept(job, data, split):
    found = {}
    for lam in (0.01, 10.0):
        rounds = list(alternate(data, split, lam, **PARAMS, n_rounds=2))
        validation = max(r.validation_accuracy.mean() for r in rounds)
        found[lam] = (validation, accuracies(rounds))
    best = max(found, key=lambda lam: found[lam][0])
    scores, arrays = run_job(job, lambda repeat: data, {(0, 0): split})
    assert list(scores.columns) == list(COLUMNS)
    assert scores["params"].unique().tolist() == [f'{{"lam": {best}}}']
    assert scores.set_index("metric")["value"].to_dict() == found[best][1]
    assert arrays == {}
    again, _ = run_job(job, lambda repeat: data, {(0, 0): split})
    assert again["fit_seconds"].tolist() == scores["fit_seconds"].tolist()
