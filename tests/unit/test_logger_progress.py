"""The line of progress on a terminal and elsewhere."""

import io

import pytest

from snakemake_logger_plugin_mtmkl.progress import ProgressLine, duration


def test_ten_plain_lines_at_most_without_a_terminal():
    stream = io.StringIO()
    with ProgressLine(500, "jobs", stream) as line:
        for done in range(1, 501):
            line.update(done, seconds_left=90.0)
    shown = stream.getvalue().splitlines()
    assert len(shown) == 10
    assert shown[0] == "50 of 500 jobs, about 2 min left"
    assert shown[-1] == "500 of 500 jobs"


def test_few_pieces_are_a_line_each():
    stream = io.StringIO()
    with ProgressLine(2, "fits", stream) as line:
        line.update(1)
        line.print("[one]")
        line.update(2)
    first, printed, last = stream.getvalue().splitlines()
    assert first == "1 of 2 fits, time left not known yet"
    assert printed == "[one]"
    assert last == "2 of 2 fits"


def test_no_work_is_no_line():
    stream = io.StringIO()
    with ProgressLine(0, "jobs", stream) as line:
        line.update(0)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (59, "59 s"),
        (90, "2 min"),
        (3580, "1 h 0 min"),
        (8100, "2 h 15 min"),
    ],
)
def test_a_duration_is_said_as_people_do(seconds, text):
    assert duration(seconds) == text
