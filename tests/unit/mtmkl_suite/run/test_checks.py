import re

import pytest
from configured import paper_of

from mtmkl.methods import REGISTRY
from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import TIERS
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.run.checks import check_functions, check_names, check_terms


class Own:
    """A method of one's own, without scikit-learn."""

    def __init__(self, needed, depth=1):
        if depth < 1:
            raise ValueError(f"depth is {depth}, wanted at least 1")
        self.needed, self.depth = needed, depth

    def fit(self, X, y, task=None):
        return self

    def predict(self, X, task=None):
        return X[:, 0]


OWN = f"{__name__}:Own"


@pytest.fixture
def config(config):
    halves = {"kind": "halves", "train_sizes": [5], "repeats": 2}
    config["protocols"]["halves"] = halves
    config["methods"]["ridge"]["params"] = {"standardize": True}
    return config


def edited(config, ridge=(), **digits):
    """Return a paper with other settings of its one method and its one experiment."""
    config["methods"]["ridge"].update(ridge)
    config["experiments"]["digits"].update(digits)
    return paper_of(config)


def ridge(**change):
    return {"ridge": change}


def data(name="digits", **more):
    return {"datasets": {"name": name, **more}}


def hold(**held):
    return {"methods": [{"method": "ridge", "hold": held}]}


def own(**grid):
    return ridge(**{"class": OWN, "params": {"needed": 1}, "grid": grid})


def way(params, **grid):
    """Take a method with a way of its own to choose."""
    return ridge(**{
        "class": "GroupFeatureSharingClassifier", "params": params,
        "grid": {"lam": [1.0], **grid},
        "selection": "mtmkl_suite.papers.yousefi2015.best_on_test:best_on_test",
    })  # fmt: skip


RIDGE, WIDHT = {"method": "ridge"}, {"name": "gaussian", "widht": 1.0}
PER_TASK = {"class": "RRHetRegressor", "params": {}, "selection": "per_task"}
VALIDATED = ridge(selection="validation")
TRUTH = ["covariance_distance"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (ridge(grid={"gama": [1]}), r"grid\.gama': unknown param.*mean 'gamma'\? "),
        (ridge(grid={"gamma": [1.0, -1.0]}), r"grid\.gamma': .*positive.*got -1\.0"),
        (ridge(params={"basis_tol": 0}), r"params\.basis_tol': .*positive.*got 0"),
        (ridge(grid={"kernel": [WIDHT]}), r"grid\.kernel': .*'gaussian' has no 'wi"),
        (ridge(**PER_TASK), r"selection': RRHetRegressor takes no 'gamma' for .*"),
        (own(depth=[1, 0]), r"grid\.depth': .*Own: depth is 0, wanted at least 1"),
        (ridge(**{"class": "fractions:Fraction"}), "class': 'fractions:.*: has no fit"),
        (
            ridge(**{"class": "sklearn.linear_model:Ridge"}),
            "fit takes no task",
        ),
        (VALIDATED, "selection: validation, but a protocol of "),
        ({"methods": [RIDGE] * 2}, "1.method': 'ridge' stands here"),
        (hold(gama=0), r"hold': unknown parameter of the grid 'gama'; did"),
        (hold(gamma=2), r"hold\.gamma': 2 is no repeat; there are 2, numbered"),
        ({"repeats": 3}, r"repeats': 3 is more than the 2"),
        (data(vary={"n_per_clas": [5]}), "mean 'n_per_class'"),
        (data(options={"n_per_class": "z"}), "'z': input should"),
        (data(vary={"n_per_class": [200]}), "200: input should"),
        (data("scool"), "'scool'.* mean 'school'"),
        ({"protocol": "halves"}, "'halves' has validation rows: take a method"),
        (way({"n_rounds": "zzz"}), "params.n_rounds.* is 'zzz': input should"),
        (way({"kernels": "zzz"}), "params.kernels': .*'zzz'"),
        (way({}, lam=[1.0, "zzz"]), "grid.lam.* is 'zzz': input should"),
        (way({}, mu=[1.0]), "grid.mu"),
        # metrics that cannot be had, or chosen by
        ({**data("school"), "metrics": ["auc"]}, "'auc' needs labels −1 and"),
        ({"metrics": ["edge_auc"]}, "'edge_auc' needs 'adjacency' of the ground truth"),
        ({**data("school"), "metrics": TRUTH}, "'covariance' of"),
        ({"select_by": "auc"}, "unknown metric of the experiment 'auc' .known: mis"),
        (
            {"select_by": "misclassified", **ridge(selection="per_task")},
            "'ridge' has selection 'per_task', which takes the smallest squared error",
        ),
        (
            {"metrics": ["n_features", "mse"], **VALIDATED},
            "'n_features', which is not better or worse; choose by mse",
        ),
        ({"metrics": ["mse", "n_features"], "select_by": "n_features"}, "be chosen by"),
        (
            {**data("linear_synthetic"), "metrics": TRUTH, **VALIDATED},
            "which asks for the truth; choose by another metric",
        ),
    ],
)
def test_what_is_wrong_is_named_before_any_work(config, edit, message):
    with pytest.raises(ConfigError, match=message) as refused:
        check_names(edited(config, **edit))
    place = r"^toy2000/experiments\.yaml: key '(methods\.ridge|experiments\.digits)\."
    assert re.match(place, str(refused.value))


