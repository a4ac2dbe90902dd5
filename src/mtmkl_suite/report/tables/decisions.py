"""Recommendations: the best methods on data sets with a property, in sentences."""

import math
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Comparison, MethodTable
from mtmkl_suite.judge.comparison import seconds_matrix
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.comparison import notes_on_joined, ranked
from mtmkl_suite.report.text import PrintedTable, many, number, p_text, sized
from mtmkl_suite.statistics.pairs import MIN_UNITS, bayesian_signed_rank
from mtmkl_suite.statistics.ranks import rank_methods
from mtmkl_suite.statistics.ties import (
    differences,
    rounding_of,
    scale_of,
    without_rounding,
)

NO_RECORD = "no scores of the full protocol yet: nothing is decided"
NO_DATA = "no data set has this property: nothing is decided"

_COLUMNS = (
    "setting", "train size", "method", "n", "mean_rank", "mean", "held_up",
    "above_control", "wins", "losses", "p_better", "seconds",
)  # fmt: skip
_MOST_NAMED = 4


def held_up(methods: pd.DataFrame, plan: Comparison) -> str:
    """Say which method ranks best, and which are as good within the region."""
    best = methods.iloc[0]
    named = [
        f"{name} ({mean:.1f})"
        for name, mean in methods.loc[methods["held_up"], "mean"].iloc[1:].items()
    ]
    if len(named) > _MOST_NAMED:
        named[_MOST_NAMED:] = [f"and {len(named) - _MOST_NAMED} more"]
    region = sized(plan.rope, plan.unit)
    text = (
        f"{best.name} has the best mean rank, {best['mean_rank']:.1f} of "
        f"{len(methods)} methods, mean {best['mean']:.1f}."
    )
    if named:
        return f"{text} No more than {region} below it, or above: {', '.join(named)}."
    return f"{text} All others are more than {region} below it."


def against_control(methods: pd.DataFrame, plan: Comparison) -> str:
    """Say what the best method gains over learning alone, and which lose."""
    best = methods.iloc[0]
    if best.name == plan.control:
        gain = f"Nothing ranks above the control, {plan.control}."
    else:
        p = best["p_better"]
        sure = f", probability of a gain of more than {plan.rope:g}: {p_text(p)}"
        gain = (
            f"{best.name}: {number(best['above_control'], '+.1f')} {plan.unit} over "
            f"{plan.control}, better on {int(best['wins'])} of "
            f"{many(int(best['n']), 'data set')}{'' if math.isnan(p) else sure}."
        )
    harmed = methods.loc[methods["harmed"], "above_control"].sort_values()
    if harmed.empty:
        return f"{gain} No method is more than {plan.rope:g} below the control."
    named = ", ".join(
        f"{name} ({number(value, '+.1f')})"
        for name, value in harmed.head(_MOST_NAMED).items()
    )
    most = " most of all" if len(harmed) > _MOST_NAMED else ""
    return (
        f"{gain} {many(len(harmed), 'method')} {'are' if len(harmed) > 1 else 'is'} "
        f"more than {plan.rope:g} below the control,{most} {named}."
    )


def cost(methods: pd.DataFrame, plan: Comparison) -> str:
    """Say what the best method costs, and which as good as it is the cheapest."""
    best, seconds = methods.index[0], methods["seconds"].astype(float)
    own, alone = seconds.iloc[0], seconds[plan.control]
    text = f"{best}: {_seconds(own)}"
    if best != plan.control:
        text += f", {_factor(own / alone)} times {plan.control} ({_seconds(alone)})"
    held = seconds[methods["held_up"]]
    if held.idxmin() == best:
        return f"{text}; none as good is cheaper."
    return f"{text}. The cheapest as good: {held.idxmin()}, {_seconds(held.min())}."


def decide(
    values: pd.DataFrame, seconds: pd.DataFrame, plan: Comparison
) -> pd.DataFrame:
    """Compare methods on the data sets of one property, the best mean rank first.

    Returns mean_rank, mean, n (data sets), held_up (the mean is at most ``rope`` below
    that of the best mean rank), above_control (mean difference), harmed (that is more
    than ``rope`` below zero), wins, losses (data sets on which it is better or worse
    than the control), p_better (posterior probability of the Bayesian signed-rank test
    that it is better than the control by more than ``rope``; ``nan`` for fewer than
    five data sets), seconds (to choose and fit once, mean over data sets).
    """
    control, rope = plan.control, plan.rope
    scale = scale_of(values.to_numpy())
    found = {
        name: differences(values[name], values[control], scale=scale) for name in values
    }
    gains = pd.DataFrame({name: gain for name, (gain, _) in found.items()})
    means = without_rounding(values.mean())
    above_control = means - means[control]
    limit = rope + rounding_of(means, scale).max()
    methods = pd.DataFrame(
        {
            "mean_rank": rank_methods(values, higher_better=True).mean(),
            "mean": means,
            "n": len(values),
            "above_control": above_control,
            "harmed": above_control < -limit,
            "wins": (gains > 0).sum(),
            "losses": (gains < 0).sum(),
            "p_better": [
                bayesian_signed_rank(gain, rope, rounding=rounding)[0]
                if len(gain) >= MIN_UNITS and name != control
                else math.nan
                for name, (gain, rounding) in found.items()
            ],
            "seconds": seconds[list(values)].mean(),
        }
    ).sort_values(["mean_rank", "mean"], ascending=[True, False], kind="stable")
    methods["held_up"] = methods["mean"] >= methods["mean"].iloc[0] - limit
    return methods


def build_decisions(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return the best methods by property of the tasks, in sentences with numbers."""
    comparison = artefact.comparison
    header = [
        "situation", "data sets", "best methods", "gain over single-task learning",
        "cost",
    ]  # fmt: skip
    body, tables = [], []
    decided: list[pd.Index[Any]] = []
    for setting in artefact.settings:
        with_property = {
            name: row
            for name, row in comparison.rows.items()
            if setting.property in row.properties
        }
        size, label = setting.block, setting.label
        values = pd.DataFrame()
        if context.is_judged and with_property:
            part = comparison.model_copy(update={"rows": with_property})
            values = ranked(context, part, size)
        if values.empty or comparison.control not in values:
            why = NO_RECORD if with_property else NO_DATA
            body.append([label, ", ".join(with_property) or "none", why, "", ""])
            continue
        seconds = seconds_matrix(context.scores, part, size)
        methods = decide(values, seconds.loc[values.index, values.columns], part)
        where = f"{', '.join(values.index)}; {size} for training"
        said = (each(methods, part) for each in (held_up, against_control, cost))
        body.append([label, where, *said])
        decided.append(methods.index)
        named = methods.rename_axis("method").reset_index()
        tables.append(named.assign(setting=label, **{"train size": size}))
    cells = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    cells = cells.reindex(columns=list(_COLUMNS))
    everywhere = set.intersection(*map(set, decided)) if decided else set()
    notes = [
        f"Numbers in {comparison.unit}, means over the data sets. Best: at "
        f"most {comparison.rope:g} below the mean of the best mean rank. "
        f"Control: {comparison.control}. Seconds: one repeat at one train size, "
        "hyper-parameters chosen and fitted, mean over the data sets.",
        f"With fewer than {MIN_UNITS} data sets no probability is given: they show "
        "what happened there, and nothing beyond.",
        *notes_on_joined(context, comparison, everywhere),
    ]
    return PrintedTable(artefact.title, cells, header, body, notes)


def _seconds(value: float) -> str:
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def _factor(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"
