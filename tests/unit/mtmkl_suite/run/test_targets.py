"""Files of a run, and those they are made of."""

from pathlib import Path

import pytest
import tiny_workflow

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.run.plan import data_groups, result_groups
from mtmkl_suite.run.targets import Targets

TINY = str(tiny_workflow.TINY)
DATASET = "digits[n_per_class=10]"
SLOW = f"digits/{DATASET}/slow"


@pytest.fixture
def targets(monkeypatch):
    """Return the files of a run of the tiny paper."""
    monkeypatch.syspath_prepend(Path(TINY).parents[1])

    def targets(**settings):
        usual = load_run_config().model_dump() | {"download": "never"}
        found = {"on_missing_data": None, "papers": [TINY]}
        return Targets(load_run_config({**usual, **found, **settings}))

    return targets


def test_fits_of_an_experiment_share_a_process_in_the_quick_tier(targets):
    files = targets()
    assert len(files.fit_files("tiny")) == 2 * len(files.papers["tiny"].experiments)
    paper = files.papers["tiny"]
    assert len(data_groups(paper)) == len(result_groups(paper)) == 1


def test_later_repeats_wait_for_what_the_first_have_chosen(targets):
    files = targets(tier="paper")
    first, second = (files.fit_inputs("tiny", f"{SLOW}.{k}") for k in range(2))
    folder = files.folder("tiny")
    assert first["chosen"] == []
    assert second["chosen"] == [str(folder.scores_of(f"{SLOW}.0"))]
    assert second["splits"] == [str(folder.splits("random", DATASET))]


def test_fits_depend_on_the_code_of_their_own_methods(targets):
    files = targets()
    groups = files.papers["tiny"].experiments
    found = {name: files.versions("tiny", name) for name in groups}
    own = targets(tier="paper").versions("tiny", f"{SLOW}.0")
    assert len(own) == 1
    assert own.items() < found["digits"].items()


def test_a_table_waits_for_its_experiment_and_the_record_for_everything(targets):
    files = targets(tier="paper")
    table, record = result_groups(files.papers["tiny"])
    of_table = files.result_inputs("tiny", table)
    assert set(files.fit_files("tiny", ["digits"])) <= set(of_table)
    assert not set(files.fit_files("tiny", ["drawn"])) & set(of_table)
    assert files.published_numbers("tiny")[0] in of_table
    of_record = files.result_inputs("tiny", record)
    assert {*files.fit_files("tiny"), *files.written_files("tiny")} <= set(of_record)
    made = files.result_files("tiny", table)
    written = [path for path in made if path.endswith("json")]
    assert written == [path for path in of_record if "/artefacts/" in path]


def test_claims_are_no_matter_of_a_table(targets):
    files = targets(tier="paper")
    table, record = result_groups(files.papers["tiny"])
    assert files.result_arguments("tiny", table)["config"].claims == []
    assert files.result_arguments("tiny", table)["run"] is None
    assert files.result_arguments("tiny", record)["config"] == files.papers["tiny"]


def test_tables_beside_a_record_are_known_once_the_data_are(targets):
    files = targets(
        papers=["argyriou2008"], tier="paper", experiments=["digits"],
        methods=["mtmkl.methods.rr_het:RRHetRegressor"], against="published",
    )  # fmt: skip
    (group,) = result_groups(files.papers["argyriou2008"])
    made = files.result_files("argyriou2008", group)
    assert made == files.record("argyriou2008")
    assert files.artefacts("argyriou2008") == {}
    (fits,) = {path.split("/")[-2] for path in files.fit_files("argyriou2008")}
    assert fits.startswith("digits[")
    (scores,) = files.published_before("argyriou2008")
    assert scores.endswith("figures/argyriou2008/scores.csv.gz")
