import pytest
from configured import changed, paper_of

from mtmkl_suite.config.models import Variant
from mtmkl_suite.report.pages.experiments import (
    _in_section,
    data_uses,
    options_in_words,
    title_of,
    variant_in_words,
)

CONFIG = paper_of(
    {
        "paper": {"id": "p"},
        "experiments": {
            "a": {"title": "First", "datasets": {"name": "school"}},
            "b": {
                "title": "Second",
                "datasets": {"name": "digits", "vary": {"n_per_class": [10, 20]}},
            },
            "c": {"title": "Third", "datasets": {"name": "school"}},
        },
    }
)
FULL = changed(
    CONFIG,
    {
        "experiments": {
            "a": CONFIG.experiments["a"],
            "d": {"title": "Fourth", "datasets": {"name": "landmine"}},
        },
    },
)
INFOS = {
    "school": {"status": "ok", "title": "School", "digest": "aa"},
    "digits[n_per_class=10]": {"status": "ok", "title": "Digits", "digest": "bb"},
    "digits[n_per_class=20]": {"status": "missing", "title": "Digits", "reason": "no"},
}
PUBLISHED = {"school": {"digest": "aa"}, "digits[n_per_class=10]": {"digest": "cc"},
             "landmine": {"digest": "dd"}}  # fmt: skip


def test_a_data_set_has_its_experiments_and_hashes():
    uses = data_uses(CONFIG, "P 2000", INFOS, published=PUBLISHED, full=FULL)
    school, ten, twenty, landmine = uses
    assert school.experiments == ["First", "Third"]
    assert school.hash_in_words == "aa, as in the published record"
    assert ten.variant.id == "digits[n_per_class=10]"
    assert ten.hash_in_words == "bb; published record: cc"
    assert (twenty.is_here, twenty.hash_in_words) == (False, "")
    # Of the full protocols alone: what the registry knows of it.
    assert (landmine.is_of_run, landmine.experiments) == (False, ["Fourth"])
    assert landmine.hash_in_words == "dd (published record)"
    assert landmine.info["licence"]
    assert title_of([twenty]) == "Digits"


def test_without_a_record_there_are_only_those_of_the_run():
    uses = data_uses(CONFIG, "P 2000", INFOS, published={}, full=None)
    assert [use.is_of_run for use in uses] == [True] * 3
    assert uses[0].hash_in_words == "aa"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ""),
        ({"bias": True}, "bias: yes"),
        ({"ignore": [], "n_tasks": 3}, "ignore: none; n tasks: 3"),
        ({"ignore": ["score", "age"]}, "ignore: score, age"),
        ({"inputs": "unit_range"}, "inputs: unit range"),
    ],
)
def test_options_are_words(options, words):
    assert options_in_words(options) == words


def test_a_file_of_ones_own_is_named_without_its_folder():
    variant = Variant("/home/me/my.csv", {"task": "school", "ignore": ["score"]})
    info = {"title": "my.csv"}
    words = "my.csv (task: school; ignore: score)"
    assert variant_in_words(variant, info) == words
    assert variant_in_words(variant, {}) == words


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
