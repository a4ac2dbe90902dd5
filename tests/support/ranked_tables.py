"""A paper that ranks three methods over three data sets, with known means."""

import math
from collections import defaultdict

import numpy as np
import pandas as pd
from configured import artefact_of, of, paper_of
from made_scores import made_context, made_row
from scipy import stats

from mtmkl_suite.config.models import Comparison

METHODS = {"alone": "Alone", "pooled": "Pooled", "ours": "Our Method"}
DATASETS = {"A": "set_a", "B": "set_b", "Mines": "mines"}
BLOCKS = {"10 %": {"train_size": 10}, "50 %": {"train_size": 50}}
COMPARISON = of(Comparison, {
    "control": "Our Method",
    "scale": 100,
    "columns": {label: method for method, label in METHODS.items()},
    "rows": {
        "A": {"experiment": "set_a", "metric": "accuracy"},
        "B": {"experiment": "set_b", "metric": "accuracy"},
        "Mines": {
            "experiment": "mines", "metric": "auc", "blocks": ["50 %"],
            "readings": {"balanced accuracy": "balanced_accuracy"},
            "beside": {"accuracy": "accuracy"},
        },
    },
    "blocks": BLOCKS,
})  # fmt: skip
RANKING = artefact_of({
    "kind": "table", "layout": "ranking", "title": "Ranked", "file": "table_1.csv",
    "unit": "%", "decimals": 1, "tolerance": {"absolute": 1.0},
    "rank_tolerance": {"absolute": 0.25}, "comparison": COMPARISON,
})  # fmt: skip
TESTS = artefact_of({
    "kind": "table", "layout": "rank_tests", "title": "Tested", "file": "table_2.csv",
    "tolerances": {
        "test statistic": {"absolute": 0.5}, "p value": {"absolute": 0.05},
        "adjusted α": {"absolute": 0.001}, "methods dominated": {"absolute": 0.5},
    },
    "comparison": COMPARISON,
})  # fmt: skip
# Accuracy in per cent of Alone, Pooled, Our Method; the paper's and ours.
PRINTED = {
    ("A", "10 %"): (80.0, 85.0, 90.0),
    ("B", "10 %"): (70.0, 65.0, 75.0),
    ("A", "50 %"): (90.0, 91.0, 95.0),
    ("B", "50 %"): (80.0, 80.0, 85.0),
    ("Mines", "50 %"): (60.0, 62.0, 66.0),
}
OURS = PRINTED | {("A", "10 %"): (80.5, 88.0, 86.0)}
BALANCED = (50.0, 62.0, 66.0)


def printed(row, column, value, **more):
    blank = {"sd": math.nan, "n": 1, "status": "legible", "alternative": math.nan}
    return blank | {"row": row, "column": column, "value": value} | more


def published():
    rows, ranks = [], defaultdict(list)
    for (name, block), values in PRINTED.items():
        of_row = stats.rankdata(-np.array(values))
        for column, value, rank in zip(METHODS.values(), values, of_row, strict=True):
            uncertain = {"status": "ambiguous", "alternative": value}
            more = uncertain if name == "Mines" else {}
            place = f"{name}, {block}", column
            rows.append(printed(*place, value, n=20, rank=rank, **more))
            ranks[f"mean rank, {block}", column].append(rank)
    rows += [printed(*place, np.mean(each)) for place, each in ranks.items()]
    tests = [
        printed(f"{quantity}, {block}", column, 0.04)
        for block in BLOCKS
        for quantity in ("test statistic", "p value", "adjusted α")
        for column in ("Alone", "Pooled")
    ]
    counts = {"10 %": 2, "50 %": 0}
    texts = [
        printed(f"Our Method, {block}", "methods dominated", count)
        for block, count in counts.items()
    ]
    return {
        "table_1.csv": pd.DataFrame(rows),
        "table_2.csv": pd.DataFrame(tests),
        "texts.csv": pd.DataFrame(texts),
    }


def score_rows(name, block, metric, values):
    return [
        made_row(
            DATASETS[name], method, metric, (value + spread) / 100, repeat=repeat,
            dataset=DATASETS[name], setting=setting, **BLOCKS[block],
        )
        for method, value in zip(METHODS, values, strict=True)
        for repeat, spread in enumerate((-0.2, 0.2))
        # A point of a path must not count.
        for setting in ("", '{"C": 1}')
        if not setting or method == "ours"
    ]  # fmt: skip


def context(without=(), tier="paper"):
    rows = []
    for (name, block), values in OURS.items():
        if name in without:
            continue
        metric = COMPARISON.rows[name].metric
        rows += score_rows(name, block, metric, values)
        if name == "Mines":
            rows += score_rows(name, block, "balanced_accuracy", BALANCED)
            rows += score_rows(name, block, "accuracy", (93.0, 93.0, 94.0))
    methods = [{"method": method} for method in METHODS]
    config = {
        "tier": tier,
        "methods": {name: {"label": METHODS[name], "class": "X"} for name in METHODS},
        "experiments": {
            name: {"datasets": {"name": name}, "methods": methods}
            for name in DATASETS.values()
        },
        "artefacts": {"table_1": RANKING, "table_2": TESTS},
    }
    config, numbers = paper_of(config), published()
    return made_context(config, rows, origin="original", published=numbers)


def cell_of(table, row, column):
    return table.cells.set_index(["row", "column"]).loc[row, column]


def cells_of(table, block, name):
    """Return the lines of each cell of a row, [] where there is none."""
    rows = (row for row in table.body if row[:2] == [block, name])
    return [text.split("\n") for row in rows for text in row[2:]]