@pytest.mark.parametrize(
    "edit",
    [
        {},
        # An argument that is missing is a gap of that method, not the end of the run.
        ridge(**{"class": OWN, "params": {}, "grid": {"depth": [1]}}),
        ridge(params={"gamma": [1.0, 2.0]}, grid={"basis_tol": [1e-6]}),
        {"mode": "path", "protocol": "halves"},
        hold(gamma=1),
        {"metrics": ["n_features", "misclassified"]},
        {"metrics": ["n_features", "auc"], "select_by": "auc"},
        {"metrics": ["auc"], **ridge(selection="per_task")},
        {
            **data("ising_graphs"), "metrics": ["edge_auc"], "mode": "path",
            **VALIDATED,
        },
    ],
)  # fmt: skip
def test_what_may_be_right_is_let_through(config, edit):
    check_names(edited(config, **edit))


def test_every_value_of_a_grid_is_tried_but_not_every_point(config, monkeypatch):
    tried = []

    def keep(self):
        tried.append((self.gamma, self.basis_tol))

    monkeypatch.setattr(REGISTRY["IndependentRidgeRegressor"], "_check_params", keep)
    gamma, tol = [float(k) for k in range(1, 31)], [1e-6, 1e-5, 1e-4]
    check_names(edited(config, ridge={"grid": {"gamma": gamma, "basis_tol": tol}}))
    assert {g for g, _ in tried} == set(gamma)
    assert {t for _, t in tried} == set(tol)
    assert len(tried) == 30


def test_a_mistake_in_a_methods_own_check_is_not_hidden(config, monkeypatch):
    monkeypatch.setattr(
        REGISTRY["IndependentRidgeRegressor"], "_check_params", lambda self: self.gama
    )
    with pytest.raises(AttributeError, match="gama"):
        check_names(paper_of(config))


def test_figures_and_steps_need_functions(config):
    def named(figure, step="convergence", paper="jawanpuria2011"):
        drawn = {"kind": "figure", "steps": [step]}
        artefacts = {figure: drawn, "t": {"kind": "table"}}
        return paper_of(config | {"paper": {"id": paper}, "artefacts": artefacts})

    check_functions(named("figure_1c"))
    with pytest.raises(ConfigError, match=r"key 'artefacts\.figure_cc': .*'figure_1c'"):
        check_functions(named("figure_cc"))
    with pytest.raises(ConfigError, match=r"key 'artefacts\.figure_1c\.steps'"):
        check_functions(named("figure_1c", "zzz"))
    with pytest.raises(ConfigError, match=r"unknown function of mtmkl_suite\.papers\."):
        check_functions(named("figure_1c", paper="toy"))


@pytest.mark.parametrize("paper", load_run_config().papers)
def test_names_of_the_papers_exist(paper):
    for tier in TIERS:
        check_names(load_paper(paper, tier))


SIDES = {"metric": "misclassified", "lower": {}, "higher": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": "divination"}, r"test': unknown test 'divination'"),
        ({"args": {**SIDES, "depth": 3}}, r"args': got an unexpected .*'depth'"),
        ({"args": {}}, r"args': missing a required argument: 'metric'"),
    ],
)
def test_claims_name_a_test_and_its_arguments(config, change, message):
    claim = {"id": "c", "test": "paired_difference", **change}
    args = {"experiment": "digits", **claim.pop("args", {})}
    config["claims"] = [claim | {"settings": [{"args": args}]}]
    place = r"toy2000/claims\.yaml: key 'claims\.c\."
    with pytest.raises(ConfigError, match=place + message):
        check_names(paper_of(config))


@pytest.mark.parametrize(
    "terms",
    [
        [{"kernel": "linear", "task_kernel": "union"}],
        [{"kernel": {"name": "gaussian", "width": 2}, "task_kernel": ["union"]}],
        [["linear", {"name": "smooth", "distances": "phylogeny", "scales": [1]}]],
        [["linear", {"name": "given", "similarity": "s", "normalize": True}]],
    ],
)
def test_terms_that_a_fit_can_make(terms):
    check_terms("terms", terms)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("linear", "'terms.0': 'linear' is no mapping of kernel and task_kernel"),
        (["zzz", "union"], "'terms.0.kernel': unknown kernel 'zzz'"),
        (["linear", "uniom"], r"task_kernel': unknown .*did you mean 'union'"),
        (
            ["linear", {"name": "hierarchy", "tre": "(a,b);"}],
            "has no 'tre'; its parameters: tree",
        ),
        (["linear", {"name": "union", "normalize": "zzz"}], "normalize is 'zzz', want"),
    ],
)
def test_terms_that_no_fit_can_make(term, message):
    with pytest.raises(ConfigError, match=message):
        check_terms("terms", [term])
