from pathlib import Path

import pytest

from mtmkl_suite.config.changes import (
    Change,
    changed,
    of_paper,
    of_run,
    parse,
    settable,
)
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import MethodEntry
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.run.workflow import run_workflow

TINY = Path(__file__).parents[3] / "workflow" / "papers" / "tiny"


def test_keys_of_the_run_and_of_the_paper():
    texts = ["seed=7", "protocols.random.repeats=1", "methods.ridge.grid.gamma=[1e-1]"]
    changes = [parse(text) for text in texts]
    assert of_run(changes) == {"seed": 7}
    assert [(change.key, change.value) for change in of_paper(changes)] == [
        ("protocols.random.repeats", 1),
        ("methods.ridge.grid.gamma", [0.1]),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed", "is not KEY=VALUE"),
        ("=7", "is not KEY=VALUE"),
        ("protocols..x=7", "is not KEY=VALUE"),
        ("tier=paper", "use --tier"),
        ("papers=[a]", "use --paper"),
        ("seed=[", "not valid YAML"),
    ],
)
def test_what_is_no_setting(text, words):
    with pytest.raises(ConfigError, match=words):
        parse(text)


def changed_tiny(*texts, tier="quick"):
    return load_paper(TINY, tier, [parse(text) for text in texts])


def test_values_are_set_and_remembered():
    config = changed_tiny(
        "protocols.random.train_samples=50",
        "experiments.digits.methods.features.n_tasks=[5]",
        "methods.ridge.params={}",
        "claims.ceiling_is_better.claim=So it is.",
        "artefacts.table_1.title=Other",
    )
    usual = load_paper(TINY, "quick")
    assert config.protocols["random"].train_samples == 50
    entries = config.experiments["digits"].methods
    assert MethodEntry(method="features", n_tasks=[5]) in entries
    assert config.claims[0].claim == "So it is."
    assert config.artefacts["table_1"].title == "Other"
    assert config.changes["protocols.random.train_samples"] == 50
    assert usual.protocols["random"].train_samples == 60
    assert usual.changes == {}


def test_a_value_per_tier():
    text = "protocols.random.repeats={quick: 1, paper: 3}"
    for tier, repeats in (("quick", 1), ("paper", 3)):
        config = changed_tiny(text, tier=tier)
        assert config.protocols["random"].repeats == repeats


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("protocols.randm.repeats=1", "tiny/experiments.yaml: key 'protocols.randm': "
         "unknown key 'randm'; did you mean 'random'"),
        ("protocols.random.repeats=many", "tiny/experiments.yaml: .*repeats.*many"),
        ("methods.ridge.labl=X", "tiny/experiments.yaml: .*labl"),
        ("experiments.digits.methods.nope.n_tasks=[2]", "unknown item 'nope'"),
        ("experiments.digits.title.x.y=1", "unknown key 'x'"),
        ("experiments.digits.title.x=1", "has no keys"),
        ("artefacts.table_1.scale=big", "tiny/artefacts.yaml: .*scale"),
        ("claims.nope.claim=x", "tiny/claims.yaml: key 'claims.nope'"),
        ("sed=7", "unknown key of a configuration 'sed'; did you mean 'seed'"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_names_file_and_key(text, words):
    with pytest.raises(ConfigError, match=words):
        changed_tiny(text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("sed=7", "seed"),
        ("train_samples=5", "protocols.random.train_samples"),
        ("protocols.randm.train_samples=5", "protocols.random.train_samples"),
        ("protocols.train_samples=5", "protocols.random.train_samples"),
        ("datasets.n_per_clas=5", "experiments.digits.datasets.options.n_per_class"),
        ("experiments.digits.methods.features.tasks=[2]",
         "experiments.digits.methods.features.n_tasks"),
    ],
)  # fmt: skip
def test_a_key_that_is_not_there_has_the_nearest_and_how_to_list_them(text, nearest):
    with pytest.raises(ConfigError) as refusal:
        changed_tiny(text)
    message, _, hint = str(refusal.value).partition("; nearest: ")
    assert "tiny/experiments.yaml: key" in message or text.partition("=")[0] in message
    assert hint.partition(";")[0].split(", ")[0] == nearest
    assert hint.endswith("mtmkl show EXPERIMENT lists the keys that can be set")


def test_a_wrong_value_of_a_key_that_is_there_has_no_other_keys():
    with pytest.raises(ConfigError) as refusal:
        changed_tiny("protocols.random.repeats=many")
    assert "nearest" not in str(refusal.value)
    with pytest.raises(ConfigError) as refusal:
        changed_tiny("zzzzzzzz=1")
    assert "nearest" not in str(refusal.value)
    assert "mtmkl show EXPERIMENT" in str(refusal.value)


def test_every_key_that_is_named_can_be_set():
    config = load_paper(TINY, "quick")
    keys = settable(config)
    assert keys["protocols.random.train_samples"] == 60
    assert keys["experiments.digits.methods.features.n_tasks"] == [5, 10]
    assert keys["claims.ceiling_is_better.args.lower.method"] == "ceiling"
    changes = [Change(tuple(key.split(".")), value) for key, value in keys.items()]
    again = load_paper(TINY, "quick", changes)
    assert again.model_copy(update={"changes": {}}) == config


def test_items_of_lists_have_numbers_too():
    part = {"experiments": {"a": [1, 2, 3]}}
    change = parse("experiments.a.1=5")
    options = {"name": "experiments", "tier": "quick", "source": "x"}
    assert changed(part, [change], **options) == {"experiments": {"a": [1, 5, 3]}}
    assert part == {"experiments": {"a": [1, 2, 3]}}
    with pytest.raises(ConfigError, match=r"unknown item '3' \(known: 0, 1, 2\)"):
        changed(part, [parse("experiments.a.3=5")], **options)


def test_settings_of_a_run_have_a_folder_of_their_own(tmp_path):
    done = run_workflow(
        papers=[str(TINY)],
        experiments=["drawn"],
        settings=["seed=7", "methods.ridge.grid.gamma=[1.0]"],
        repeats=1,
        results=str(tmp_path / "results"),
    )
    name = done.report.parent.name
    assert name.startswith("quick+tiny+drawn+methods.ridge.grid.gamma-")
    assert name.endswith("+repeats=1+seed=7")
    page = done.report.read_text()
    assert "Changed settings:" in page
    assert "repeats = 1" in page


def test_readings_are_not_changed(tmp_path):
    with pytest.raises(ConfigError, match="take one of the two"):
        run_workflow(
            papers=["yousefi2015"],
            readings=True,
            settings=["protocols.robot.repeats=1"],
            results=str(tmp_path / "results"),
        )
    assert not any(tmp_path.iterdir())
