"""Table of baselines that were added to a comparison, against what the papers propose.

Both are ranked over the data sets that count in the comparison
(:mod:`mtmkl_suite.report.tables.comparison`). The first note says whether anything that
is proposed beats all baselines.
"""

import itertools
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import MethodTable
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.comparison import OUTCOMES, ranked, ranked_repeats
from mtmkl_suite.report.text import PrintedTable, number, p_text
from mtmkl_suite.statistics.hierarchical import CERTAIN, compare_all_repeats
from mtmkl_suite.statistics.ties import differences, scale_of

_COLUMNS = (
    "block", "first", "second", "n", "rank_first", "rank_second", "mean_first",
    "mean_second", "difference", "wins", "ties", "losses", *OUTCOMES,
    "weakest_without", "reversed_without",
)  # fmt: skip


def build_baselines(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return each baseline against the control and the best of what is proposed."""
    comparison = artefact.comparison
    cells = pd.concat(
        [_pairs(context, artefact, block) for block in comparison.blocks],
        ignore_index=True,
    )
    main = cells[cells["block"] == comparison.main]
    proposed = main[main["second"].isin(artefact.proposed)]
    header = [
        "baseline", "against", f"difference, {comparison.unit}", "wins–ties–losses",
        "P(baseline better)", "P(equal)", "P(other better)",
    ]  # fmt: skip
    body = []
    notes = []
    if len(proposed):
        best = str(proposed.sort_values("rank_second")["second"].iloc[0])
        shown = main[main["second"].isin([comparison.control, best])]
        body = [
            [
                row["first"],
                row["second"],
                number(row["difference"], "+.2f"),
                f"{row['wins']}–{row['ties']}–{row['losses']}",
                *(p_text(row[name]) for name in OUTCOMES),
            ]
            for row in shown.sort_values("rank_first", kind="stable").to_dict("records")
        ]
        notes = [
            _verdict(proposed),
            f"Train size: {comparison.main}; {main['n'].iloc[0]} data sets. {best} has "
            "the best mean rank of what the papers propose. Differences up to "
            f"{comparison.rope:g} {comparison.unit} count as none. Probabilities are "
            "those of the hierarchical model of all repeats; the csv has all pairs and "
            "train sizes.",
        ]
        ranked_ = set(main["first"])
        unranked = [name for name in artefact.baselines if name not in ranked_]
        if unranked:
            notes.append(
                f"Not on all of these data sets, so in no pair: {', '.join(unranked)}."
            )
    return PrintedTable(artefact.title, cells, header, body, notes)


def _pairs(context: Context, artefact: MethodTable, block: str) -> pd.DataFrame:
    """Return all pairs of a baseline with the control or what is proposed."""
    comparison = artefact.comparison
    values = ranked(context, comparison, block)
    if len(values) < 2:
        return pd.DataFrame(columns=list(_COLUMNS))
    firsts = [name for name in artefact.baselines if name in values]
    seconds = [n for n in (comparison.control, *artefact.proposed) if n in values]
    ranks = values.rank(axis=1, ascending=False).mean()
    found = ranked_repeats(context, comparison, block, [*firsts, *seconds])
    scale = scale_of(values.to_numpy())
    rows: list[dict[str, Any]] = []
    for first, second in itertools.product(firsts, seconds):
        difference, rounding = differences(values[first], values[second], scale=scale)
        equal = abs(difference) <= comparison.rope + rounding
        row = dict.fromkeys(_COLUMNS) | {
            "block": block, "first": first, "second": second, "n": len(values),
            "rank_first": ranks[first], "rank_second": ranks[second],
            "mean_first": values[first].mean(), "mean_second": values[second].mean(),
            "difference": difference.mean(),
            "wins": (~equal & (difference > 0)).sum(), "ties": equal.sum(),
            "losses": (~equal & (difference < 0)).sum(),
        }  # fmt: skip
        if not isinstance(found, str):
            repeats, ratios = found
            both = {name: table[[first, second]] for name, table in repeats.items()}
            posterior = compare_all_repeats(
                both, ratios, higher_better=True, rope=comparison.rope
            )
            row |= {name: posterior[name].iloc[0] for name in _COLUMNS[-5:]}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _verdict(pairs: pd.DataFrame) -> str:
    """Say whether anything that is proposed beats all baselines, by their pairs."""
    if pairs["p_second_better"].isna().all():
        return "Too few data sets or repeats to say whether one beats all baselines."
    pairs = pairs.astype({"p_second_better": float})
    least = pairs.groupby("second")["p_second_better"].min()
    beats = list(least.index[least > CERTAIN])
    if beats:
        return f"{', '.join(beats)}: better than every baseline, P > {CERTAIN:g}."
    nearest = str(least.idxmax())
    of_it = pairs[pairs["second"] == nearest]
    (hardest,) = of_it.nsmallest(1, "p_second_better").to_dict("records")
    return (
        f"No method of the papers beats all {of_it['first'].nunique()} baselines with "
        f"a probability above {CERTAIN:g}. {nearest} comes nearest: it beats "
        f"{hardest['first']}, the hardest for it, with {p_text(least.max())} (mean "
        f"{hardest['mean_second']:.1f} against {hardest['mean_first']:.1f})."
    )
