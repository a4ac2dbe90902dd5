import math
from dataclasses import replace

import pandas as pd
import pytest
from configured import changed, claim_of, paper_of
from made_scores import made_context, made_row, published_numbers

from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.judge.overlap import Overlap
from mtmkl_suite.judge.reach import (
    CLAIMS,
    COLUMNS,
    NOT_TRIED,
    WITHIN_REACH,
)
from mtmkl_suite.judge.sample import select
from mtmkl_suite.judge.verdicts import own_numbers
from mtmkl_suite.report.artefacts import printed
from mtmkl_suite.report.context import recorded_context
from mtmkl_suite.report.record import claims_tables
from mtmkl_suite.report.tables.reach import (
    ABOVE,
    BOUND_COLUMNS,
    SENTENCES_HEADER,
    build_bounds,
    build_reach,
    claims_of,
    main_context,
    readings_of,
    replaced,
)
from mtmkl_suite.run.folders import record_folder

PAPER = "yousefi2015"
SIZES = (10, 20, 50)


@pytest.fixture(scope="module")
def config():
    return load_readings(PAPER, "paper", ["roles", "inputs", "tasks"])


def context_of(config, scores=None):
    published = published_numbers(config)
    main = main_context(made_context(config, published=published))
    scores = main.scores[:0] if scores is None else scores
    return main, made_context(config, scores, published=published)


@pytest.fixture(scope="module")
def main(config):
    return context_of(config)[0]


def under(context, main, reading):
    (names,) = (names for r, names in readings_of(context).items() if r.name == reading)
    return replaced(context, main, names)


def as_printed(main, experiment, of, row):
    """Scores of an experiment whose means are those printed in Table 1."""
    columns = main.config.artefacts["table_1"].comparison.columns
    printed = main.published["table_1.csv"].set_index(["row", "column"])["value"]
    methods = {"method": list(columns.values())}
    own = select(main.scores, methods | {"experiment": of, "metric": "accuracy"})
    for column, method in columns.items():
        for size in SIZES:
            chosen = (own["method"] == method) & (own["train_size"] == size)
            target = printed[f"{row}, {size} %", column] / 100
            own.loc[chosen, "value"] += target - own.loc[chosen, "value"].mean()
    return own.assign(experiment=experiment)


@pytest.fixture(scope="module")
def table(config, main):
    scores = as_printed(main, "robot@roles=permuted", "robot", "Robot")
    return build_reach(context_of(config, scores)[1], config.artefacts["reach"])


LABEL = "Roles of a sample: permuted in each task by itself, without strata"


def test_every_different_number_and_every_claim_has_a_row(main, table):
    cells = table.cells
    assert list(cells.columns) == list(COLUMNS)
    folder = record_folder(main.config)
    verdicts = own_numbers(pd.read_csv(folder / "verdicts.csv"))
    different = verdicts[verdicts["verdict"] == "different"]
    keys = ["artefact", "row", "column"]
    numbers = cells[cells["kind"] == "number"]
    assert set(map(tuple, numbers[keys].to_numpy())) == set(
        map(tuple, different[keys].to_numpy())
    )
    claims = cells[cells["kind"] == "claim"]
    assert set(claims["artefact"]) == {CLAIMS}
    published = pd.read_csv(folder / "claims.csv")
    assert claims["row"].tolist() == published["id"].tolist()


def test_a_reading_with_the_printed_numbers_has_its_rows_within_reach(table):
    cells = table.cells.set_index(["artefact", "row", "column"])
    robot = cells.loc["table_1", "Robot, 10 %", :]
    assert set(robot["status"]) == {WITHIN_REACH}
    assert set(robot["nearest"]) == {"roles=permuted"}
    assert robot["nearest_value"].tolist() == pytest.approx(robot["published"].tolist())
    ends = robot[["published", "reproduced"]]
    assert robot["low"].tolist() == pytest.approx(ends.min(axis=1).tolist())
    assert robot["high"].tolist() == pytest.approx(ends.max(axis=1).tolist())
    assert set(cells.loc["table_1", "Vehicle, 10 %", :]["status"]) == {NOT_TRIED}
    ((reading, kind, n, different, within, lost),) = table.body
    assert (reading, kind, n, lost) == (LABEL, "legitimate", "24", "0")
    assert different == within
    assert table.cells["others"].sum() > table.cells["others_within"].sum() > 0
    (counts,) = [note for note in table.notes if note.startswith("Table 1, ")]
    assert f"{within} within reach" in counts
    assert "other numbers printed in the same rows" in counts


def test_unchanged_methods_keep_their_main_scores(config, main):
    one = select(main.scores, {"method": "stl", "experiment": "robot"})
    scores = one.assign(experiment="robot@inputs=raw", value=0.5)
    context = context_of(config, scores)[1]
    robot = select(under(context, main, "inputs=raw").scores, {"experiment": "robot"})
    assert set(robot.loc[robot["method"] == "stl", "value"]) == {0.5}
    # Those that it changes, but that were not run, have no scores to be compared with.
    assert set(one["method"].unique()) < set(robot["method"])
    assert not {"mtl", "group_feature_sharing"} & set(robot["method"])
    # Where splits are others, nothing of the main run can stand beside.
    scores = one.assign(experiment="robot@roles=permuted", value=0.5)
    context = context_of(config, scores)[1]
    left = replaced(context, main, ["robot@roles=permuted"]).scores
    assert set(left.loc[left["experiment"] == "robot", "method"]) == {"stl"}


