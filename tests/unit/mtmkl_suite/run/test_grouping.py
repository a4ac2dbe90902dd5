"""Which fits share a process."""

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.run.grouping import fit_groups
from mtmkl_suite.run.plan import fit_jobs


def test_fits_of_the_paper_tier_have_a_process_each():
    config = load_paper("argyriou2008", "paper")
    assert [len(group.jobs) for group in fit_groups(config)] == [1] * len(
        list(fit_jobs(config))
    )


def test_readings_and_the_quick_tier_have_a_process_per_experiment():
    for config in (
        load_readings("argyriou2008", "paper"),
        load_paper("argyriou2008", "quick"),
    ):
        groups = fit_groups(config)
        wanted = [job.experiment for job in fit_jobs(config)]
        assert [group.name for group in groups] == list(dict.fromkeys(wanted))
        assert [job.experiment for group in groups for job in group.jobs] == wanted
