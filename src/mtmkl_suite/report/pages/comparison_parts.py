"""Scores that the page of a comparison holds, and the choice that it begins with.

Each part of the page is a mapping that becomes JSON: a comparison of methods over data
sets, or an experiment on one data set, whose units are repeats.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtmkl_suite.config.models import Comparison, MethodTable
from mtmkl_suite.files import read_table
from mtmkl_suite.judge.sample import average
from mtmkl_suite.metrics import HIGHER_IS_BETTER
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.comparison import OUTCOMES, compare_block, ranked
from mtmkl_suite.report.text import metric_words
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.statistics.hierarchical import CERTAIN, in_words
from mtmkl_suite.statistics.matrix_tests import MatrixTests

SIGNED_RANK = "the Bayesian signed-rank test"
ALL_REPEATS = "the hierarchical model of all repeats"

_PLACES = 6

_PLAIN = {"scale": 1, "unit": "", "rope": 0.0}


def part_of_scores(found: MatrixTests) -> dict[str, Any]:
    """Return the one part of a comparison of scores from any source."""
    scores, pairs, source = found.scores, found.pairs, SIGNED_RANK
    if found.posteriors is not None:
        pairs = found.posteriors
        source = (
            f"{ALL_REPEATS}; repeats are correlated by {found.test_share:g} "
            "(--test-share)"
        )
    values, took = scores.values, scores.seconds
    parts = {
        name: scores.repeats.get(name, values.loc[[name]]) for name in values.index
    }
    metric = {
        "label": scores.score, "higher": scores.higher_better, "scale": 1, "unit": "",
        "rope": found.rope, "of": [scores.score] * len(values),
    }  # fmt: skip
    start = {"metric": 0, "sizes": [0], "datasets": list(parts), "methods": [*values]}
    return {
        "title": "", "methods": [*values], "datasets": list(parts), "sizes": [""],
        "about": [], "today": [], "proposed": [],
        "metrics": [metric],
        "scores": {
            scores.score: [
                [[_numbers(part[method])] for method in values]
                for part in parts.values()
            ]
        },
        "seconds": None if took is None else np.expand_dims(took, 2).tolist(),
        "overlaps": None,
        "control": found.control,
        "start": start,
        "presets": [],
        "given": given_probabilities(pairs, start, source),
    }  # fmt: skip


def given_probabilities(
    pairs: pd.DataFrame, choice: Mapping[str, Any], source: str
) -> list[dict[str, Any]]:
    """Return posterior probabilities of pairs, of a metric, sizes and data sets.

    ``pairs`` has columns first, second, p_first_better, p_equivalent, p_second_better,
    and those of ``statistics.hierarchical.in_words`` if what is decided has a sentence;
    ``source`` says in words which model they are of.
    """
    known = pairs.dropna(subset=["p_first_better"])
    if known.empty:
        return []
    of = {name: choice[name] for name in ("metric", "sizes", "datasets")}
    in_sentences = "conclusion" in pairs
    rows = []
    for row in known.to_dict("records"):
        numbers = _numbers(round(row[name], _PLACES) for name in OUTCOMES)
        rows.append([row["first"], row["second"], *numbers])
        # Sentences of all pairs would take more room than all scores.
        if in_sentences and row["probability"] > CERTAIN:
            rows[-1].append(f"{in_words(row)}.")
    return [{"of": of, "source": source, "pairs": rows, "decides": in_sentences}]


def parts_of_run(context: Context, folder: PaperFolder) -> list[dict[str, Any]]:
    """Return the configured comparisons, or else the experiments of a run."""
    parts = []
    comparisons: list[Comparison] = []
    for artefact in context.config.artefacts.values():
        found = artefact.comparison
        if found and found.pairs and found not in comparisons:
            comparisons.append(found)
            parts.append(_part_of_comparison(context, found, artefact.title, folder))
    if not comparisons and context.config.own is not None:
        parts = [_part_of_experiment(context, e) for e in context.config.experiments]
    return [part for part in parts if part is not None]


def _part_of_comparison(
    context: Context, comparison: Comparison, title: str, folder: PaperFolder
) -> dict[str, Any] | None:
    """Return a comparison with the choice of its plan, None if nothing is compared."""
    found = compare_block(context, comparison, comparison.main)
    if isinstance(found, str):
        return None
    rows = {
        name: (row.experiment, context.datasets(row.experiment))
        for name, row in comparison.rows.items()
    }
    part = _part(
        context,
        rows,
        comparison.methods,
        [row.metric for row in comparison.rows.values()],
        {"scale": comparison.scale, "unit": comparison.unit, "rope": comparison.rope},
    )
    sizes = part.pop("train_sizes")
    chosen = {
        label: [
            k
            for k, size in enumerate(sizes)
            if size == selector.get("train_size", size)
        ]
        for label, selector in comparison.blocks.items()
    }
    datasets = list(found.scores.values.index)
    start: dict[str, Any] = {
        "metric": 0, "sizes": chosen[comparison.main], "datasets": datasets,
        "methods": list(found.methods.index),
    }  # fmt: skip
    presets: list[dict[str, Any]] = [
        {"label": "methods whose pairs are tested", "methods": comparison.pairs}
    ]
    given = []
    baselines: dict[str, list[str]] = {"today": [], "proposed": []}
    for name, artefact in context.config.artefacts.items():
        if not isinstance(artefact, MethodTable):
            continue
        if artefact.comparison == comparison:
            path = folder.artefact(name, "csv")
            if artefact.layout in ("method_posteriors", "baselines") and path.is_file():
                given = _by_block(context, comparison, chosen, read_table(path))
            if artefact.baselines:
                baselines = {"today": artefact.baselines, "proposed": artefact.proposed}
        if artefact.comparison.rows == comparison.rows:
            presets += [
                {
                    "label": setting.label.lower(),
                    "sizes": chosen[setting.block],
                    "datasets": [
                        name
                        for name in datasets
                        if setting.property in comparison.rows[name].properties
                    ],
                }
                for setting in artefact.settings
            ]
    tested = compare_block(context, comparison, comparison.main, only_tested=True)
    if not given and not isinstance(tested, str):
        given = given_probabilities(tested.pairs, start, SIGNED_RANK)
    return (
        part
        | baselines
        | {
            "title": title.rpartition(": ")[2].capitalize(),
            "control": comparison.control,
            "start": start,
            "presets": [each for each in presets if each.get("datasets") != []],
            "given": given,
        }
    )


def _by_block(
    context: Context,
    comparison: Comparison,
    sizes: Mapping[str, list[int]],
    posteriors: pd.DataFrame,
) -> list[dict[str, Any]]:
    """Return the posterior probabilities of a table, each block as a choice."""
    given = []
    names = posteriors["reversed_without"].astype(object).fillna("")
    named = posteriors.assign(reversed_without=names)
    for block, rows in named.groupby("block", sort=False):
        datasets = list(ranked(context, comparison, str(block)).index)
        choice = {"metric": 0, "sizes": sizes[str(block)], "datasets": datasets}
        given += given_probabilities(rows, choice, ALL_REPEATS)
    return given


def _part_of_experiment(context: Context, experiment: str) -> dict[str, Any] | None:
    """Return an experiment that chooses hyper-parameters, None for any other."""
    configured = context.config.experiments[experiment]
    metrics = [name for name in configured.metrics if name in HIGHER_IS_BETTER]
    baselines = [
        entry.method
        for entry in configured.methods
        if not context.config.methods[entry.method].is_control
        and len(context.rows(experiment, metrics[0], {"method": entry.method}))
    ]
    if configured.mode != "select" or len(baselines) < 2:
        return None
    # Variants of one data set are averaged: they are not independent.
    variants = context.datasets(experiment)
    title = str(context.data_info.get(variants[0], {}).get("title", variants[0]))
    part = _part(
        context,
        {title: (experiment, variants)},
        {context.label(method): [method] for method in baselines},
        metrics[:1],
        _PLAIN,
    )
    sizes = list(range(len(part.pop("train_sizes"))))
    start = {
        "metric": 0, "sizes": sizes, "datasets": part["datasets"],
        "methods": part["methods"],
    }  # fmt: skip
    return part | {
        "title": configured.title, "control": None, "start": start, "presets": [],
        "given": [], "today": [], "proposed": [],
    }  # fmt: skip


def _part(
    context: Context,
    rows: Mapping[str, tuple[str, list[str]]],
    columns: Mapping[str, Sequence[str]],
    main: Sequence[str],
    of_main: dict[str, Any],
) -> dict[str, Any]:
    """Return scores, seconds and overlaps of methods (columns) on data sets (rows).

    ``main`` is the metric of each data set, ``of_main`` its scale, unit and region of
    equivalence, which are those of all metrics of which larger values are better.
    """
    scores = context.scores
    experiments = list(dict.fromkeys(name for name, _ in rows.values()))
    mine = scores[scores["experiment"].isin(experiments)]
    sizes = sorted(mine["train_size"].dropna().unique())
    unit = next((str(each) for each in mine["train_unit"] if each), "")
    has = set(mine[["experiment", "metric"]].itertuples(index=False, name=None))
    shown: list[dict[str, Any]] = [
        {"label": metric_words(metric), "higher": HIGHER_IS_BETTER[metric]}
        | (of_main if HIGHER_IS_BETTER[metric] else _PLAIN)
        | {"of": [metric if (e, metric) in has else None for e, _ in rows.values()]}
        for metric in dict.fromkeys([*main, *sorted(mine["metric"].unique())])
        if metric in HIGHER_IS_BETTER
    ]
    if len(set(main)) > 1:
        label = "as planned: " + " or ".join(map(metric_words, dict.fromkeys(main)))
        shown.insert(0, {"label": label, "higher": True, **of_main, "of": list(main)})
    names = {name for each in shown for name in each["of"] if name}
    return {
        "methods": list(columns),
        "datasets": list(rows),
        "about": [_about(context, mine, *row) for row in rows.values()],
        "train_sizes": sizes,
        "sizes": [f"{size:g} {unit}".strip() for size in sizes],
        "metrics": shown,
        "scores": {
            name: [
                _values(context, each, columns, sizes, name)
                if (each[0], name) in has
                else None
                for each in rows.values()
            ]
            for name in sorted(names)
        },
        "seconds": [
            _values(context, each, columns, sizes, None) for each in rows.values()
        ],
        "overlaps": [
            [_overlap(context, *row, size) for size in sizes] for row in rows.values()
        ],
    }


def _about(
    context: Context, scores: pd.DataFrame, experiment: str, datasets: Sequence[str]
) -> str:
    """Return how many tasks and, where known, samples a data set has."""
    n_tasks = scores.loc[scores["experiment"] == experiment, "n_tasks"].max()
    if pd.isna(n_tasks):
        return ""
    known = context.data_info.get(datasets[0], {})
    examples = f", {known['n']} samples" if "n" in known else ""
    return f"{n_tasks:g} tasks{examples}"


def _values(
    context: Context,
    row: tuple[str, list[str]],
    columns: Mapping[str, Sequence[str]],
    sizes: Sequence[Any],
    metric: str | None,
) -> list[Any]:
    """Return the score of each repeat by method and size, or the mean seconds."""
    experiment, datasets = row
    where = {"method": [m for each in columns.values() for m in each], "setting": ""}
    found = context.rows(
        experiment, metric or "fit_seconds", where | {"dataset": datasets}
    )
    largest = found.groupby("method")["n_tasks"].transform("max")
    found = found[found["n_tasks"] == largest]
    repeats = sorted(found["repeat"].unique())
    keys = ["method", "train_size", *(["repeat"] if metric else [])]
    means = dict(average(found, keys))

    def of(method: str, size: Any) -> Any:
        if metric is None:
            return _numbers([means.get((method, size), np.nan)])[0]
        return _numbers([means.get((method, size, each), np.nan) for each in repeats])

    present = set(found["method"])
    return [
        next(([of(m, size) for size in sizes] for m in methods if m in present), None)
        for methods in columns.values()
    ]


def _overlap(
    context: Context, experiment: str, datasets: Sequence[str], size: Any
) -> list[float] | None:
    """Return the share of the pool that is drawn, and how splits overlap.

    That is the sum over splits of other to test samples, and the number of splits.
    None where repeats share all their samples, so that nothing can be tested.
    """
    overlaps = context.overlaps or {}
    found = [overlaps.get((experiment, dataset, size)) for dataset in datasets]
    splits = [each for each in found if each is not None and not each.same_roles]
    if len(splits) < len(found):
        return None
    others = sum(1 / each.used_share("test") - 1 for each in splits)
    return [max(each.pool_share for each in splits), others, len(splits)]


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Return numbers for JSON, in which what is not finite is null."""
    return [float(each) if np.isfinite(each) else None for each in values]
