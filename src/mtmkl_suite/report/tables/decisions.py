"""Recommendations: the best methods on data sets with a property, in sentences."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import MethodComparison, MethodTable
from mtmkl_suite.judge.comparison import ranking_matrix, seconds_matrix
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.comparison import notes_on_joined, ranked
from mtmkl_suite.report.text import PrintedTable, number, p_text
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


@dataclass(frozen=True)
class Decision:
    """Outcome of a comparison on the data sets with one property.

    ``methods`` has the best mean rank first; its columns are mean_rank, mean, held_up
    (its mean is at most ``rope`` below that of the best mean rank), above_control (mean
    difference), harmed (that is more than ``rope`` below zero), wins, losses (data sets
    on which it is better or worse than the control), p_better (posterior probability of
    the Bayesian signed-rank test that it is better than the control by more than
    ``rope``; ``nan`` for fewer than five data sets), seconds (to choose and fit once,
    mean over data sets).
    """

    methods: pd.DataFrame
    datasets: tuple[str, ...]
    control: str
    rope: float
    unit: str

    def held_up(self) -> str:
        """Say which method ranks best, and which are as good within the region."""
        best = self.methods.iloc[0]
        others = self._named(self.methods[self.methods["held_up"]].index[1:])
        unit = self.unit.removesuffix("s") if self.rope == 1.0 else self.unit
        region = f"{self.rope:g} {unit}"
        text = (
            f"{best.name} has the best mean rank, {best['mean_rank']:.1f} of "
            f"{len(self.methods)} methods, mean {best['mean']:.1f}."
        )
        if others:
            return f"{text} No more than {region} below it, or above: {others}."
        return f"{text} All others are more than {region} below it."

    def against_control(self) -> str:
        """Say what the best method gains over learning alone, and which lose."""
        best = self.methods.iloc[0]
        if best.name == self.control:
            gain = f"Nothing ranks above the control, {self.control}."
        else:
            n, p = len(self.datasets), best["p_better"]
            where = f"better on {int(best['wins'])} of {n} data set{'s' * (n > 1)}"
            sure = f", probability of a gain of more than {self.rope:g}: {p_text(p)}"
            above = number(best["above_control"], "+.1f")
            gain = (
                f"{best.name}: {above} {self.unit} over "
                f"{self.control}, {where}{'' if math.isnan(p) else sure}."
            )
        harmed = self.methods[self.methods["harmed"]]
        worst = harmed.sort_values("above_control").index
        if not len(worst):
            return f"{gain} No method is more than {self.rope:g} below the control."
        named = ", ".join(
            f"{name} ({number(harmed.loc[name, 'above_control'], '+.1f')})"
            for name in worst[:_MOST_NAMED]
        )
        most = " most of all" if len(worst) > _MOST_NAMED else ""
        return (
            f"{gain} {len(worst)} method{'s are' if len(worst) > 1 else ' is'} more "
            f"than {self.rope:g} below the control,{most} {named}."
        )

    def cost(self) -> str:
        """Say what the best method costs, and which as good as it is the cheapest."""
        best = self.methods.iloc[0]
        seconds = self.methods["seconds"].astype(float)
        own, alone = seconds.iloc[0], seconds[self.control]
        text = f"{best.name}: {_seconds(own)}"
        if best.name != self.control:
            text += f", {_factor(own / alone)} times {self.control} ({_seconds(alone)})"
        held = seconds[self.methods["held_up"]]
        cheapest, least = held.idxmin(), _seconds(float(held.min()))
        if cheapest == best.name:
            return f"{text}; none as good is cheaper."
        return f"{text}. The cheapest as good: {cheapest}, {least}."

    def _named(self, names: "pd.Index[Any]") -> str:
        texts = [f"{name} ({self.methods.loc[name, 'mean']:.1f})" for name in names]
        if len(texts) > _MOST_NAMED:
            texts[_MOST_NAMED:] = [f"and {len(texts) - _MOST_NAMED} more"]
        return ", ".join(texts)


def decide(
    values: pd.DataFrame, seconds: pd.DataFrame, comparison: MethodComparison
) -> Decision:
    """Compare methods on the data sets of one property."""
    control, rope = comparison.control, comparison.rope
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
    return Decision(
        methods=methods,
        datasets=tuple(map(str, values.index)),
        control=control,
        rope=rope,
        unit=comparison.unit,
    )


def build_decisions(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return the best methods by property of the tasks, each sentence with its numbers.

    ``artefact``: A configured table of layout ``decisions``: its ``settings`` name a
    property of the data sets, which the rows of the comparison have, and a block.
    """
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
        decision = None
        if context.is_judged and with_property:
            part = comparison.model_copy(update={"rows": with_property})
            decision = _decision(context, part, size)
        if decision is None:
            why = NO_RECORD if with_property else NO_DATA
            body.append([label, ", ".join(with_property) or "none", why, "", ""])
            continue
        where = f"{', '.join(decision.datasets)}; {size} for training"
        said = decision.held_up(), decision.against_control(), decision.cost()
        body.append([label, where, *said])
        decided.append(decision.methods.index)
        named = decision.methods.rename_axis("method").reset_index()
        n = len(decision.datasets)
        tables.append(named.assign(setting=label, n=n, **{"train size": size}))
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


def _decision(
    context: Context, comparison: MethodComparison, block: str
) -> Decision | None:
    values = ranked(ranking_matrix(context.scores, comparison, block), comparison)
    if values.empty or comparison.control not in values:
        return None
    seconds = seconds_matrix(context.scores, comparison, block)
    return decide(values, seconds.loc[values.index, values.columns], comparison)


def _seconds(value: float) -> str:
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def _factor(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"