@pytest.mark.nightly
def test_a_reduced_run_judges_nothing():
    config = load_readings(PAPER, "quick", ["roles"])
    main, _ = context_of(config)
    scores = select(main.scores, {"experiment": "robot"})
    context = context_of(config, scores.assign(experiment="robot@roles=permuted"))[1]
    table = build_reach(context, config.artefacts["reach"]).cells
    assert set(table["status"]) == {"not judged (quick)"}
    assert len(table) == 24


SIDES = {"experiment": "e", "lower": {"method": "a"}, "higher": {"method": "b"}}
CLAIM = claim_of("c1", "paired_difference", metric="rmse", **SIDES)
HALVES, NEW = Overlap(1.0, 0.5, 0.5), Overlap(0.0, 0.5, 0.5)


def toy_scores(experiment):
    values = [(m, r, r % 3 + (m == "b")) for m in ("a", "b") for r in range(9)]
    rows = [
        made_row(experiment, method, "rmse", value, dataset="d", repeat=repeat)
        for method, repeat, value in values
    ]
    rows[0]["value"] -= 0.5
    return pd.DataFrame(rows)


@pytest.fixture
def toy():
    config = {
        "tier": "paper",
        "claims": [CLAIM],
        "methods": {"a": {"label": "A"}, "b": {"label": "B"}},
        "experiments": {"e": {"methods": []}},
    }
    overlaps = {("e", "d", 0): HALVES, ("f", "d", 0): HALVES}
    return made_context(paper_of(config), toy_scores("e"), overlaps=overlaps)


def toy_readings(overlaps, **change):
    origin = {"of": "e", "is_whole": True, "reading": "data=new", "times": 1,
              "changes": [], **change}  # fmt: skip
    experiments = {name: {**origin, "fits": name} for name in ("e_new", "e_old")}
    config = paper_of({"readings": {"experiments": experiments}})
    return made_context(config, toy_scores("e_new"), overlaps=overlaps)


def test_repeats_of_a_reading_overlap_in_their_own_way(toy):
    context = toy_readings({("e_new", "d", 0): NEW, ("e_old", "d", 0): HALVES})
    shown = replaced(context, toy, ["e_new"])
    assert shown.overlaps == {("e", "d", 0): NEW, ("f", "d", 0): HALVES}
    own, reading = (claims_tables(each)[1].loc[0] for each in (toy, shown))
    assert own["t_divided_by"] == pytest.approx(math.sqrt(1 + 9))
    assert math.isnan(reading["rho"])
    assert own["p"] == reading["p"]


def test_a_train_size_of_a_reading_stands_for_one_of_the_main_run(toy):
    context = toy_readings({("e_new", "d", 41): NEW}, sizes={41: 0})
    scores = context.scores.assign(train_size=41)
    shown = replaced(replace(context, scores=scores), toy, ["e_new"])
    assert set(shown.scores["train_size"]) == {0}
    assert shown.overlaps["e", "d", 0] == NEW


def test_a_reading_of_one_side_leaves_the_others_as_in_the_main_run(toy):
    context = toy_readings(None, is_whole=False, only=["b"])
    scores = context.scores.assign(value=9.0)
    shown = replaced(replace(context, scores=scores), toy, ["e_new"])
    mean = shown.scores.groupby("method")["value"].mean()
    assert mean["b"] == 9.0
    assert mean["a"] == toy.scores.groupby("method")["value"].mean()["a"]
    # Where its overlap is not known, it is that of the main run.
    assert shown.overlaps == toy.overlaps


def test_alternatives_of_one_fit_read_it_by_different_metrics():
    config = load_readings(PAPER, "paper", ["choice"])
    main, _ = context_of(config)
    name = "robot@choice=published_code"
    where = {"method": "group_feature_sharing"}
    own = select(main.scores, where | {"experiment": "robot", "metric": "accuracy"})
    own = own.assign(experiment=name)
    other = own.assign(value=0.25, metric="accuracy_chosen_C")
    context = context_of(config, pd.concat([own.assign(value=0.5), other]))[1]
    for alternative, value in (
        ("published_code", 0.5),
        ("published_code_chosen", 0.25),
    ):
        shown = under(context, main, f"choice={alternative}").scores
        robot = select(shown, {"experiment": "robot", "metric": "accuracy"})
        assert set(robot["value"]) == {value}


def test_claims_that_name_repeats_name_more_where_a_reading_has_more():
    config = load_readings("jebara2011", "paper", ["graphs"])
    main, context = context_of(config)
    shown = replaced(context, main, ["ising_5@graphs=more"])
    (ising,) = (c for c in shown.config.claims if c.id == "ising")
    sides = [s.args[side] for s in ising.settings for side in ("lower", "higher")]
    assert [side["repeat"] for side in sides] == [list(range(190))] * len(sides)


