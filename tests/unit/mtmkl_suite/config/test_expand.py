import pytest

from mtmkl_suite.config.load import expand

LISTS = {
    "sets": [
        {"id": "a", "label": "A", "sizes": [10, 20]},
        {"id": "b", "label": "B", "sizes": [20], "tiers": ["paper"]},
    ],
    "baselines": ["x", "y"],
}


def test_what_has_no_for_each_stays_as_it_is():
    document = {"a": [1, "{b}", {"c": None}], "d": '{"alpha": 1.0}'}
    assert expand(document, LISTS) == document


def test_items_are_repeated_in_place_the_first_axis_slowest():
    document = [
        "before",
        {
            "for_each": {"set": "sets", "baseline": "baselines"},
            "id": "{set.id}_{baseline}",
        },
        "after",
    ]
    assert expand(document, LISTS) == [
        "before",
        *({"id": f"{s}_{r}"} for s in "ab" for r in "xy"),
        "after",
    ]


def test_entries_of_a_mapping_keep_their_order():
    document = {
        "first": 0,
        "{set.label}, {size} %": {
            "for_each": {"set": "sets", "size": "{set.sizes}"},
            "where": {"experiment": "{set.id}", "train_size": "{size}"},
        },
        "last": 1,
    }
    made = expand(document, LISTS)
    assert list(made) == ["first", "A, 10 %", "A, 20 %", "B, 20 %", "last"]
    assert made["B, 20 %"] == {"where": {"experiment": "b", "train_size": 20}}


def test_a_lone_placeholder_is_the_value_itself():
    document = [{"for_each": {"set": "sets"}, "n": "{set.sizes}", "t": "{set.sizes}!"}]
    assert expand(document, LISTS)[0] == {"n": [10, 20], "t": "[10, 20]!"}


def test_a_key_is_left_out_where_the_item_lacks_the_field():
    document = {"{set.id}": {"for_each": {"set": "sets"}, "tiers": "{set.tiers}"}}
    assert expand(document, LISTS) == {"a": {}, "b": {"tiers": ["paper"]}}


def test_groups_of_entries_may_hold_further_ones():
    document = [
        {
            "for_each": {"set": "sets"},
            "entries": [
                {"id": "{set.id}"},
                {"for_each": {"size": [1, 2]}, "id": "{set.id}_{size}"},
            ],
        }
    ]
    ids = [item["id"] for item in expand(document, LISTS)]
    assert ids == ["a", "a_1", "a_2", "b", "b_1", "b_2"]


def test_braces_around_no_name_are_text():
    document = [{"for_each": {"a": [0.5]}, "setting": '{"alpha": {a}}'}]
    assert expand(document, LISTS) == [{"setting": '{"alpha": 0.5}'}]


ALL = {"for_each": {"r": "baselines"}}
SETS = {"for_each": {"set": "sets"}}


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
