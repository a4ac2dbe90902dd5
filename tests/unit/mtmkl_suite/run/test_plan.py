from itertools import pairwise

import pytest
from configured import of, paper_of, toy

from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import Method, Record
from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.evaluation.cells import FitJob, drawn_points
from mtmkl_suite.run import plan
from mtmkl_suite.run.plan import FitGroup, expected_seconds, fit_groups, fit_jobs

PAPERS = load_run_config().papers


@pytest.fixture
def config():
    return toy()


def repeats(config):
    """Return the repeats of each job by its data set."""
    found = {}
    for job in fit_jobs(paper_of(config)):
        found.setdefault(job.dataset, []).append(job.repeats)
    return found


ONE, NEVER_MEASURED = "draw[a=1,b=1]", "draw[a=2,b=1]"


def test_jobs_are_of_the_product_of_what_varies_and_of_all_repeats(config):
    whole = (0, 1, 2, 3, 4)
    expected = {ONE: [(0, 1), (2, 3), (4,)], NEVER_MEASURED: [whole], "school": [whole]}
    assert repeats(config) == expected
    quick = repeats(config | {"tier": "quick"})
    assert list(quick.items()) == [(name, [whole]) for name in expected]


def test_a_repeat_that_takes_long_is_a_job(config):
    config["seconds"]["real/school/ridge"] = 1e4
    assert repeats(config)["school"] == [(0,), (1,), (2,), (3,), (4,)]


def test_what_was_never_measured_has_a_few_repeats_in_a_job(config):
    config["protocols"]["given"]["repeats"] = 12
    assert [len(each) for each in repeats(config)[NEVER_MEASURED]] == [5, 5, 2]


def test_the_first_job_has_the_repeat_that_others_hold(config):
    config["experiments"]["curve"]["methods"][0]["hold"] = {"gamma": 3}
    assert repeats(config)[ONE] == [(0, 1, 2, 3), (4,)]


def test_an_experiment_may_take_the_first_repeats_of_its_protocol(config):
    config["experiments"]["curve"]["repeats"] = 3
    assert repeats(config)[ONE] == [(0, 1), (2,)]
    config["experiments"]["curve"]["repeats"] = 6
    with pytest.raises(ConfigError, match=r"curve.repeats': 6 is more than the 5"):
        repeats(config)


@pytest.mark.parametrize("paper", PAPERS)
def test_jobs_of_the_papers_are_long_enough_and_not_too_long(paper):
    config = load_paper(paper, "paper")
    jobs = list(fit_jobs(config))
    assert len({job.stem for job in jobs}) == len(jobs) > 10
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


GRID = {"C": [0.5, 1.0, 2.0, 4.0], "lam": [1, 2, 3, 4, 5]}


def searched(points=8, **params):
    search = {"search": {"points": points}} if points else {}
    named = {"label": "One", "class": "x:One", "selection": "validation"}
    return Method.model_validate(named | search | {"params": params, "grid": GRID})


def test_a_design_is_part_of_the_grid_in_its_order():
    product, points = searched().points, drawn_points(searched(), "one", 3)
    assert len(points) == 8
    positions = [product.index(point) for point in points]
    assert positions == sorted(set(positions))


def test_a_design_depends_on_seed_and_method_alone():
    points = drawn_points(searched(), "one", 3)
    assert drawn_points(searched(tol=1e-3), "one", 3) == points
    assert drawn_points(searched(), "one", 4) != points
    assert drawn_points(searched(), "other", 3) != points


@pytest.mark.parametrize("search", [None, 20, 60])
def test_a_small_grid_is_tried_whole(search):
    whole = searched(search)
    assert drawn_points(whole, "one", 3) == whole.points


def test_a_search_and_its_full_grid_share_repeats_and_grid():
    config = load_paper("yousefi2015", "paper")
    for name in ("robot", "vehicle", "letter"):
        full, searched = (config.experiments[n] for n in (f"{name}_full_grid", name))
        assert full.protocol == searched.protocol
        assert full.datasets == searched.datasets
        assert full.metrics == searched.metrics
    used = {entry.method for entry in config.experiments["letter_full_grid"].methods}
    for method in ("group_feature_sharing", "cmtl", "whom", "metag"):
        assert used > {method, f"{method}_full"}
        full, searched = (config.methods[n] for n in (f"{method}_full", method))
        assert searched.points == full.points
        assert len(drawn_points(searched, method, 0)) == 60 < len(full.points)


def test_short_fits_of_the_paper_tier_share_a_process_and_long_ones_do_not():
    config = load_paper("argyriou2008", "paper")
    groups = fit_groups(config)
    assert [job for group in groups for job in group.jobs] == list(fit_jobs(config))
    assert len({group.name for group in groups}) == len(groups)
    for group in groups:
        assert {job.experiment for job in group.jobs} == {group.experiment}
        seconds = [expected_seconds(config, job) for job in group.jobs]
        assert len(seconds) == 1 or sum(seconds) <= plan.PROCESS_SECONDS
    for one, other in pairwise(groups):
        first = expected_seconds(config, other.jobs[0])
        total = first + sum(expected_seconds(config, job) for job in one.jobs)
        assert one.experiment != other.experiment or total > plan.PROCESS_SECONDS


def test_readings_and_the_quick_tier_have_a_process_per_experiment():
    for load, tier in ((load_readings, "paper"), (load_paper, "quick")):
        config = load("argyriou2008", tier)
        groups = fit_groups(config)
        wanted = [job.experiment for job in fit_jobs(config)]
        assert [group.name for group in groups] == list(dict.fromkeys(wanted))
        assert [job.experiment for group in groups for job in group.jobs] == wanted


def group(*methods):
    jobs = tuple(FitJob("robot", "wall", name, 0, (0, 1)) for name in methods)
    return FitGroup("robot/wall", jobs)


def test_more_is_asked_for_than_was_measured():
    measured = {"robot": 401.0, "robot@inputs=raw": 4000.0}
    assert 401 < plan.megabytes(measured, "robot") < plan.UNMEASURED_MEGABYTES
    assert plan.megabytes(measured, "robot@inputs=raw") > 4000
    # A reading that was not measured counts as its experiment.
    of_robot = plan.megabytes(measured, "robot")
    assert plan.megabytes(measured, "robot@tasks=ovr") == of_robot
    assert plan.megabytes(measured, "landmine") == plan.UNMEASURED_MEGABYTES


def test_the_limit_on_time_grows_with_the_measured_seconds():
    config = paper_of({"seconds": {"robot/wall/svm": 1.0, "robot/wall/whom": 900.0}})
    short = plan.minutes(config, group("svm"))
    long = plan.minutes(config, group("svm", "whom"))
    assert short * 60 > 2 * 1.0
    assert long * 60 > 2 * 901.0
    assert short < long
    assert plan.minutes(paper_of({}), group("svm")) * 60 > plan.JOB_SECONDS


def test_results_beside_a_record_are_made_by_one_process():
    config = load_paper("argyriou2008", "paper")
    assert len(plan.result_groups(config)) > 10
    beside = config.model_copy(update={"record": of(Record, {"note": "theirs"})})
    assert [group.name for group in plan.result_groups(beside)] == ["results"]
