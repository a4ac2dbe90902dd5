"""Ranks and differences of methods on one experiment, those that joined it named."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.judge.sample import average, fits, higher_is_better
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.cells import mean_sd
from mtmkl_suite.report.text import (
    DASH,
    TextTable,
    interval,
    metric_words,
    number,
    p_text,
    with_minus,
)
from mtmkl_suite.statistics.pairs import LEVEL, holm
from mtmkl_suite.statistics.ties import without_rounding

_INTERVALS = {
    True: "Repeats share samples: interval and p are those of the t-test corrected "
    "for it. ",
    False: "The interval is a bootstrap interval over repeats, p is of Wilcoxon's "
    "test. ",
}
"""Words for interval and p, by whether repeats share samples."""

_FAMILIES = {
    True: "Holm's correction over the baselines is of p alone.",
    False: "Holm's correction is of p alone, and over all pairs of methods, as these "
    "scores also say which is the best.",
}
"""Words for the correction, by whether a method joined and is compared."""


@dataclass(frozen=True)
class Standing:
    """The methods of an experiment in order, and what is to be said first."""

    title: str
    sentences: list[str]
    table: TextTable
    brief: Sequence[int]
    """Columns of the table that are enough where there is little room."""
    own: Sequence[int] = ()
    """Rows of methods that joined."""


def standings(context: Context, statistics: pd.DataFrame) -> list[Standing]:
    """Return where methods stand, for a run of methods or data of one's own.

    Returns one over all experiments if there are several, and one per experiment that
    chooses hyper-parameters; the methods that joined are compared with all others, or
    the best method if none joined.
    """
    found = {
        name: means
        for name, experiment in context.config.experiments.items()
        if experiment.mode == "select" and not (means := _means(context, name)).empty
    }
    parts = [_standing(context, *each, statistics) for each in found.items()]
    return [*_over_all(context, found), *parts]


def _means(context: Context, experiment: str) -> pd.DataFrame:
    """Return mean, sd, n and seconds of each method that has scores, best first."""
    config = context.config
    metric = config.experiments[experiment].metrics[0]
    times = fits(context.scores[context.scores["experiment"] == experiment])
    rows = {}
    for method in [entry.method for entry in config.experiments[experiment].methods]:
        values = context.rows(experiment, metric, {"method": method, "setting": ""})
        largest = values[values["n_tasks"] == values["n_tasks"].max()]
        if len(by_repeat := average(largest, ["repeat"])):
            rows[method] = {
                "mean": by_repeat.mean(), "sd": by_repeat.std(), "n": len(by_repeat),
                "seconds": times.loc[times["method"] == method, "fit_seconds"].median(),
                "control": config.methods[method].is_control,
            }  # fmt: skip
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame.from_dict(rows, orient="index")
    table["mean"] = without_rounding(table["mean"])
    ascending = [True, not higher_is_better(metric)]
    return table.sort_values(["control", "mean"], ascending=ascending, kind="stable")


def _standing(
    context: Context, experiment: str, means: pd.DataFrame, statistics: pd.DataFrame
) -> Standing:
    config, label = context.config, context.label
    settings = config.experiments[experiment]
    better = higher_is_better(settings.metrics[0])
    shown = metric_words(settings.metrics[0])
    joined = config.own or []
    own = [method for method in joined if method in means.index]
    compared = means[~means["control"].astype(bool)]
    reference = own[0] if own else str(compared.index[0])
    pairs = _against(reference, experiment, statistics, is_given=bool(own))
    table = means.join(pairs).assign(
        rank=compared["mean"].rank(ascending=not better),
        without=compared.drop(own)["mean"].rank(ascending=not better),
        said=list(map(mean_sd, means["mean"], means["sd"], means["n"])),
    )
    below = _below_floor(context, means, better)
    names = [
        label(name)
        + " (joined)" * (name in own)
        + " (below the control)" * (name in below)
        for name in means.index
    ]
    among = {"rank among the baselines": table["without"].map(number)} if own else {}
    columns: dict[str, Iterable[str]] = {
        "rank": table["rank"].map(number),
        **among,
        "method": names,
        f"{shown}, mean ± sd": table["said"],
        f"{label(reference)} − method": table["difference"].map(_signed),
        "95 % interval": map(_interval, table["low"], table["high"]),
        "p after Holm": table["p"].map(p_text),
        "seconds per fit": [number(each, ".2g") for each in table["seconds"]],
    }
    notes = [
        "Ranks are by the mean over repeats, data sets and train sizes; controls have "
        "none. " + _INTERVALS[bool(pairs["is_shared"].any())] + _FAMILIES[bool(own)]
    ]
    if len(pairs) and pairs["p"].isna().all():
        notes.append("Too few repeats: differences are described, not tested.")
    if config.record is not None:
        notes.append(config.record.note)
    sentences = []
    if own:
        sentences = [_own_sentence(context, own[0], table, pairs, shown, better)]
    sentences += [
        f"{label(entry.method)}: {context.missing_reason(experiment, entry.method)}."
        for entry in settings.methods
        if entry.method in joined and entry.method not in own
    ]
    if below:
        labels = ", ".join(map(label, below))
        sentences.append(f"Worse than the mean of each task, a control: {labels}.")
    if not own and len(compared) > 1:
        tested = ". Differences are not tested."
        if pairs["p"].notna().any():
            n_worse = (pairs["p"] < LEVEL).sum() or "none"
            tested = f", and is significantly better than {n_worse} of them (p < "
            tested += f"{LEVEL:g})."
        best = f"{label(reference)} has the best mean {shown}"
        sentences.append(f"{best} of {len(compared)} methods{tested}")
    # Without the rank among the baselines, the interval and the seconds.
    brief = [0, *(k + bool(own) for k in (1, 2, 3, 5))]
    places = [k for k, name in enumerate(means.index) if name in own]
    return Standing(settings.title, sentences, _table(columns, notes), brief, places)


def _below_floor(context: Context, means: pd.DataFrame, better: bool) -> list[str]:
    """Return the methods that are worse than the control that ignores all features."""
    methods = {name: context.config.methods[name] for name in map(str, means.index)}
    losses = -means["mean"] if better else means["mean"]
    floors = [k for k, m in methods.items() if m.class_name.endswith("TaskMeanControl")]
    return [
        name
        for name, method in methods.items()
        for floor in floors[:1]
        if not method.is_control and losses[name] > losses[floor]
    ]


def _against(
    reference: str, experiment: str, statistics: pd.DataFrame, *, is_given: bool
) -> pd.DataFrame:
    """Return differences of the reference and each other method, with their p.

    A reference that its scores singled out is tested among all pairs.
    """
    mine = statistics[statistics["experiment"] == experiment]
    is_its = (mine["first"] == reference) | (mine["second"] == reference)
    p = mine["p_corrected"].where(
        mine["rho"].notna(), mine["p_wilcoxon"].where(mine["can_reject"])
    )
    p = (p[is_its] if is_given else p).dropna()
    mine = mine.assign(p=pd.Series(holm(p), p.index))[is_its]
    is_first = mine["first"] == reference
    low, high = mine["interval_low"], mine["interval_high"]
    return pd.DataFrame({
        "difference": mine["mean_difference"].where(is_first, -mine["mean_difference"]),
        "low": low.where(is_first, -high), "high": high.where(is_first, -low),
        "p": mine["p"], "is_shared": mine["rho"].notna(),
    }).set_index(mine["second"].where(is_first, mine["first"]))  # fmt: skip


def _own_sentence(
    context: Context,
    method: str,
    table: pd.DataFrame,
    pairs: pd.DataFrame,
    metric: str,
    better: bool,
) -> str:
    row: Any = table.loc[method]
    ranked = table[table["rank"].notna()]
    text = (
        f"{context.label(method)}: rank {number(row['rank'])} of {len(ranked)} by "
        f"{metric}, {with_minus(row['said'])}."
    )
    tested = pairs.dropna(subset=["p"])
    is_apart = tested["p"] < LEVEL
    is_ahead = (tested["difference"] > 0) == better
    parts = [
        f"{side} {', '.join(map(context.label, names))}"
        for side, names in (
            ("better than", tested.index[is_apart & is_ahead]),
            ("worse than", tested.index[is_apart & ~is_ahead]),
            ("not significantly different from", sorted(tested.index[~is_apart])),
        )
        if len(names)
    ]
    if parts:
        text += f" At {LEVEL:g} it is {'; '.join(parts)}."
    text += f" A fit takes {number(row['seconds'], '.2g')} s (median)"
    others = ranked["seconds"].drop(method)
    if others.empty:
        return f"{text}."
    return f"{text}; of the others {interval(others.min(), others.max(), '.2g')} s."


def _over_all(context: Context, found: Mapping[str, pd.DataFrame]) -> list[Standing]:
    """Return mean ranks over experiments, with and without what joined."""
    own, label = list(context.config.own or []), context.label
    losses = {}
    for experiment, means in found.items():
        if set(own) & set(means.index):
            metric = context.config.experiments[experiment].metrics[0]
            compared = means.loc[~means["control"].astype(bool), "mean"]
            losses[experiment] = -compared if higher_is_better(metric) else compared
    if len(losses) < 2:
        return []
    matrix = pd.DataFrame(losses).T
    left_out = matrix.columns[matrix.isna().any()]
    matrix = matrix.drop(columns=left_out)
    joined = [method for method in own if method in matrix]
    if not joined or matrix.shape[1] < 2:
        return []
    with_it = matrix.rank(axis=1).mean().sort_values(kind="stable")
    without_it = matrix.drop(columns=joined).rank(axis=1).mean()
    first = with_it[joined[0]]
    sentence = (
        f"{label(joined[0])} has the mean rank {first:.2f} over {len(matrix)} "
        f"experiments, place {(with_it < first).sum() + 1} of {len(with_it)}."
    )
    columns: dict[str, Iterable[str]] = {
        "method": [label(m) + " (joined)" * (m in joined) for m in with_it.index],
        "mean rank": with_it.map("{:.2f}".format),
        "mean rank among the baselines": [
            number(rank, ".2f") for rank in without_it.reindex(with_it.index)
        ],
    }
    names = [context.config.experiments[e].datasets.name for e in losses]
    twice = sorted({name for name in names if names.count(name) > 1})
    notes = ["Mean ranks are described here, not tested."]
    if twice:
        notes = [
            f"No test: several of the experiments are on {', '.join(twice)}, and those "
            "are not independent."
        ]
    if len(left_out):
        labels = ", ".join(map(label, left_out))
        notes.append(f"Left out, for they lack scores somewhere: {labels}.")
    table = _table(columns, notes)
    return [Standing("All experiments", [sentence], table, range(len(columns)))]


def _table(columns: Mapping[str, Iterable[str]], notes: list[str]) -> TextTable:
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return TextTable(list(columns), rows, notes)


def _signed(value: float) -> str:
    return "0" if value == 0 else number(value, "+.3g")


def _interval(low: float, high: float) -> str:
    return DASH if pd.isna(low) else f"{_signed(low)} to {_signed(high)}"
