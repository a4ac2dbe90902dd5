import re

import pytest
import yaml
from configured import paper_of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.names import check_names, naming_file
from mtmkl_suite.errors import ConfigError

CONFIG = """
protocols:
  halves: {kind: halves, train_sizes: [10, 20], repeats: 5}
  given: {kind: given_roles, repeats: 3}
methods:
  ridge: {label: Ridge, class: IndependentRidgeRegressor, selection: validation,
          grid: {gamma: [0.1]}}
  plain: {label: Ridge, class: IndependentRidgeRegressor, selection: none}
experiments:
  drawn:
    datasets: {name: toy_tree, options: {dims: 5}, vary: {spread: [1, 2]}}
    protocol: given
    methods: [{method: ridge, n_tasks: [4, 8]}]
    metrics: [auc, roc, row_norms]
  school:
    datasets: {name: school}
    protocol: halves
    repeats: 2
    methods: [{method: ridge}, {method: plain}]
    metrics: [mse, explained_variance]
artefacts:
  table:
    kind: table
    experiment: school
    columns: {MSE: {metric: mse}}
    rows: {Ridge: {method: ridge}}
    extra_rows: {}
    extra_columns: {EV: {metric: explained_variance}}
    quoted: {cells: [{where: {experiment: drawn}}]}
  ranking:
    kind: table
    layout: ranking
    comparison: &ranked
      control: Ridge
      columns: {Ridge: ridge, Plain: [plain]}
      rows:
        School: {experiment: school, metric: explained_variance, blocks: ["10"],
                 beside: {MSE: mse}}
      blocks: {"10": {train_size: 10}}
  decisions:
    kind: table
    layout: decisions
    comparison:
      <<: *ranked
      main: "10"
      pairs: [Ridge, Plain]
      rows:
        School: {experiment: school, metric: explained_variance,
                 properties: [many_tasks]}
    settings: [{property: many_tasks, block: "10"}]
    baselines: [Ridge]
    proposed: [Plain]
    left_out: [{methods: [Ridge], rows: [School]}]
claims:
  - id: better
    test: trend
    settings:
      - args: {experiment: school, metric: mse, where: {method: ridge},
               axis: train_size, minus: {method: plain, train_size: 20},
               direction: decreasing, unit: repeat}
"""


def config(sizes=(10, 20)):
    made = yaml.safe_load(CONFIG)
    made["protocols"]["halves"]["train_sizes"] = list(sizes)
    return made


def put(key, value):
    """Return the configuration with another value at a dotted key."""
    changed = config()
    *parents, last = key.split(".")
    place = changed
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[last] = value
    return changed


def checked(document):
    paper = paper_of(document)
    with naming_file("toy2000"):
        check_names(paper, [paper])


