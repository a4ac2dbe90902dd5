"""Memory and time that jobs ask schedulers for."""

import pytest
from configured import paper_of

from mtmkl_suite.errors import ConfigError
from mtmkl_suite.evaluation.jobs import FitJob
from mtmkl_suite.run.grouping import FitGroup
from mtmkl_suite.run.plan import JOB_SECONDS
from mtmkl_suite.run.resources import (
    UNMEASURED_MEGABYTES,
    largest_memory,
    measured_memory,
    megabytes,
    minutes,
)


def group(*methods, repeats=(0, 1)):
    jobs = tuple(FitJob("robot", "wall", name, 0, repeats) for name in methods)
    return FitGroup("robot/wall", jobs)


def test_an_experiment_has_the_memory_of_its_largest_job(tmp_path):
    files = {}
    for name, rows in {
        "robot/wall/svm.0": "1.0\t200.5\n",
        "robot/wall/mtl.0": "1.0\t150.0\n2.0\t400.2\n",
        "robot/wall/stl.0": "0.1\t-\n",
        "record": "1.0\t90\n",
    }.items():
        files[name] = tmp_path / name.replace("/", "_")
        files[name].write_text("s\tmax_rss\n" + rows)
    assert largest_memory(files) == {"robot": 401, "record": 90}


def test_a_table_is_read_and_what_is_none_is_named(tmp_path):
    path = tmp_path / "memory.csv"
    assert measured_memory(path) == {}
    path.write_text("job,megabytes\nrobot,401\n")
    assert measured_memory(path) == {"robot": 401.0}
    path.write_text("job,megabytes\nrobot,much\n")
    with pytest.raises(ConfigError, match=r"memory\.csv: not a table of job and mega"):
        measured_memory(path)


def test_more_is_asked_for_than_was_measured():
    measured = {"robot": 401.0, "robot@inputs=raw": 4000.0}
    assert 401 < megabytes(measured, "robot") < UNMEASURED_MEGABYTES
    assert megabytes(measured, "robot@inputs=raw") > 4000
    # A reading that was not measured counts as its experiment.
    assert megabytes(measured, "robot@tasks=ovr") == megabytes(measured, "robot")
    assert megabytes(measured, "landmine") == UNMEASURED_MEGABYTES


def test_the_limit_on_time_grows_with_the_measured_seconds():
    config = paper_of({"seconds": {"robot/wall/svm": 1.0, "robot/wall/whom": 900.0}})
    short, long = minutes(config, group("svm")), minutes(config, group("svm", "whom"))
    assert short * 60 > 2 * 1.0
    assert long * 60 > 2 * 901.0
    assert short < long
    assert minutes(paper_of({}), group("svm")) * 60 > JOB_SECONDS
