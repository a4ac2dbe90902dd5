"""Ranks and differences of methods on one experiment, those that joined it named."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.judge.sample import average, fits, higher_is_better
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.cells import decimals_of, mean_sd
from mtmkl_suite.report.text import (
    DASH,
    TextTable,
    metric_words,
    number,
    p_text,
    with_minus,
)
from mtmkl_suite.statistics.pairs import LEVEL, holm
from mtmkl_suite.statistics.ties import without_rounding

_INTERVALS = {
    True: "Repeats share samples: interval and p are those of the t-test corrected "
    "for it. Holm's correction over the baselines is of p alone.",
    False: "The interval is a bootstrap interval over repeats, p is of Wilcoxon's "
    "test. Holm's correction over the baselines is of p alone.",
}
"""Words for interval and p, by whether repeats share samples."""


@dataclass(frozen=True)
class Standing:
    """The methods of an experiment in order, and what is to be said first.

    ``brief``: Columns of the table that are enough where there is little room; ``own``:
    rows of methods that joined.
    """

    title: str
    sentences: list[str]
    table: TextTable
    brief: Sequence[int]
    own: Sequence[int] = ()


def standings(context: Context, statistics: pd.DataFrame) -> list[Standing]:
    """Return where methods stand, for a run of methods or data of one's own.

    Returns one over all experiments if there are several, and one per experiment that
    chooses hyper-parameters; the methods that joined are compared with all others, or
    the best method if none joined.
    """
    config = context.config
    found = {
        name: _means(context, name)
        for name, experiment in config.experiments.items()
        if experiment.mode == "select"
    }
    parts = [
        _standing(context, name, means, statistics)
        for name, means in found.items()
        if not means.empty
    ]
    return [*_over_all(context, found), *parts]


def _means(context: Context, experiment: str) -> pd.DataFrame:
    """Return mean, sd, n and seconds of each method that has scores, best first."""
    config = context.config
    metric = config.experiments[experiment].metrics[0]
    times = fits(context.scores[context.scores["experiment"] == experiment])
    rows = {}
    for entry in config.experiments[experiment].methods:
        method = entry.method
        values = context.rows(experiment, metric, {"method": method, "setting": ""})
        if values.empty:
            continue
        largest = values[values["n_tasks"] == values["n_tasks"].max()]
        by_repeat = average(largest, ["repeat"])
        rows[method] = {
            "mean": by_repeat.mean(), "n": len(by_repeat),
            "sd": by_repeat.std(ddof=1) if len(by_repeat) > 1 else 0.0,
            "seconds": times.loc[times["method"] == method, "fit_seconds"].median(),
            "control": config.methods[method].is_control,
        }  # fmt: skip
    table = pd.DataFrame.from_dict(rows, orient="index")
    if table.empty:
        return table
    table["mean"] = without_rounding(table["mean"])
    ascending = [True, not higher_is_better(metric)]
    return table.sort_values(["control", "mean"], ascending=ascending, kind="stable")


def _standing(
    context: Context, experiment: str, means: pd.DataFrame, statistics: pd.DataFrame
) -> Standing:
    config = context.config
    settings = config.experiments[experiment]
    metric = settings.metrics[0]
    better = higher_is_better(metric)
    own = [method for method in (config.own or []) if method in means.index]
    compared = means[~means["control"].astype(bool)]
    ranks = compared["mean"].rank(ascending=not better)
    without = compared.drop(own)["mean"].rank(ascending=not better)
    reference = own[0] if own else str(compared.index[0])
    pairs = _against(reference, experiment, statistics)
    below = _below_floor(context, means, better)
    rows = [
        [
            _rank(ranks.get(name)),
            *([_rank(without.get(name))] if own else []),
            _label(context, name, own) + " (below the control)" * (name in below),
            mean_sd(row["mean"], row["sd"], int(row["n"]), decimals_of(row["mean"])),
            _signed(row["difference"]),
            _interval(row["low"], row["high"]),
            p_text(row["p"]),
            _seconds(row["seconds"]),
        ]
        for name, row in means.join(pairs).iterrows()
    ]
    shown = metric_words(metric)
    of_pairs = f"{_label(context, reference, [])} − method"
    header = [
        "rank", *(["rank among the baselines"] if own else []), "method",
        f"{shown}, mean ± sd", of_pairs, "95 % interval", "p after Holm",
        "seconds per fit",
    ]  # fmt: skip
    notes = [
        "Ranks are by the mean over repeats, data sets and train sizes; controls have "
        "none. " + _INTERVALS[bool(pairs["is_shared"].any())]
    ]
    if len(pairs) and pairs["p"].isna().all():
        notes.append("Too few repeats: differences are described, not tested.")
    if config.record is not None:
        notes.append(config.record.note)
    sentences = [
        _own_sentence(context, method, ranks, means, shown, pairs, better)
        for method in own[:1]
    ]
    sentences += [
        f"{_label(context, method, [])}: {context.missing_reason(experiment, method)}."
        for method in (entry.method for entry in settings.methods)
        if method in (config.own or []) and method not in means.index
    ]
    if below:
        labels = ", ".join(_label(context, name, []) for name in below)
        sentences.append(f"Worse than the mean of each task, a control: {labels}.")
    if not own and len(compared) > 1:
        sentences.append(
            _best_sentence(context, reference, compared, shown, pairs["p"])
        )
    # Without the rank among the baselines, the interval and the seconds.
    brief = [0, *(k + bool(own) for k in (1, 2, 3, 5))]
    joined = [k for k, name in enumerate(means.index) if name in own]
    table = TextTable(header, rows, notes)
    return Standing(settings.title, sentences, table, brief, joined)


def _below_floor(context: Context, means: pd.DataFrame, better: bool) -> list[str]:
    """Return the methods that are worse than the control that ignores all features."""
    methods = context.config.methods
    classes = {name: methods[name].class_name for name in map(str, means.index)}
    floors = [name for name in classes if classes[name].endswith("TaskMeanControl")]
    if not floors:
        return []
    losses = -means["mean"] if better else means["mean"]
    compared = [name for name in classes if not methods[name].is_control]
    return [name for name in compared if losses[name] > losses[floors[0]]]


def _against(reference: str, experiment: str, statistics: pd.DataFrame) -> pd.DataFrame:
    """Return differences of the reference and each other method, with their p."""
    mine = statistics[statistics["experiment"] == experiment]
    mine = mine[(mine["first"] == reference) | (mine["second"] == reference)]
    is_first = mine["first"] == reference
    low, high = mine["interval_low"], mine["interval_high"]
    found = pd.DataFrame({
        "difference": mine["mean_difference"].where(is_first, -mine["mean_difference"]),
        "low": low.where(is_first, -high), "high": high.where(is_first, -low),
        "p": mine["p_corrected"].where(
            mine["rho"].notna(), mine["p_wilcoxon"].where(mine["can_reject"])
        ),
        "is_shared": mine["rho"].notna(),
    }).set_index(mine["second"].where(is_first, mine["first"]))  # fmt: skip
    found["p"] = pd.Series(holm(found["p"].dropna()), found["p"].dropna().index)
    return found


def _own_sentence(
    context: Context,
    method: str,
    ranks: pd.Series,
    means: pd.DataFrame,
    metric: str,
    pairs: pd.DataFrame,
    higher_better: bool,
) -> str:
    row: Any = means.loc[method]
    value = mean_sd(row["mean"], row["sd"], int(row["n"]), decimals_of(row["mean"]))
    text = (
        f"{_label(context, method, [])}: rank {_rank(ranks[method])} of {len(ranks)} "
        f"by {metric}, {with_minus(value)}."
    )
    tested = pairs.dropna(subset=["p"])
    apart = tested[tested["p"] < LEVEL]
    is_better = (apart["difference"] > 0) == higher_better
    parts = [
        f"{side} {', '.join(_label(context, name, []) for name in names)}"
        for side, names in (
            ("better than", apart.index[is_better]),
            ("worse than", apart.index[~is_better]),
            ("not significantly different from", tested.index.difference(apart.index)),
        )
        if len(names)
    ]
    if parts:
        text += f" At {LEVEL:g} it is {'; '.join(parts)}."
    others = means.loc[[m for m in ranks.index if m != method], "seconds"]
    text += f" A fit takes {_seconds(row['seconds'])} s (median)"
    if len(others):
        text += f"; of the others {_seconds(others.min())} to {_seconds(others.max())}"
    return f"{text} s." if len(others) else f"{text}."


def _best_sentence(
    context: Context, best: str, compared: pd.DataFrame, metric: str, p: pd.Series
) -> str:
    text = f"{_label(context, best, [])} has the best mean {metric} of {len(compared)}"
    if p.isna().all():
        return f"{text} methods. Differences are not tested."
    return (
        f"{text} methods, and is significantly better than {(p < LEVEL).sum()} of them "
        f"(p < {LEVEL:g})."
    )


def _over_all(context: Context, found: Mapping[str, pd.DataFrame]) -> list[Standing]:
    """Return mean ranks over experiments, with and without what joined."""
    own = list(context.config.own or [])
    losses = {}
    for experiment, means in found.items():
        if means.empty or not set(own) & set(means.index):
            continue
        metric = context.config.experiments[experiment].metrics[0]
        compared = means.loc[~means["control"].astype(bool), "mean"]
        losses[experiment] = -compared if higher_is_better(metric) else compared
    if len(losses) < 2:
        return []
    matrix = pd.DataFrame(losses).T
    left_out = [str(method) for method in matrix if matrix[method].isna().any()]
    matrix = matrix.drop(columns=left_out)
    joined = [method for method in own if method in matrix]
    if not joined or matrix.shape[1] < 2:
        return []
    with_it = matrix.rank(axis=1).mean().sort_values(kind="stable")
    without_it = matrix.drop(columns=joined).rank(axis=1).mean().to_dict()
    place = int((with_it < with_it[joined[0]]).sum()) + 1
    names = [_label(context, method, []) for method in joined]
    sentence = (
        f"{names[0]} has the mean rank {with_it[joined[0]]:.2f} over {len(matrix)} "
        f"experiments, place {place} of {len(with_it)}."
    )
    rows = [
        [
            _label(context, str(method), joined),
            f"{rank:.2f}",
            DASH if method in joined else f"{without_it[method]:.2f}",
        ]
        for method, rank in with_it.items()
    ]
    notes = [_note_of_no_test(context, list(losses))]
    if left_out:
        labels = ", ".join(_label(context, method, []) for method in left_out)
        notes.append(f"Left out, for they lack scores somewhere: {labels}.")
    header = ["method", "mean rank", "mean rank among the baselines"]
    table = TextTable(header, rows, notes)
    return [Standing("All experiments", [sentence], table, range(len(header)))]


def _note_of_no_test(context: Context, experiments: Sequence[str]) -> str:
    names = [context.config.experiments[e].datasets.name for e in experiments]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return (
            f"No test: several of the experiments are on {', '.join(twice)}, and those "
            "are not independent."
        )
    return "Mean ranks are described here, not tested."


def _label(context: Context, method: Hashable, own: Sequence[str]) -> str:
    return context.label(str(method)) + (" (joined)" if method in own else "")


def _rank(rank: Any) -> str:
    return number(rank, "g")


def _signed(value: float | None) -> str:
    return "0" if value == 0 else number(value, "+.3g")


def _interval(low: float, high: float) -> str:
    return DASH if pd.isna(low) else f"{_signed(low)} to {_signed(high)}"


def _seconds(value: float) -> str:
    return number(value, ".2g")
