from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from compared_methods import COMPARISON, DECISIONS, MEANS, artefact, context
from configured import of, paper_of

from mtmkl_suite.config.models import Method, MethodEntry
from mtmkl_suite.judge.overlap import Overlap
from mtmkl_suite.papers.comparison import figures
from mtmkl_suite.report.artefacts import build
from mtmkl_suite.report.tables.comparison import (
    compare_block,
    joined_columns,
    notes_on_printed_ranks,
)
from mtmkl_suite.statistics.hierarchical import hierarchical_posterior

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
    # Over data sets, sizes, and the two methods.
    alone, ours, _ = np.mean([MEANS[name] for name in FEATURES], axis=(0, 1))
    gain = ours - alone
    assert lines["Ours"][4] == f"{gain:+.2f}"
    assert lines["Alone"][4:] == ["–", "–"]
    assert table.cells.groupby("block").size().to_dict() == dict.fromkeys(
        COMPARISON.blocks, 3
    )
    assert "3 methods on 6 data sets (A, B, C, D, E, F); differ" in table.notes[-1]


def test_pairs_have_their_power_limit():
    table = build(context(FEATURES), artefact("method_pairs", notes=["Added later."]))
    assert table.notes[-1] == "Added later."
    (line,) = table.body
    assert line[:2] == ["Ours", "Alone"]
    assert line[4] == "6–0–0"
    # Six differences of one sign: 2 / 2^6.
    assert line[5] == line[6] == "0.031"
    assert "0.031" in table.notes[1]


def with_more_repeats(names):
    """Return results of six repeats, which differ by the same for all methods or less.

    Ours is 5 points better than Alone with 10 %, and 1.5 to 3 with both sizes.
    """
    few = context(names)
    rng = np.random.default_rng(0)
    scores = pd.concat(
        [
            few.scores.assign(
                repeat=few.scores["repeat"] + 2 * copy,
                value=few.scores["value"] + rng.normal(0, 0.002, len(few.scores)),
            )
            for copy in range(3)
        ],
        ignore_index=True,
    )
    split = Overlap(pool_share=1.0, test_share=0.25, train_share=0.5)
    places = few.scores[["experiment", "dataset", "train_size"]].drop_duplicates()
    overlaps = dict.fromkeys(places.itertuples(index=False, name=None), split)
    return replace(few, scores=scores, overlaps=overlaps)


def test_posteriors_are_those_of_all_repeats_of_the_ranked_methods():
    found = with_more_repeats(FEATURES)
    table = build(found, artefact("method_posteriors"))
    assert table.cells.groupby("block").size().to_dict() == dict.fromkeys(
        COMPARISON.blocks, 3
    )
    cells = table.cells.set_index(["block", "first", "second"])
    for block, ratio in (("10 %", 1 / 3), ("all sizes", 1 / (0 + 2 * 3 / 4))):
        gains = []
        for name in FEATURES:
            rows = found.scores[found.scores["experiment"] == name.lower()]
            if block == "10 %":
                rows = rows[rows["train_size"] == 10]
            by_repeat = rows.groupby(["repeat", "method"])["value"].mean().unstack()
            gains.append(100 * (by_repeat["ours"] - by_repeat["alone"]).to_numpy())
        reference = hierarchical_posterior(gains, [ratio] * len(gains), rope=0.5)
        names = ["p_first_better", "p_equivalent", "p_second_better"]
        mine = cells.loc[(block, "Ours", "Alone")]
        expected = reference.probabilities.round(10)
        np.testing.assert_array_equal(mine[names].astype(float), expected)
    shown = {line[0] for line in table.body}
    decided = cells.loc["all sizes"].query("probability > 0.95")
    assert len(shown) == len(decided) >= 1
    assert any(words.startswith("Ours beats Alone with probability") for words in shown)
    assert "differences up to 0.5 points count as none" in table.notes[1]


def baselines(first="Linear", second="Ours"):
    return artefact("baselines", baselines=[first], proposed=[second])


def test_a_baseline_is_compared_with_the_control_and_the_best_of_the_papers():
    found = with_more_repeats(FEATURES)
    table = build(found, baselines())
    posteriors = build(found, artefact("method_posteriors")).cells
    assert [line[:2] for line in table.body] == [
        ["Linear", "Alone"],
        ["Linear", "Ours"],
    ]
    # By hand: Linear is above Alone on F alone, by one point with both sizes.
    assert table.body[0][3] == "1–0–5"
    assert table.body[1][3] == "0–0–6"
    cells = table.cells.set_index(["block", "first", "second"])
    known = posteriors.set_index(["block", "first", "second"])
    for block in COMPARISON.blocks:
        # The same pair, the other way around.
        mine = cells.loc[(block, "Linear", "Ours"), "p_first_better"]
        theirs = known.loc[(block, "Ours", "Linear"), "p_second_better"]
        assert mine == pytest.approx(theirs, abs=1e-9)
    assert table.notes[0].startswith("Ours: better than every baseline, P > 0.99")


# As floats, 100 (0.606 + 0.602) / 2 − 100 (0.601 + 0.597) / 2 is not always a half.
def test_differences_that_are_the_region_but_for_rounding_are_ties(monkeypatch):
    for k, name in enumerate(FEATURES):
        values = (60.1 + k / 10, 60.6 + k / 10, 60.6 + k / 10)
        monkeypatch.setitem(MEANS, name, (values, values))
    table = build(context(FEATURES), baselines())
    assert [line[3] for line in table.body] == ["0–6–0", "0–6–0"]
    assert set(table.cells["rank_first"]) == {1.5}