def test_claims_on_the_numbers_of_a_step_are_as_published(toy, tmp_path):
    on_a_step = claim_of("faster", "ratio", step="times", column="seconds", **SIDES)
    added = {
        "paper": {"id": "toy"},
        "experiments": {"e": {"methods": [], "datasets": {"name": "d"}}},
        "claims": [CLAIM, on_a_step],
        "published": tmp_path / "config" / "papers" / "toy" / "published",
    }
    config = changed(toy.config, added)
    context = replace(toy, config=config)
    _, table = claims_tables(context)
    assert table.loc[1, "verdict"] == "no data"
    published = table.assign(verdict="undecided", note="ratio 1.1")
    path = tmp_path / "figures" / "toy" / "claim_settings.csv"
    path.parent.mkdir(parents=True)
    published.to_csv(path, index=False)
    found = claims_of(context).set_index("id")
    assert found.loc["faster", ["verdict", "note"]].tolist() == [
        "undecided", "ratio 1.1",
    ]  # fmt: skip
    assert found.loc["c1", "verdict"] == table.loc[0, "verdict"]


BOUND = 0.85


def with_a_bound(tier):
    """Readings of which only the bound on Robot has scores, 85 % at every size."""
    config = load_readings(PAPER, tier, ["choice"])
    rows = [
        made_row(
            "robot@choice=bound", "stl", "accuracy", BOUND + 0.001 * (repeat - 1),
            dataset="robot", n_tasks=6, train_size=size, repeat=repeat,
        )
        for size in (10, 20, 50)
        for repeat in range(3)
    ]  # fmt: skip
    return made_context(config, rows, published=published_numbers(config))


@pytest.fixture(scope="module")
def context():
    return with_a_bound("paper")


@pytest.fixture(scope="module")
def bounds(context):
    table, verdicts = printed(context, "bounds")
    assert verdicts.empty
    return table


def test_every_printed_number_of_a_row_stands_beside_its_bound(context, bounds):
    cells = bounds.cells
    assert tuple(cells.columns) == BOUND_COLUMNS
    assert list(cells["row"].unique()) == [f"Robot, {n} %" for n in (10, 20, 50)]
    assert len(cells) == 3 * 8
    assert cells["bound"].tolist() == pytest.approx([100 * BOUND] * len(cells))
    assert cells["bound_sd"].tolist() == pytest.approx([0.1] * len(cells))
    printed_numbers = context.published["table_1.csv"].set_index(["row", "column"])
    for cell in cells.to_dict("records"):
        value = printed_numbers.loc[(cell["row"], cell["column"]), "value"]
        assert cell["published"] == value
        # The tolerance is half a point, and above two standard errors.
        assert cell["is_above"] == (value - 100 * BOUND > 0.5)
    assert 0 < cells["is_above"].sum() < len(cells)


def test_readers_see_which_numbers_are_out_of_reach(bounds):
    assert bounds.header[:3] == ["row", "bound", "STL"]
    assert [line[0] for line in bounds.body] == list(bounds.cells["row"].unique())
    assert bounds.body[0][1] == "85.00 ± 0.10 (n = 3)"
    marked = sum(ABOVE in text for line in bounds.body for text in line)
    assert marked == bounds.cells["is_above"].sum()
    assert "independent SVMs" in bounds.notes[1]
    assert ABOVE in bounds.notes[2]


@pytest.mark.nightly
def test_a_bound_brings_numbers_within_reach_with_test_data_alone(context):
    reach = build_reach(context, context.config.artefacts["reach"]).cells
    assert reach["n_readings"].sum() == 0
    assert WITHIN_REACH not in set(reach["status"])
    # A bound on one side of a claim is no reading of it.
    assert set(reach.loc[reach["kind"] == "claim", "status"]) == {NOT_TRIED}


def test_a_reduced_run_marks_nothing():
    context = with_a_bound("quick")
    table = build_bounds(context, context.config.artefacts["bounds"])
    assert len(table.cells)
    assert table.cells["is_above"].isna().all()
    assert not any(ABOVE in text for line in table.body for text in line)
    assert "Not judged" in table.notes[2]


@pytest.mark.nightly
def test_papers_that_print_no_numbers_show_their_sentences():
    config = load_readings("widmer2015", "paper", ["draws"])
    context = recorded_context(config, record_folder(config).parent)
    table = build_reach(context, config.artefacts["reach"])
    assert table.header == SENTENCES_HEADER
    assert table.body
    tried = table.cells[table.cells["n_readings"] > 0]
    quotes = {claim.id: claim.quote for claim in context.readings.main.claims}
    assert [line[0].split("” (l. ")[0][1:] for line in table.body] == [
        quotes[claim] for claim in tried["row"]
    ]
    assert all(sum(map(int, line[2:5])) == int(line[1]) for line in table.body)