QUOTED = "artefacts.table.quoted.cells.0.where"
ROW = "artefacts.table.rows.Ridge"
RANKED = "artefacts.ranking.comparison"
DECIDED = "artefacts.decisions"
SETTING = "claims.0.settings.0"
ARGS = f"{SETTING}.args"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (f"{ROW}.train_size", [10, 20]),
        (f"{ROW}.setting", '{"gamma": 0.1}'),
        (f"{ROW}.n_tasks", 139),
        (f"{QUOTED}.n_tasks", 8),
        (f"{QUOTED}.metric", "true_positive_rate_0.1"),
        (f"{QUOTED}.metric", "row_norm_7"),
        (f"{QUOTED}.metric", "n_iter"),
        (f"{ARGS}.where.experiment", "drawn"),
        (f"{ARGS}.margin", 0.1),
    ],
)
def test_what_experiments_have(key, value):
    checked(put(key, value))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (f"{ROW}.method", "rigde", "unknown method of .*'rigde'; did you mean 'ridge'"),
        (f"{ROW}.metod", "ridge", "unknown column 'metod'; did you mean 'method'"),
        (f"{ROW}.train_size", "zzz", "'zzz' is not a whole number"),
        (f"{ROW}.train_size", 15, r"unknown train size .*15.*known: 10, 20"),
        (f"{ROW}.repeat", 2, r"unknown repeat .*2.*known: 0, 1\)"),
        (f"{ROW}.setting", "zzz", "'zzz' is no setting"),
        (f"{ROW}.setting", '{"C": 1}', "unknown parameter of the grids 'C'"),
        (f"{ROW}.method", 3, "3 is not text"),
        ("artefacts.table.columns.MSE.metric", "auc", "metric of school 'auc'"),
        (f"{QUOTED}.experiment", "drawm", "unknown experiment .*mean 'drawn'"),
        (f"{QUOTED}.n_tasks", 5, r"unknown number of tasks of drawn 5.*known: 4, 8"),
        (f"{QUOTED}.dataset", "toy_tree", "unknown data set of drawn 'toy_tree'"),
        (f"{RANKED}.control", "zzz", "unknown column 'zzz'"),
        (f"{RANKED}.columns.Ridge", ["ridge", "zzz"], "unknown method"),
        (f"{DECIDED}.comparison.pairs", ["Ridge", "zzz"], "unknown column 'zzz'"),
        (f"{DECIDED}.comparison.main", "zzz", "unknown block 'zzz'"),
        (f"{DECIDED}.baselines", ["zzz"], "unknown column 'zzz'"),
        (f"{DECIDED}.left_out.0.methods", ["zzz"], "unknown column 'zzz'"),
        (f"{DECIDED}.left_out.0.rows", ["zzz"], "unknown row 'zzz'"),
        (f"{DECIDED}.settings.0.block", "zzz", "unknown block 'zzz'"),
        (f"{RANKED}.rows.School.metric", "zzz", "unknown metric of school"),
        (f"{RANKED}.rows.School.beside.MSE", "zzz", "unknown metric of school"),
        (f"{RANKED}.rows.School.blocks", ["15"], "unknown block '15'"),
        (f"{DECIDED}.settings.0.property", "zzz", "unknown property"),
        (f"{ARGS}.metric", "zzz", "unknown metric of school"),
        (f"{ARGS}.where.method", "zzz", "unknown method of school"),
        (f"{ARGS}.axis", "zzz", "unknown axis 'zzz'"),
        (f"{ARGS}.rows", [{"experiment": "drawn", "metric": "mse"}], "of drawn 'mse'"),
        (f"{ARGS}.others", [{"method": "zzz"}], "unknown method of school"),
        ("claims.0.evidence", ["zzz"], "unknown artefact 'zzz'"),
        (f"{ARGS}.baselines", ["ridge", "zzz"], "unknown method of school"),
        (f"{SETTING}.over_tasks", {"higher": {"setting": "z"}}, "'z' is no setting"),
    ],
)
def test_what_experiments_lack_is_named(key, value, message):
    file = key.partition(".")[0]
    named = key.replace("claims.0", "claims.better")
    with pytest.raises(ConfigError, match=message) as refused:
        checked(put(key, value))
    assert str(refused.value).startswith(f"toy2000/{file}.yaml: key '{file}.")
    parent = re.sub(r"\.\d+\.\w+$|\.\w+$", "", named)
    assert parent in str(refused.value)


def test_rows_may_be_of_the_experiments_that_columns_name():
    document = put("artefacts.table.columns.AUC", {"experiment": "drawn"})
    rows = document["artefacts"]["table"]["rows"]
    rows["Ridge"]["dataset"] = "toy_tree[dims=5,spread=2]"
    checked(document)
    rows["Ridge"]["dataset"] = "school"  # of a column that names no experiment
    checked(document)
    rows["Ridge"]["dataset"] = "digits"
    with pytest.raises(ConfigError, match="unknown data set of drawn, school"):
        checked(document)


def test_what_only_the_other_tier_has_may_be_selected():
    quick, paper = paper_of(config(sizes=[20])), paper_of(config())
    check_names(quick, [quick, paper])
    with pytest.raises(ConfigError, match="unknown train size"):
        check_names(quick, [quick])


def test_what_is_changed_for_a_run_leaves_cells_empty():
    change = {"protocols.tss_fractions.train_percent": [40]}
    changed = load_paper("widmer2015", "paper", change)
    assert changed.protocols["tss_fractions"].train_percent == [40]
    sides = [s.args["higher"] for claim in changed.claims for s in claim.settings]
    assert 60 in {side.get("train_size") for side in sides}
