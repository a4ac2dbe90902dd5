import copy

import pytest
from tiny_workflow import TINY

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Method, MethodEntry
from mtmkl_suite.config.overlay import (
    Whole,
    at,
    of_paper,
    of_run,
    overlaid,
    settable,
    settings_of,
)
from mtmkl_suite.errors import ConfigError


def test_keys_of_the_run_and_of_the_paper():
    texts = ["seed=7", "protocols.random.repeats=1", "methods.ridge.grid.gamma=[1e-1]"]
    settings = settings_of(texts)
    assert of_run(settings) == {"seed": 7}
    assert of_paper(settings) == {
        "protocols.random.repeats": 1,
        "methods.ridge.grid.gamma": [0.1],
    }


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
        settings_of([text])


def changed_tiny(*texts, tier="quick"):
    return load_paper(TINY, tier, settings_of(texts))


def test_values_are_set_and_remembered():
    config = changed_tiny(
        "protocols.random.train_samples=50",
        "experiments.digits.methods.features.n_tasks=[5]",
        "methods.ridge.params={}",
        "artefacts.table_1.title=Other",
    )
    usual = load_paper(TINY, "quick")
    assert config.protocols["random"].train_samples == 50
    entries = config.experiments["digits"].methods
    assert MethodEntry(method="features", n_tasks=[5]) in entries
    assert config.artefacts["table_1"].title == "Other"
    assert config.changes["protocols.random.train_samples"] == 50
    assert usual.protocols["random"].train_samples == 60
    assert usual.changes == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("protocols.randm.repeats=1", "tiny/experiments.yaml: key 'protocols.randm':"),
        ("protocols.random.repeats=many", "tiny/experiments.yaml: .*repeats.*many"),
        ("experiments.digits.methods.nope.n_tasks=[2]", "unknown item 'nope'"),
        ("experiments.digits.title.x=1", "has no keys"),
        ("artefacts.table_1.scale=big", "tiny/artefacts.yaml: .*scale"),
        ("sed=7", "unknown key of a configuration 'sed'; did you mean 'seed'"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_names_file_and_key(text, words):
    with pytest.raises(ConfigError, match=words):
        changed_tiny(text)


LISTED = "; mtmkl show NAME lists the keys that can be set"
NEAREST = "; nearest: "


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("train_samples=5", f"{NEAREST}protocols.random.train_samples"),
        ("protocols.train_samples=5", f"{NEAREST}protocols.random.train_samples"),
        (
            "datasets.n_per_clas=5",
            f"{NEAREST}experiments.digits.datasets.options.n_per_class",
        ),
        ("zzzzzzzz=1", LISTED),
    ],
)
def test_a_key_that_is_not_there_has_the_nearest_and_how_to_list_them(text, hint):
    with pytest.raises(ConfigError, match=rf"{hint}\b") as refusal:
        changed_tiny(text)
    assert str(refusal.value).endswith(LISTED)
    assert (NEAREST in str(refusal.value)) == hint.startswith(NEAREST)


def test_a_wrong_value_of_a_key_that_is_there_has_no_other_keys():
    with pytest.raises(ConfigError) as refusal:
        changed_tiny("protocols.random.repeats=many")
    assert LISTED not in str(refusal.value)


def test_every_key_that_is_named_can_be_set():
    config = load_paper(TINY, "quick")
    keys = settable(config)
    assert keys["protocols.random.train_samples"] == 60
    assert keys["experiments.digits.methods.features.n_tasks"] == [5, 10]
    again = load_paper(TINY, "quick", keys)
    assert again.model_copy(update={"changes": {}}) == config


LAYERS = {"a": {"b": 1, "c": [1, 2]}, "items": [{"id": "x", "n": 1}, {"id": "y"}]}


@pytest.mark.parametrize(
    ("overlay", "made"),
    [
        ({"a": {"b": 2}}, {**LAYERS, "a": {"b": 2, "c": [1, 2]}}),
        ({"a": {"d": 2}}, {**LAYERS, "a": {"b": 1, "c": [1, 2], "d": 2}}),
        ({"a": Whole({"d": 2})}, {**LAYERS, "a": {"d": 2}}),
        ({"a": {"c": [3]}}, {**LAYERS, "a": {"b": 1, "c": [3]}}),
        ({"a": {"c": {"1": 5}}}, {**LAYERS, "a": {"b": 1, "c": [1, 5]}}),
        ({"a": None, "none": None}, {"items": LAYERS["items"]}),
        (
            {"items": {"x": {"n": None}, "1": {"n": 2}}},
            {**LAYERS, "items": [{"id": "x"}, {"id": "y", "n": 2}]},
        ),
        (at("a.c.0", 7), {**LAYERS, "a": {"b": 1, "c": [7, 2]}}),
    ],
)
def test_an_overlay_is_merged_key_by_key(overlay, made):
    before = copy.deepcopy(LAYERS)
    assert overlaid(LAYERS, overlay) == made
    assert before == LAYERS


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        (at("a.bb.c", 1), r"file: key 'a\.bb': unknown key 'bb'; did you mean 'b'"),
        (at("a.b.c", 1), r"file: key 'a\.b' is 1 and has no keys"),
        (at("a.c.2", 1), r"file: key 'a\.c\.2': unknown item '2' \(known: 0, 1\)"),
        (at("items.z", 1), r"unknown item 'z' \(known: x, y\)"),
    ],
)
def test_a_key_that_is_not_there_is_refused(overlay, message):
    with pytest.raises(ConfigError, match=message):
        overlaid(LAYERS, overlay, "file")


def test_a_model_under_an_overlay_is_checked_anew():
    method = Method.model_validate(
        {"label": "A", "class": "A", "grid": {"C": [1]}, "selection": "common"}
    )
    made = overlaid(method, {"class": "B", "params": {"tol": 1}, "grid": {"C": [2]}})
    assert (made.class_name, made.params, made.grid) == ("B", {"tol": 1}, {"C": [2]})
    assert made.selection == method.selection
    with pytest.raises(ConfigError, match=r"method A: key 'grid\.C': 2: input"):
        overlaid(method, {"grid": {"C": 2}}, "method A")
    with pytest.raises(ConfigError, match="unknown key 'labl'"):
        overlaid(method, {"labl": "B"})
