"""Fits that share a process."""

from itertools import pairwise

from configured import of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Record
from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.run.grouping import (
    PROCESS_SECONDS,
    all_results,
    fit_groups,
    result_groups,
)
from mtmkl_suite.run.plan import expected_seconds, fit_jobs


def test_short_fits_of_the_paper_tier_share_a_process_and_long_ones_do_not():
    config = load_paper("argyriou2008", "paper")
    groups = fit_groups(config)
    assert [job for group in groups for job in group.jobs] == list(fit_jobs(config))
    assert len({group.name for group in groups}) == len(groups)
    for group in groups:
        assert {job.experiment for job in group.jobs} == {group.experiment}
        seconds = [expected_seconds(config.seconds, job) for job in group.jobs]
        assert len(seconds) == 1 or sum(seconds) <= PROCESS_SECONDS
    for one, other in pairwise(groups):
        first = expected_seconds(config.seconds, other.jobs[0])
        total = sum(expected_seconds(config.seconds, job) for job in one.jobs)
        assert one.experiment != other.experiment or total + first > PROCESS_SECONDS


def test_readings_and_the_quick_tier_have_a_process_per_experiment():
    for config in (
        load_readings("argyriou2008", "paper"),
        load_paper("argyriou2008", "quick"),
    ):
        groups = fit_groups(config)
        wanted = [job.experiment for job in fit_jobs(config)]
        assert [group.name for group in groups] == list(dict.fromkeys(wanted))
        assert [job.experiment for group in groups for job in group.jobs] == wanted


def test_results_beside_a_record_are_made_by_one_process():
    config = load_paper("argyriou2008", "paper")
    assert len(result_groups(config)) > 10
    beside = config.model_copy(update={"record": of(Record, {"note": "theirs"})})
    assert result_groups(beside) == [all_results(beside)]
