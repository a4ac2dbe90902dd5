"""Checks that every number of a table is the score of a method on a data set.

A name that leaves no doubt, or a name and values that say the same, is refused: sizes,
averages, spreads, other metrics, percent beside fractions. A single sign is remarked
on.
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
_SPREADS = _set("std sd stdev stddev stderr sem ci pvalue pval")
_ENDINGS = _SPREADS | _set("se p time seconds rank")
_NO_SCORES = _SPREADS | _set(
    "se var p n nr no size sizes samples samples instances rows features attributes "
    "classes tasks dim dims dimension year date seed id ids idx index number count "
    "fold folds repeat repeats run split trial rank ranks time seconds runtime train "
    "test validation val lower upper"
)
_IN_NO_SCORES = _set("num value openml uci random data set dataset of the fit m")
_DERIVED = _set(
    "best winner oracle max min mean average avg median sum total overall diff "
    "difference delta gain improvement"
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
        is_named = is_text and _key(column) in _METRIC_COLUMNS
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


def contradiction(
    score: str, file: str, methods: Sequence[str], *, higher_better: bool
) -> list[str]:
    """Return a remark if the score, file or methods name one of another direction."""
    names = [score, file]
    if len({higher_by_words(method) for method in methods}) == 1:
        names += methods[:1]
    larger, other = ("Larger", "smaller") if higher_better else ("Smaller", "larger")
    return [
        f"{larger} values are taken as better, as asked for, but {name!r} names a "
        f"score of which {other} values are."
        for name in names
        if higher_by_words(name) is (not higher_better)
    ][:1]


def check_values(
    scores: pd.DataFrame, score: str, *, higher_better: bool
) -> Iterator[str]:
    """Yield remarks on values outside a score's range, and on mixed units.

    They are refused if the name of the score leaves no doubt.
    """
    name = "_".join(_words(score))
    of_name = [
        limits
        for limits, own in _RANGES.items()
        if any(f"_{each}_" in f"_{name}_" for each in own)
    ]
    if name[:3] == "neg" or (not of_name and higher_by_words(score) is not None):
        return
    low, high = of_name[0] if of_name else (-np.inf, np.inf)
    is_sure = _is_metric(score)
    values = scores["score"].round(9)  # sums of shares exceed 1 by rounding
    above = scores[values > 1]
    unit = 100.0 if high == 1 and len(above) else 1.0
    for beyond, side in (
        (scores[values < low * unit], f"below {low:g}"),
        (scores[values > high * unit], f"above {high:g} (or 100 in percent)"),
    ):
        if len(beyond):
            text = f"{_cell(beyond, score)}, {side}"
            if is_sure:
                raise ScoresError(f"{text}: correct it, or give the score its own name")
            yield f"{text[0].upper()}{text[1:]}."
    parts = scores[(values > 0) & (values <= 1)]
    is_apart = not values.between(1, 10, inclusive="neither").any()
    is_suspect = high == 1 or (
        not of_name and is_apart and values.between(0, 100).all()
    )
    if parts.empty or above.empty or not is_suspect or "percent" in name:
        return
    text = f"{_cell(above, score)}, and {_cell(parts, score)}"
    # An error of 0.5 may be in percent, and so may a share of explained variance.
    if is_sure and high == 1 and (is_apart or (higher_better and low == 0)):
        raise ScoresError(
            f"percent beside fractions, or a score above 1: {text}. Write all in one "
            f"unit; if all are in percent, say so in the name: {name}_percent"
        )
    yield f"Percent beside fractions? {text[0].upper()}{text[1:]}."


def check_datasets(values: pd.DataFrame) -> Iterator[str]:
    """Yield remarks on rows (data sets x methods) that may be no data sets."""
    names = list(map(str, values.index))
    rename = "delete its rows, or rename it if it is a data set"
    for name in names:
        if _says(name, _SUMMARIES, _IN_SUMMARIES):
            raise ScoresError(
                f"{name!r} is not a data set by its name, but would count as one: "
                f"{rename}"
            )
    yield from _metrics_among(names, "data sets")
    for same in _alike(names):
        raise ScoresError(
            f"{' and '.join(map(repr, same))} differ by spaces, hyphens or case alone, "
            "and would count as several data sets: give them one name, or other names"
        )


def check_methods(values: pd.DataFrame) -> Iterator[str]:
    """Yield remarks on columns (data sets x methods) that may be no methods."""
    names = list(map(str, values.columns))
    yield from _metrics_among(names, "methods")
    for name in names:
        if _says(name, _NO_SCORES, _IN_NO_SCORES):
            raise ScoresError(
                f"{name!r} is not a method by its name, but would be ranked as one: "
                "delete its column or rows (or name the column by --repeat-column, if "
                "it numbers repeats); rename it if it is a method"
            )
        if _says(name, _DERIVED, _BESIDE):
            yield f"{name} is ranked as a method: delete it unless it is one."
    yield from _spreads(values)
    copies = [[name[:-2], name] for name in names if name[-2:] == ".1"]  # pandas's
    for same in [*_alike(names), *(pair for pair in copies if pair[0] in names)]:
        if (values[same].count(axis=1) <= 1).all():
            raise ScoresError(
                f"{' and '.join(map(repr, same))} differ by spaces, hyphens or case "
                "alone, and none has scores where another has: give them one name"
            )
        yield (
            f"{' and '.join(map(repr, same))} are ranked as different methods: are "
            "they the same?"
        )


def refuse_summaries(long: pd.DataFrame, repeats: Sequence[str]) -> None:
    """Refuse means and totals among the repeats that are averaged."""
    for column in repeats:
        values = long[column].unique()
        for value in values if len(values) > 1 else ():
            if _says(value, _SUMMARIES, _IN_SUMMARIES):
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


def _key(name: object) -> str:
    text = unicodedata.normalize("NFKC", str(name))
    return re.sub(r"[\s_\-]+", "", text).casefold()


def _says(name: object, words: frozenset[str], besides: frozenset[str]) -> bool:
    """Tell whether a name has one of some words, and else only such as go with it."""
    own = {*_words(name)}
    metrics = _BETTER[True] | _BETTER[False]
    return bool(own & words) and own <= words | besides | metrics


def _is_metric(name: object) -> bool:
    words = {*_words(name)}
    metrics = _BETTER[True] | _BETTER[False]
    return bool(words & metrics) and words <= metrics | _BESIDE


def _metrics_among(names: Sequence[str], kind: str) -> Iterator[str]:
    if found := list(filter(_is_metric, names)):
        raise ScoresError(
            f"names of metrics stand for {kind} ({some(found)}): a comparison ranks "
            f"one metric, and wants the names of the {kind} there"
        )
    last = {_words(name)[-1]: name for name in names}
    told = {last[word]: higher_by_words(word) for word in last if _is_metric(word)}
    text = f"{some(told)} seem to be of different metrics"
    if len({*told.values()}) > 1:
        raise ScoresError(
            f"{text}, and a comparison ranks one: keep the scores of one, or rename "
            f"the {kind}"
        )
    if len(told) > 1:
        yield f"{text}, and are compared as {kind}."


def _cell(rows: pd.DataFrame, score: str) -> str:
    row = rows.iloc[0]
    return (
        f"line {row['line']}: the {score} of {row['method']} on {row['dataset']} is "
        f"{row['score']:g}"
    )


def _alike(names: Sequence[str]) -> list[list[str]]:
    """Return groups of names that differ by spaces, hyphens or case alone."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_key(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _spreads(values: pd.DataFrame) -> Iterator[str]:
    """Yield remarks on columns like "svm_std"; beside larger "svm" they are refused."""
    stems = {name: [w for w in _words(name) if w not in _BESIDE] for name in values}
    for name, words in stems.items():
        if not ({*words[:1]} & _SPREADS or {*words[-1:]} & _ENDINGS):
            continue
        stem = [word for word in words if word not in _SPREADS]
        of = [each for each, its in stems.items() if its == stem]
        if of and (values[name].abs() < values[of[0]].abs() / 2).all():
            raise ScoresError(
                f"{name!r} is the spread of {of[0]!r} by its name, and would be ranked "
                "as a method: delete it, or rename it if it is a method"
            )
        yield f"{name} is ranked as a method: delete it unless it is one."
