import pytest

from mtmkl_suite.config.load import expand

LISTS = {
    "sets": [
        {"id": "a", "label": "A", "sizes": [10, 20]},
        {"id": "b", "label": "B", "sizes": [20], "tiers": ["paper"]},
    ],
    "baselines": ["x", "y"],
}


SETS = {"for_each": {"set": "sets"}}


@pytest.mark.parametrize(
    ("document", "made"),
    [
        # What has no for_each stays as it is.
        ({"a": [1, "{b}", {"c": None}], "d": '{"alpha": 1.0}'},) * 2,
        # Items are repeated in place, the first axis slowest.
        (
            ["before",
             {"for_each": {"set": "sets", "baseline": "baselines"},
              "id": "{set.id}_{baseline}"},
             "after"],
            ["before", *({"id": f"{s}_{r}"} for s in "ab" for r in "xy"), "after"],
        ),
        # Entries of a mapping keep their order.
        (
            {
                "first": 0,
                "{set.label}, {size} %": {
                    "for_each": {"set": "sets", "size": "{set.sizes}"},
                    "where": {"experiment": "{set.id}", "train_size": "{size}"},
                },
                "last": 1,
            },
            {
                "first": 0,
                "A, 10 %": {"where": {"experiment": "a", "train_size": 10}},
                "A, 20 %": {"where": {"experiment": "a", "train_size": 20}},
                "B, 20 %": {"where": {"experiment": "b", "train_size": 20}},
                "last": 1,
            },
        ),
        # A lone placeholder is the value itself.
        (
            [{"for_each": {"s": [[1, 2]]}, "n": "{s}", "t": "{s}!"}],
            [{"n": [1, 2], "t": "[1, 2]!"}],
        ),
        # A key is left out where the item lacks the field.
        (
            {"{set.id}": {**SETS, "tiers": "{set.tiers}"}},
            {"a": {}, "b": {"tiers": ["paper"]}},
        ),
        # Groups of entries may hold further ones.
        (
            [{**SETS, "entries": [
                {"id": "{set.id}"},
                {"for_each": {"size": [1, 2]}, "id": "{set.id}_{size}"},
            ]}],
            [{"id": name} for name in ("a", "a_1", "a_2", "b", "b_1", "b_2")],
        ),
        # Braces around no name are text.
        (
            [{"for_each": {"a": [0.5]}, "setting": '{"alpha": {a}}'}],
            [{"setting": '{"alpha": 0.5}'}],
        ),
    ],
)  # fmt: skip
def test_entries_are_repeated_with_their_placeholders_filled(document, made):
    found = expand(document, LISTS)
    assert found == made
    assert list(found) == list(made)


ALL = {"for_each": {"r": "baselines"}}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"for_each": {"set": "setz"}}, r"0': unknown list 'setz'; .*known: sets, b"),
        ({**SETS, "id": "{set.lable}"}, r"0\.id': unknown .* 'set\.lable'; .*'set\.la"),
        ({**ALL, "id": "{r.id}"}, r"unknown placeholder 'r\.id'"),
        ({**SETS, "id": "{set.id} {set.tiers}"}, r"0\.id': {set\.tiers}: this item ha"),
        ({"for_each": "sets"}, "for_each is 'sets', not a mapping of names to lists"),
        ({"for_each": {"n": []}}, r"for_each\.n is \[\], not a list with items"),
        ({**ALL, "entries": [{**ALL, "id": "{r}"}]}, "has the name 'r' of an outer on"),
        ({**ALL, "a": {"{r}": 1, "x": 2}}, r"0\.a\.x': the key 'x' is made twice"),
    ],
)
def test_mistakes_name_the_key_and_what_is_known(entry, message):
    with pytest.raises(ValueError, match=message):
        expand({"claims": [entry]}, LISTS)
