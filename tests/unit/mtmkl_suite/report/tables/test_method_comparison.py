import pytest
from compared_methods import COMPARISON, MEANS, artefact, context

from mtmkl_suite.report.tables.layouts import build
from mtmkl_suite.report.tables.method_comparison import compare_block

FEATURES = [name for name in MEANS if name != "Images"]


def by_method(table):
    return {line[0]: line[1:] for line in table.body}


def test_all_data_sets_of_the_tested_methods_count():
    found = compare_block(context(), COMPARISON, "10 %")
    assert list(found.scores.values.index) == list(MEANS)
    # Linear was not run on images.
    assert list(found.methods.index) == ["Ours", "Alone"]
    assert list(found.methods["mean_rank"]) == [1.0, 2.0]


def test_a_method_is_ranked_where_it_has_every_value():
    found = compare_block(context(FEATURES), COMPARISON, "10 %")
    # By hand: Linear is second on F alone.
    ranks = {"Ours": 1.0, "Alone": (5 * 2 + 3) / 6, "Linear": (5 * 3 + 2) / 6}
    assert dict(found.methods["mean_rank"]) == pytest.approx(ranks)
    tested = compare_block(context(FEATURES), COMPARISON, "10 %", only_tested=True)
    assert set(tested.methods.index) == {"Ours", "Alone"}
    assert tested.rope == 0.5
    assert (len(found.pairs), len(tested.pairs)) == (0, 1)


@pytest.mark.parametrize("names", [(), ("A",)])
def test_fewer_than_two_data_sets_are_not_compared(names):
    found = compare_block(context(names), COMPARISON, "10 %")
    assert found.endswith("a comparison needs two of each")
    for layout in ("method_scores", "method_ranks", "method_pairs"):
        text = build(context(names), artefact(layout)).markdown()
        assert (layout == "method_scores") != ("No data" in text or "no data" in text)


def test_scores_are_means_over_repeats_and_sizes():
    table = build(context(), artefact("method_scores"))
    # Over sizes A has (60 + 80) / 2; the two repeats differ by 0.4.
    assert by_method(table)["Alone"][0] == "70.0 ± 0.3"
    assert by_method(table)["Linear"][-1] == "–"
    cells = table.cells.set_index(["block", "method", "data set"])
    assert cells.loc[("50 %", "Ours", "D"), "mean"] == pytest.approx(85.0)
    assert cells.loc[("50 %", "Ours", "D"), "n"] == 2
    reason = cells.loc[("50 %", "Linear", "Images"), "missing"]
    assert reason == "not run in this tier"


def test_ranks_have_every_size_and_the_tests_of_the_main_one():
    table = build(context(FEATURES), artefact("method_ranks"))
    lines = by_method(table)
    assert list(lines) == ["Ours", "Alone", "Linear"]
    assert lines["Ours"][:3] == ["1.00", "1.00", "1.00"]
    # Means over sizes and data sets by hand.
    gain = sum(sum(b) - sum(a) for a, b in _sizes("Alone", "Ours")) / 12
    assert lines["Ours"][4] == f"{gain:+.2f}"
    assert lines["Alone"][4:] == ["–", "–"]
    assert table.cells.groupby("block").size().to_dict() == dict.fromkeys(
        COMPARISON["blocks"], 3
    )
    assert "3 methods on 6 data sets (A, B, C, D, E, F); differ" in table.notes[-1]


def _sizes(first, second):
    names = ["Alone", "Ours", "Linear"]
    one, two = names.index(first), names.index(second)
    return [
        ([size[one] for size in MEANS[name]], [size[two] for size in MEANS[name]])
        for name in FEATURES
    ]


def test_pairs_have_their_power_limit():
    table = build(context(FEATURES), artefact("method_pairs"))
    (line,) = table.body
    assert line[:2] == ["Ours", "Alone"]
    assert line[4] == "6–0–0"
    # Six differences of one sign: 2 / 2^6.
    assert line[5] == line[6] == "0.031"
    assert "0.031" in table.notes[1]


def test_what_is_left_out_has_its_reason():
    told = artefact(
        "left_out",
        left_out=[{"methods": ["Linear"], "rows": ["Images"], "reason": "no features"}],
    )
    assert build(context(), told).body == [["Linear", "Images", "no features"]]
    untold = build(context(), artefact("left_out"))
    assert untold.body == [["Linear", "Images", "not run in this tier"]]
    assert build(context(FEATURES), artefact("left_out")).body[0] == [
        "Alone, Ours", "Images", "no scores",
    ]  # fmt: skip
