"""Checks that every number of a table is the score of a method on a data set.

Names that leave no doubt are refused: averages, sizes, spreads, several metrics, and
values that the metric of a name cannot have.
"""

import re
import shlex
import unicodedata
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pandas as pd

from mtmkl.errors import some
from mtmkl_suite.errors import TableError


class ScoresError(TableError):
    """A table of scores from which no valid test can be made; says what to do."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BETTER = {
    True: _set(
        "accuracy acc auc auroc auprc precision recall sensitivity specificity f1 r2 "
        "kappa mcc ndcg correlation explained likelihood"
    ),
    False: _set(
        "error errors err loss mse rmse mae mape smape nmse nrmse rmsle brier "
        "deviance logloss nll perplexity regret misclassified misclassification "
        "entropy distance cost time seconds runtime"
    ),
}
"""Words in names of scores, by whether larger values are better."""

_REVERSED = _set("neg negative minus 1")
"""Words at the beginning that reverse the direction: neg_log_loss, 1 - auc."""

_BESIDE = _set(
    "score test validation valid val cv mean average avg balanced roc pr edge pooled "
    "macro micro weighted one of all log squared absolute root hinge hamming cross "
    "rate variance total percent neg negative"
)
"""Words that names of scores have besides."""

_RANGES = {
    (0.0, 1.0): _set(
        "accuracy acc auc auroc auprc precision recall sensitivity specificity f1 "
        "error_rate misclassification_rate"
    ),
    (-1.0, 1.0): _set("kappa mcc correlation"),
    (-np.inf, 1.0): _set("r2 explained_variance"),
    (0.0, np.inf): _set(
        "mse rmse mae mape smape nmse nrmse rmsle log_loss squared_error "
        "absolute_error misclassified brier time seconds runtime"
    ),
}

_METRIC_COLUMNS = _set("metric metricname measure scorer scoring criterion scorename")

_SUMMARIES = _set(
    "mean means average averages avg ave median overall total totals sum summary all "
    "aggregate rank ranks ranking std sd stdev sem stderr var variance min max count "
    "wins win ties losses p pvalue friedman nemenyi mittelwert mittel durchschnitt "
    "moyenne promedio media ø μ σ"
)
_IN_SUMMARIES = _set(
    "of the over across score scores data set sets dataset datasets value values test "
    "macro micro number"
)
_SPREADS = _set("std sd stdev stddev se stderr sem ci pvalue pval")
_NO_METHODS = _SPREADS | _set(
    "p n nr no size sizes samples instances rows features classes tasks dim year date "
    "seed id idx index count fold folds repeat repeats run split trial rank lower upper"
)


def higher_by_words(name: str) -> bool | None:
    """Return whether larger values of a score are better, None if no word tells."""
    words = _words(name)
    told = {better for better, own in _BETTER.items() if own & {*words}}
    return None if len(told) != 1 else told.pop() != (words[0] in _REVERSED)


def metrics_of(
    table: pd.DataFrame, score: str, used: Collection[str]
) -> dict[str, str]:
    """Return the columns that name the metric of each row, and the metric.

    ``score`` is the column of the scores; those in ``used`` are of something else. Rows
    of several metrics, or of another than the column of the scores, are refused.
    """
    of_score = higher_by_words(score)
    found = {}
    for column in table.columns.difference([*used, score], sort=False):
        values = {" ".join(_words(value)): value for value in table[column].unique()}
        are_metrics = all(map(_is_metric, values))
        is_text = all(re.search(r"[^\W\d_]|^$", value) for value in values)
        key = re.sub(r"[\s_\-]+", "", column).casefold()
        is_named = is_text and key in _METRIC_COLUMNS
        # A distance may be called a metric, too.
        if not are_metrics and not (is_named and of_score is None):
            continue
        if len(values) > 1:
            listed = some(map(repr, values.values()))
            choice = shlex.quote(f"{column}={next(filter(None, values.values()))}")
            raise ScoresError(
                f"column {column!r} has several metrics ({listed}), and a comparison "
                f"ranks one: choose by --where {choice}"
            )
        (value,) = values.values()
        mine, its = {*_words(score)}, {*_words(value)}
        if of_score is not None and not (mine <= its or its <= mine):
            raise ScoresError(
                f"column {column!r} says {value!r}, and the scores are of column "
                f"{score!r}: correct either, or delete column {column!r}"
            )
        found[column] = value
    return found


def check_values(scores: pd.DataFrame, score: str) -> Iterator[str]:
    """Refuse values that a score cannot have, and percent beside fractions.

    Yield a remark on the latter where the name leaves a doubt.
    """
    name = "_".join(_words(score))
    values = scores["score"].round(9)  # sums of shares exceed 1 by rounding
    above, parts = scores[values > 1], scores[(values > 0) & (values <= 1)]
    has_both = len(above) > 0 and len(parts) > 0 and "percent" not in name
    both = f"{_cell(above, score)}, and {_cell(parts, score)}" if has_both else ""
    if higher_by_words(score) is None:
        is_apart = not values.between(1, 10, inclusive="neither").any()
        if has_both and is_apart and values.between(0, 100).all():
            yield f"Percent beside fractions? {both[0].upper()}{both[1:]}."
    if name[:3] == "neg" or not _is_metric(score):
        return
    low, high = next(
        (
            limits
            for limits, own in _RANGES.items()
            if any(f"_{each}_" in f"_{name}_" for each in own)
        ),
        (-np.inf, np.inf),
    )
    unit = 100.0 if high == 1 and len(above) else 1.0
    for beyond, side in (
        (scores[values < low * unit], f"below {low:g}"),
        (scores[values > high * unit], f"above {high:g} (or 100 in percent)"),
    ):
        if len(beyond):
            raise ScoresError(
                f"{_cell(beyond, score)}, {side}: correct it, or give the score its "
                "own name"
            )
    # An error of 0.5 may be in percent, and so may a share of explained variance.
    if has_both and (low, high) == (0, 1) and higher_by_words(score):
        raise ScoresError(
            f"percent beside fractions, or a score above 1: {both}. Write all in one "
            f"unit; if all are in percent, say so in the name: {name}_percent"
        )


def check_names(datasets: Collection[str], methods: Collection[str]) -> None:
    """Refuse data sets and methods that are none by their names."""
    for kind, names, is_none in (
        ("data set", datasets, _is_summary),
        ("method", methods, _is_no_method),
    ):
        for name in filter(is_none, names):
            raise ScoresError(
                f"{name!r} is not a {kind} by its name, but would count as one: delete "
                f"its rows or column, or rename it if it is a {kind}"
            )
    for kind, names in (("data sets", datasets), ("methods", methods)):
        if found := list(filter(_is_metric, names)):
            raise ScoresError(
                f"names of metrics stand for {kind} ({some(found)}): a comparison "
                f"ranks one metric, and wants the names of the {kind} there"
            )
        ends = {higher_by_words(_words(name)[-1]): name for name in names}
        if {True, False} <= {*ends}:
            raise ScoresError(
                f"{ends[True]} and {ends[False]} seem to be of different metrics, and "
                "a comparison ranks one: keep the scores of one, or rename the "
                f"{kind}"
            )


def refuse_summaries(long: pd.DataFrame, repeats: Sequence[str]) -> None:
    """Refuse means and totals among the repeats that are averaged."""
    for column in repeats:
        values = long[column].unique()
        for value in values if len(values) > 1 else ():
            if _is_summary(value):
                raise ScoresError(
                    f"column {column!r} has {value!r} among its repeats: delete these "
                    f"rows, or keep them alone by --where {column}={value}"
                )


def _words(name: object) -> list[str]:
    """Return the words of a name in small letters: "valLogLoss" has three."""
    text = unicodedata.normalize("NFKC", str(name))
    text = re.sub(r"±|\+/?-", " std ", text).replace("%", " percent ")
    text = re.sub(r"\bp[\s_\-]?(?=val)", "p", text, flags=re.IGNORECASE)
    text = re.sub(r"([a-zß-ÿ])(?=[A-Z])", r"\1 ", text)
    return re.findall(r"[^\W\d_]+\d*|\d+", text.lower()) or [""]


def _is_summary(name: object) -> bool:
    """Tell whether a name has a word of summaries, and else only such as go with it."""
    words = {*_words(name)}
    metrics = _BETTER[True] | _BETTER[False]
    return bool(words & _SUMMARIES) and words <= _SUMMARIES | _IN_SUMMARIES | metrics


def _is_no_method(name: object) -> bool:
    """Tell whether a column is of sizes, numbers or spreads by its words."""
    words = _words(name)
    return {*words} <= _NO_METHODS or (len(words) > 1 and words[-1] in _SPREADS)


def _is_metric(name: object) -> bool:
    words = {*_words(name)}
    metrics = _BETTER[True] | _BETTER[False]
    return bool(words & metrics) and words <= metrics | _BESIDE


def _cell(rows: pd.DataFrame, score: str) -> str:
    row = rows.iloc[0]
    return (
        f"line {row.name}: the {score} of {row['method']} on {row['dataset']} is "
        f"{row['score']:g}"
    )
