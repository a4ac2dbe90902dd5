from dataclasses import replace

import pandas as pd
import pytest
from compared_methods import COMPARISON, DECISIONS, MEANS, artefact, context
from configured import of

from mtmkl_suite.config.models import Method
from mtmkl_suite.papers.comparison import figures
from mtmkl_suite.report.tables.joined import joined_columns, notes_on_printed_ranks
from mtmkl_suite.report.tables.layouts import build

EVERYWHERE = tuple(MEANS)


def with_mine(datasets, gain=1.0):
    """Return results in which Mine, who joined, is better than Ours by so many points.

    It has scores on these data sets.
    """
    found = context()
    columns = {**COMPARISON.columns, "Mine": ["mine"]}
    comparison = COMPARISON.model_copy(update={"columns": columns})
    ours = found.scores[
        found.scores["method"].isin(["ours", "ours_images"])
        & found.scores["experiment"].isin([name.lower() for name in datasets])
    ]
    mine = ours.assign(method="mine", value=ours["value"] + gain / 100)
    mine_too = {"mine": of(Method, {"label": "Mine", "class": "my:Mine"})}
    artefacts = {
        name: each.model_copy(update={"comparison": comparison})
        for name, each in found.config.artefacts.items()
    }
    config = found.config.model_copy(
        update={"own": ["mine"], "methods": mine_too, "artefacts": artefacts}
    )
    scores = pd.concat([found.scores, mine], ignore_index=True)
    return replace(found, config=config, scores=scores), comparison


def table(layout, datasets=EVERYWHERE):
    found, comparison = with_mine(datasets)
    configured = DECISIONS if layout == "decisions" else artefact(layout)
    return build(found, configured.model_copy(update={"comparison": comparison}))


def test_it_is_ranked_and_tested_against_the_control():
    shown = table("method_ranks")
    lines = {line[0]: line[1:] for line in shown.body}
    # Mine is first everywhere, Ours was: Alone is third of three.
    assert list(lines) == ["Mine", "Ours", "Alone"]
    assert [line[0] for line in lines.values()] == ["1.00", "2.00", "3.00"]
    ours, mine = (float(lines[name][4]) for name in ("Ours", "Mine"))
    assert mine == pytest.approx(ours + 1.0, abs=0.01)
    assert lines["Mine"][5] != "–"
    assert shown.notes[-1] == (
        "Mine joined the methods of the plan; ranks and tests are computed with it."
    )
    assert set(shown.cells["method"]) == set(lines)


def test_where_it_has_not_all_data_sets_a_note_says_so():
    shown = table("method_ranks", datasets=[n for n in MEANS if n not in ("B", "D")])
    assert "Mine" not in {line[0] for line in shown.body}
    assert shown.notes[-1] == (
        "Mine joined the methods of the plan. It is not ranked (10 %, 50 %, all "
        "sizes): it has no scores on B, D."
    )


def test_its_scores_are_a_row():
    shown = table("method_scores", datasets=["A", "C"])
    (line,) = [line[1:] for line in shown.body if line[0] == "Mine"]
    # (64 + 82) / 2 + 1 on A.
    assert line[0] == "74.0 ± 0.3"
    assert [text == "–" for text in line] == [name not in "AC" for name in MEANS]
    assert shown.notes[-1] == "Mine joined the methods of the plan."


def test_no_scores_at_all_are_said_too():
    shown = table("method_scores", datasets=[])
    assert "Mine" not in {line[0] for line in shown.body}
    assert shown.notes[-1].endswith("and has no scores on these data sets.")


def test_it_is_in_no_pair():
    shown = table("method_pairs")
    assert [line[:2] for line in shown.body] == [["Ours", "Alone"]]
    assert "Mine" in shown.notes[-1]
    assert "fixed before the scores" in shown.notes[-1]


def test_decisions_name_it_or_say_where_it_is_left_out():
    shown = table("decisions")
    assert shown.body[0][2].startswith("Mine has the best mean rank, 1.0 of 3")
    assert shown.notes[-1].endswith("and is compared with them.")
    shown = table("decisions", datasets=["A"])
    assert "Mine" not in shown.body[0][2]
    assert shown.notes[-1].endswith("one of the data sets: Few examples, Images.")


def test_figures_show_it():
    found, _ = with_mine(EVERYWHERE)
    for what in ("ranks", "cost", "sizes"):
        drawn = getattr(figures, f"figure_{what}_classification")
        figure, numbers = drawn(found)
        assert "Mine" in set(numbers["method"]), what
    named = [text.get_text() for legend in figure.legends for text in legend.texts]
    assert "Mine" in named
    figure, numbers = figures.figure_differences_classification(found)
    assert "Mine" not in set(numbers["method"])
    assert "Mine" in figure.axes[0].get_title()


@pytest.mark.parametrize("layout", ["method_ranks", "method_scores", "method_pairs"])
def test_nothing_is_said_where_none_has_joined(layout):
    notes = build(context(), artefact(layout)).notes
    assert not any("joined" in note for note in notes)


def test_configured_methods_of_a_column_have_not_joined():
    found, comparison = with_mine(["A"])
    assert joined_columns(found.config, comparison) == ["Mine"]
    config = {"own": ["linear", "ours"]}
    assert joined_columns(config, comparison) == ["Linear"]


def test_beside_printed_ranks_there_is_a_note():
    found, comparison = with_mine(["A"])
    assert notes_on_printed_ranks(found, comparison) == []
    found.config["experiments"]["a"]["methods"].append({"method": "mine"})
    (note,) = notes_on_printed_ranks(found, comparison)
    assert note.startswith("Mine joined and is not ranked here")
