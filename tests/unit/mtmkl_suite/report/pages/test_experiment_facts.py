import pytest

from mtmkl_suite.report.pages.experiment_facts import _in_section


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        ("5.2, Fig. 1", " (sec. 5.2, Fig. 1)"),
        ("classification", ""),
        ("none (ours)", ""),
    ],
)
def test_only_sections_of_a_paper_are_named(section, shown):
    assert _in_section(section) == shown
