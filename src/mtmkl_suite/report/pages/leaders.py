"""The first methods of a comparison."""

import pandas as pd

from mtmkl_suite.config.models import MethodTable
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import half_width, interval_text
from mtmkl_suite.report.tables.comparison import ranked
from mtmkl_suite.report.text import DASH, TextTable, interval, number

_LEADERS = 10
"""Methods of a table."""


def leaders(context: Context) -> list[tuple[str, TextTable]]:
    """Return the best methods of each comparison with baselines, under its title."""
    found = []
    for name, artefact in context.config.artefacts.items():
        if not isinstance(artefact, MethodTable) or artefact.layout != "baselines":
            continue
        plan = artefact.comparison
        values = ranked(context, plan, plan.main)
        if len(values) < 2 or plan.control not in values:
            continue
        ranks = values.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
        above = values.sub(values[plan.control], axis=0)
        kinds = dict.fromkeys(artefact.baselines, "current")
        kinds |= dict.fromkeys(artefact.proposed, "the five papers")
        kinds |= {plan.control: "control"}
        rows = [
            [
                method,
                kinds.get(method, "earlier"),
                f"{ranks[method]:.1f}",
                number(values[method].mean(), ".1f"),
                DASH if method == plan.control else _with_interval(above[method]),
            ]
            for method in map(str, ranks.index[:_LEADERS])
        ]
        lead = f"lead over {plan.control} ({interval_text(len(values))})"
        header = ["method", "from", "mean rank", f"mean, {plan.unit}", lead]
        kind = name.rpartition("_")[2].capitalize()
        of = f"the first {len(rows)} of {values.shape[1]}, by mean rank"
        title = f"{kind} on {len(values)} data sets: {of}"
        found.append((title, TextTable(header, rows)))
    return found


def _with_interval(above: pd.Series) -> str:
    mean, half = above.mean(), half_width(above)
    ends = interval(mean - half, mean + half, "+.1f")
    return number(mean, "+.1f") + ("" if pd.isna(half) else f" ({ends})")
