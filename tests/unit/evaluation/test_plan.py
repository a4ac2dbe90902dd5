import pytest

from mtmkl.config import ConfigError, load_paper
from mtmkl.evaluation import plan
from mtmkl.evaluation.plan import Variant


@pytest.fixture
def config():
    return {
        "paper": {"id": "toy2000"},
        "protocols": {"given": {"kind": "given", "repeats": 5, "folds": 3}},
        "methods": {
            "ridge": {
                "label": "Ridge",
                "class": "IndependentRidge",
                "selection": "none",
            }
        },
        "experiments": {
            "curve": {
                "datasets": {
                    "name": "draw",
                    "options": {"b": 1},
                    "vary": {"a": [1, 2]},
                },
                "protocol": "given",
                "methods": [{"method": "ridge", "chunk_repeats": 2}],
                "metrics": ["mse"],
            },
            "real": {
                "datasets": {"name": "school"},
                "protocol": "given",
                "methods": [{"method": "ridge"}],
                "metrics": ["mse"],
            },
        },
        "artefacts": {
            "table_1": {"kind": "table", "experiment": "real", "rows": {}},
            "figure_1": {"kind": "figure", "experiments": ["real"]},
        },
        "claims": [],
    }


def test_variants_are_the_product_of_what_varies(config):
    ids = [v.id for v in plan.variants(config["experiments"]["curve"])]
    assert ids == ["draw[a=1,b=1]", "draw[a=2,b=1]"]
    assert Variant("school").id == "school"


def test_jobs_are_cut_into_chunks_that_cover_all_repeats(config):
    jobs = list(plan.fit_jobs(config))
    assert [j.repeats for j in jobs[:3]] == [(0, 1), (2, 3), (4,)]
    assert jobs[-1].repeats == (0, 1, 2, 3, 4)
    assert len({j.stem for j in jobs}) == len(jobs)
    assert plan.find_job(config, jobs[4].stem) == jobs[4]


@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_stems_of_a_real_plan_are_unique(tier):
    stems = [job.stem for job in plan.fit_jobs(load_paper("argyriou2008", tier))]
    assert len(stems) == len(set(stems)) > 50


def test_ones_own_method_joins_an_experiment_and_its_table(config):
    joined = plan.with_method(config, "real", "my.module:Own", grid={"gamma": [1, 2]})
    assert "own" not in config["methods"]
    (spec,) = [s for s in plan.method_specs(joined, "real").values() if s.id == "own"]
    assert spec.grid_points() == [{"gamma": 1}, {"gamma": 2}]
    assert joined["artefacts"]["table_1"]["extra_rows"] == {
        "my.module:Own": {"method": "own"}
    }


def test_a_method_that_is_there_already_changes_nothing(config):
    assert plan.with_method(config, "real", "ridge") is config


def test_unknown_experiment_lists_the_known(config):
    with pytest.raises(ConfigError, match=r"'rael'.*curve, real"):
        plan.with_method(config, "rael", "my.module:Own")