def test_no_method_beats_a_baseline_that_is_better():
    table = build(with_more_repeats(FEATURES), baselines("Ours", "Linear"))
    assert table.notes[0].startswith("No method of the papers beats all 1 baselines")
    assert "Linear comes nearest: it beats Ours" in table.notes[0]


def test_baselines_without_all_data_sets_or_repeats_are_told():
    table = build(context(), baselines())
    # Linear was not run on images, and two repeats are too few.
    assert table.body == []
    assert "Images" not in " ".join(table.notes)
    few = build(context(FEATURES), baselines())
    assert few.body[0][4:] == ["–"] * 3
    assert few.notes[0].startswith("Too few data sets or repeats")
    assert build(context(()), baselines()).body == []


@pytest.mark.parametrize("names", [FEATURES, ("A", "B"), ()])
def test_too_few_repeats_or_data_sets_have_no_posterior(names):
    table = build(context(names), artefact("method_posteriors"))
    assert not table.body
    assert len(table.notes) == len(COMPARISON.blocks)
    assert "needs 5 of 3" in table.notes[0]


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


EVERYWHERE = tuple(MEANS)


def with_mine(datasets, gain=1.0):
    """Return results in which Mine, who joined, is better than Ours by so many points.

    It has scores on these data sets.
    """
    found = context()
    columns = COMPARISON.columns | {"Mine": ["mine"]}
    comparison = COMPARISON.model_copy(update={"columns": columns})
    ours = found.scores[
        found.scores["method"].isin(["ours", "ours_images"])
        & found.scores["experiment"].isin([name.lower() for name in datasets])
    ]
    mine = ours.assign(method="mine", value=ours["value"] + gain / 100)
    joined = {"mine": of(Method, {"label": "Mine", "class": "my:Mine"})}
    config = found.config.model_copy(update={"own": ["mine"], "methods": joined})
    scores = pd.concat([found.scores, mine], ignore_index=True)
    return replace(found, config=config, scores=scores), comparison


def table(layout, datasets=EVERYWHERE):
    found, comparison = with_mine(datasets)
    configured = DECISIONS if layout == "decisions" else artefact(layout)
    return build(found, configured.model_copy(update={"comparison": comparison}))


LACKS = "is left out: it lacks scores on one of the data sets."
COMPARED = ", and is compared here."


@pytest.mark.parametrize(
    ("layout", "datasets", "note"),
    [
        ("method_ranks", EVERYWHERE, COMPARED),
        ("method_ranks", [n for n in MEANS if n not in ("B", "D")], LACKS),
        ("method_scores", ["A", "C"], COMPARED),
        ("method_scores", [], LACKS),
        (
            "method_pairs",
            EVERYWHERE,
            "left out: the pairs were fixed before the scores.",
        ),
        ("decisions", EVERYWHERE, COMPARED),
        ("decisions", ["A"], LACKS),
    ],
)
def test_a_method_that_joined_is_shown_and_the_last_note_says_so(
    layout, datasets, note
):
    shown = table(layout, datasets)
    assert shown.notes[-1].startswith("Mine joined the methods of the plan")
    assert shown.notes[-1].endswith(note)
    texts = " ".join(text for line in shown.body for text in line)
    assert ("Mine" in texts) == (note == COMPARED)


def test_it_is_ranked_and_tested_against_the_control():
    shown = table("method_ranks")
    lines = by_method(shown)
    # Mine is first everywhere, Ours was: Alone is third of three.
    assert list(lines) == ["Mine", "Ours", "Alone"]
    assert [line[0] for line in lines.values()] == ["1.00", "2.00", "3.00"]
    ours, mine = (float(lines[name][4]) for name in ("Ours", "Mine"))
    assert mine == pytest.approx(ours + 1.0, abs=0.01)
    assert lines["Mine"][5] != "–"
    assert set(shown.cells["method"]) == set(lines)
    decided = table("decisions").body[0][2]
    assert decided.startswith("Mine has the best mean rank, 1.0 of 3")


def test_its_scores_are_a_row():
    line = by_method(table("method_scores", datasets=["A", "C"]))["Mine"]
    # (64 + 82) / 2 + 1 on A.
    assert line[0] == "74.0 ± 0.3"
    assert [text == "–" for text in line] == [name not in "AC" for name in MEANS]


def test_figures_show_it():
    found, comparison = with_mine(EVERYWHERE)
    for draw in (figures.ranks, figures.cost, figures.sizes):
        figure, numbers = draw(found, comparison)
        assert "Mine" in set(numbers["method"]), draw
    named = [text.get_text() for legend in figure.legends for text in legend.texts]
    assert "Mine" in named
    figure, numbers = figures.paired_differences(found, comparison)
    assert "Mine" not in set(numbers["method"])
    assert "Mine" in figure.axes[0].get_title()


def test_configured_methods_of_a_column_have_not_joined():
    found, comparison = with_mine(["A"])
    assert joined_columns(found.config, comparison) == ["Mine"]
    config = paper_of({"own": ["linear", "ours"]})
    assert joined_columns(config, comparison) == ["Linear"]
    assert joined_columns(paper_of({}), comparison) == []


def test_beside_printed_ranks_there_is_a_note():
    found, comparison = with_mine(["A"])
    assert notes_on_printed_ranks(found, comparison) == []
    found.config.experiments["a"].methods.append(of(MethodEntry, {"method": "mine"}))
    (note,) = notes_on_printed_ranks(found, comparison)
    assert note.startswith("Mine joined and is not ranked here")
