from dataclasses import replace

import pytest
from configured import paper_of, toy

from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import Variant
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.evaluation.jobs import MethodSpec
from mtmkl_suite.run import plan
from mtmkl_suite.run.grouping import fit_groups

PAPERS = load_run_config().papers


@pytest.fixture
def config():
    return toy()


def test_variants_are_the_product_of_what_varies(config):
    ids = [v.id for v in paper_of(config).experiments["curve"].variants]
    assert ids == ["draw[a=1,b=1]", "draw[a=2,b=1]"]
    assert Variant("school").id == "school"


def test_jobs_are_cut_into_chunks_that_cover_all_repeats(config):
    jobs = list(plan.fit_jobs(paper_of(config)))
    assert [j.repeats for j in jobs[:3]] == [(0, 1), (2, 3), (4,)]
    assert jobs[-1].repeats == (0, 1, 2, 3, 4)
    assert len({j.stem for j in jobs}) == len(jobs)


def test_a_repeat_that_takes_long_is_a_job(config):
    config["seconds"]["real/school/ridge"] = 1e4
    jobs = [job for job in plan.fit_jobs(paper_of(config)) if job.experiment == "real"]
    assert [job.repeats for job in jobs] == [(0,), (1,), (2,), (3,), (4,)]


def test_what_was_never_measured_has_a_few_repeats_in_a_job(config):
    config["protocols"]["given"]["repeats"] = 12
    jobs = [
        job for job in plan.fit_jobs(paper_of(config)) if job.dataset == "draw[a=2,b=1]"
    ]
    assert [len(job.repeats) for job in jobs] == [5, 5, 2]


def test_the_first_job_has_the_repeat_that_others_hold(config):
    config["experiments"]["curve"]["methods"][0]["hold"] = {"gamma": 3}
    jobs = [
        job for job in plan.fit_jobs(paper_of(config)) if job.dataset == "draw[a=1,b=1]"
    ]
    assert [job.repeats for job in jobs] == [(0, 1, 2, 3), (4,)]


def test_the_quick_tier_has_one_job_per_method(config):
    jobs = list(plan.fit_jobs(paper_of(config | {"tier": "quick"})))
    assert [job.repeats for job in jobs] == [(0, 1, 2, 3, 4)] * 3


@pytest.mark.parametrize("paper", PAPERS)
def test_jobs_of_the_papers_are_long_enough_and_not_too_long(paper):
    config = load_paper(paper, "paper")
    jobs = list(plan.fit_jobs(config))
    # What is fitted starts a process for each of these.
    assert len(fit_groups(config)) < 150
    for job in jobs:
        one = config.seconds.get(f"{job.experiment}/{job.dataset}/{job.method}")
        if one is None:
            assert len(job.repeats) <= plan.UNMEASURED_REPEATS
            continue
        assert len(job.repeats) == 1 or one * len(job.repeats) < 600
        if job.chunk:
            assert one * (len(job.repeats) + 1) > 30


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_stems_of_a_real_plan_are_unique(paper, tier):
    stems = [job.stem for job in plan.fit_jobs(load_paper(paper, tier))]
    assert len(stems) == len(set(stems)) > 10


GRID = {"C": [0.5, 1.0, 2.0, 4.0], "lam": [1, 2, 3, 4, 5]}


@pytest.fixture
def searched():
    return MethodSpec("one", "x:One", {}, GRID, "validation", search=8)


def test_a_design_is_part_of_the_grid_in_its_order(searched):
    product = replace(searched, search=None).grid_points()
    points = searched.with_design(3).grid_points()
    assert len(points) == 8
    positions = [product.index(point) for point in points]
    assert positions == sorted(set(positions))


def test_a_design_depends_on_seed_and_method_alone(searched):
    points = searched.with_design(3).grid_points()
    alike = replace(searched, n_tasks=(4,), params={"tol": 1e-3})
    assert alike.with_design(3).grid_points() == points
    assert searched.with_design(4).grid_points() != points
    assert replace(searched, id="other").with_design(3).grid_points() != points


@pytest.mark.parametrize("search", [None, 20, 60])
def test_a_small_grid_is_tried_whole(searched, search):
    whole = replace(searched, search=search)
    assert whole.with_design(3) == whole


def test_an_experiment_may_take_the_first_repeats_of_its_protocol(config):
    config["experiments"]["curve"]["repeats"] = 3
    jobs = [job for job in plan.fit_jobs(paper_of(config)) if job.experiment == "curve"]
    assert [job.repeats for job in jobs[:2]] == [(0, 1), (2,)]
    config["experiments"]["curve"]["repeats"] = 6
    with pytest.raises(ConfigError, match=r"curve.repeats': 6 is more than the 5"):
        list(plan.fit_jobs(paper_of(config)))


def test_a_search_and_its_full_grid_share_repeats_and_grid():
    config = load_paper("yousefi2015", "paper")
    for name in ("robot", "vehicle", "letter"):
        full, searched = (config.experiments[n] for n in (f"{name}_full_grid", name))
        assert full.protocol == searched.protocol
        assert full.datasets == searched.datasets
        assert full.metrics == searched.metrics
    specs = plan.method_specs(config, "letter_full_grid")
    for method in ("group_feature_sharing", "cmtl", "whom", "metag"):
        product = specs[f"{method}_full"].grid_points()
        assert specs[method].grid_points() == product
        assert len(specs[method].with_design(0).grid_points()) == 60 < len(product)
