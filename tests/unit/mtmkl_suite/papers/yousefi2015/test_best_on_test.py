import numpy as np
import pytest
from made_scores import made_job
from sklearn.svm import SVC

from mtmkl.datasets.container import MultiTaskData
from mtmkl_suite.data.splits import make_split
from mtmkl_suite.evaluation.cells import COLUMNS, run_job
from mtmkl_suite.papers.yousefi2015.best_on_test import Round, accuracies, alternate

KERNELS = [
    "linear",
    {"name": "gaussian", "width": 0.5},
    {"name": "gaussian", "width": 2},
]
C_VALUES = (0.1, 3.0, 50.0)


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
    first = next(alternate(data, split, 0.5, kernels=KERNELS, C_values=C_VALUES))
    np.testing.assert_allclose(first.weights, 1 / 3)
    # Standardised over all samples, whatever their role.
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    for t in range(3):
        rows = {
            role: getattr(split, role)[data.task[getattr(split, role)] == t]
            for role in ("train", "validation", "test")
        }

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
    rounds = list(
        alternate(data, split, 0.0, kernels=KERNELS, C_values=C_VALUES, n_rounds=4)
    )
    assert len(rounds) == 4
    for each in rounds[1:]:
        # Linear in θ: without λ one kernel takes all.
        assert sorted(each.weights.ravel()) == [0.0] * 6 + [1.0] * 3
    together = list(
        alternate(data, split, 1e6, kernels=KERNELS, C_values=C_VALUES, n_rounds=2)
    )
    assert np.ptp(together[1].weights, axis=0).max() == 0.0


def test_what_is_reported_of_the_rounds():
    def round_of(chosen, final):
        zero = np.zeros(2)
        return Round(np.zeros((2, 1)), zero, zero, np.array(chosen), np.array(final))

    rounds = [
        round_of([0.9, 0.7], [0.5, 0.5]),
        round_of([0.6, 0.6], [0.7, 0.9]),
        round_of([0.7, 0.7], [0.6, 0.6]),
    ]
    assert accuracies(rounds) == {
        "accuracy": pytest.approx(0.8),
        "accuracy_chosen_C": pytest.approx(0.8),
        "accuracy_last_round": pytest.approx(0.7),
    }


class TestRunJob:
    PARAMS = {"kernels": KERNELS, "C_values": C_VALUES, "n_rounds": 2}  # noqa: RUF012

    @pytest.fixture
    def job(self, tmp_path):
        way = "mtmkl_suite.papers.yousefi2015.best_on_test:best_on_test"
        grid = {"lam": [0.01, 10.0]}
        method = {"params": self.PARAMS, "grid": grid, "selection": way}
        experiment = {"metrics": ["accuracy"]}
        return made_job(tmp_path, object, method=method, experiment=experiment)

    def test_validation_chooses_lambda(self, job, data, split):
        found = {}
        for lam in (0.01, 10.0):
            rounds = list(alternate(data, split, lam, **self.PARAMS))
            validation = max(r.validation_accuracy.mean() for r in rounds)
            found[lam] = (validation, accuracies(rounds))
        best = max(found, key=lambda lam: found[lam][0])
        scores, arrays = run_job(job, lambda repeat: data, {(0, 0): split})
        assert list(scores.columns) == list(COLUMNS)
        assert scores["params"].unique().tolist() == [f'{{"lam": {best}}}']
        assert scores.set_index("metric")["value"].to_dict() == found[best][1]
        assert arrays == {}

    def test_finished_splits_come_from_the_cache(self, job, data, split):
        first, _ = run_job(job, lambda repeat: data, {(0, 0): split})
        again, _ = run_job(job, lambda repeat: data, {(0, 0): split})
        assert again["fit_seconds"].tolist() == first["fit_seconds"].tolist()
