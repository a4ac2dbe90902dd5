"""Experiments, with their protocols, data sets and methods, in words."""

import inspect
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Paper, Protocol, Variant
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.protocols import train_unit
from mtmkl_suite.judge.choices import chosen_parameters, grids_of
from mtmkl_suite.judge.sample import fits, seconds_of_cells
from mtmkl_suite.judge.verdicts import Reproduced
from mtmkl_suite.methods import resolve
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.cells import mean_sd
from mtmkl_suite.report.text import DASH, TextTable, many, metric_words
from mtmkl_suite.run.fits import FAILED, UNSUPPORTED

_MOST_VALUES = 8

_COUNTED = {
    "per class": "samples per class", "per task": "samples per task",
    "train": "for training", "validation": "for validation", "test": "for testing",
    "irrelevant": "irrelevant features",
}  # fmt: skip


def data_uses(context: Context, paper_name: str) -> list[SimpleNamespace]:
    """Return the data sets of a paper, with the titles of experiments that use them."""
    paper = context.config.paper.id
    found: dict[str, SimpleNamespace] = {}
    for experiment in context.config.experiments.values():
        for variant in experiment.variants:
            info = data_info(context, variant)
            use = SimpleNamespace(
                variant=variant, info=info, paper=paper, paper_name=paper_name,
                experiments=[],
            )  # fmt: skip
            use = found.setdefault(variant.id, use)
            if experiment.title not in use.experiments:
                use.experiments.append(experiment.title)
    return list(found.values())


def data_info(context: Context, variant: Variant) -> Mapping[str, Any]:
    """Return what a record says of a data set, and the registry of its origin."""
    info = context.data_info.get(variant.id, {"status": "missing", "reason": "unknown"})
    if "title" in info or variant.name not in default_registry():
        return info
    return {**default_registry()[variant.name].describe(), **info}


def title_of(uses: Sequence[SimpleNamespace]) -> str:
    """Return the title of a data set, from all its uses."""
    titles = (str(use.info["title"]) for use in uses if "title" in use.info)
    return next(titles, uses[0].variant.name)


def variant_in_words(variant: Variant, info: Mapping[str, Any]) -> str:
    """Return a data set with its options for people."""
    title = str(info.get("title", variant.name.rpartition("/")[2]))
    options = options_in_words(variant.options)
    return f"{title} ({options})" if options else title


def options_in_words(options: Mapping[str, Any]) -> str:
    """Return options such as ``n_per_class=20`` as "20 samples per class"."""
    texts = []
    for key, value in options.items():
        name = key.removeprefix("n_").replace("_", " ")
        if key.startswith("n_"):
            texts.append(f"{_value(value)} {_COUNTED.get(name, name)}")
        else:
            texts.append(f"{name}: {_value(value)}")
    return "; ".join(texts)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "none"
    return str(value).replace("_", " ")


def experiment_facts(context: Context, experiment: str) -> dict[str, Any]:
    """Return how an experiment was run: protocol, data, time, certificates."""
    config = context.config
    configured = config.experiments[experiment]
    rows = fits(context.scores[context.scores["experiment"] == experiment])
    fitting = duration(rows["fit_seconds"].sum())
    gaps = rows["gap"].dropna()
    certificates = "none of the fits has one"
    if len(gaps):
        largest = f"largest relative gap {gaps.max():.1e}"
        certificates = f"{len(gaps)} fits with a certificate, {largest}"
    name, section = configured.protocol, configured.section
    return {
        # An experiment that is not the paper's has words in place of a section.
        "title": configured.title + f" (sec. {section})" * section[:1].isdigit(),
        "protocol": _protocol_text(name, config.protocols[name]),
        "data": _data_lines(context, experiment),
        "time": f"{many(len(rows), 'fit')}, {fitting} of fitting",
        "certificates": certificates,
    }


def _protocol_text(name: str, protocol: Protocol) -> str:
    unit = train_unit(protocol.kind)
    given = protocol.model_dump(exclude={"kind"}, exclude_unset=True)
    sizes = [
        f"trained on {_value(value)} {unit}"
        for key, value in given.items()
        if key.startswith("train_")
    ]
    others = [f"{k} {v}" for k, v in given.items() if not k.startswith("train_")]
    return f"{name}: {', '.join([protocol.kind.replace('_', ' '), *sizes, *others])}"


def _data_lines(context: Context, experiment: str) -> list[str]:
    """Describe the data sets; variants of one that share all but options together."""
    groups: dict[str, list[str]] = {}
    for variant in context.config.experiments[experiment].variants:
        info = data_info(context, variant)
        if info["status"] != "ok":
            text = f"missing: {info['reason']}"
        else:
            text = f"{info['origin']}, {info['n']} samples, {info['n_tasks']} tasks"
        groups.setdefault(text, []).append(variant_in_words(variant, info))
    return [
        f"{names[0]}{f' and {len(names) - 1} more variants' * (len(names) > 1)}: {text}"
        for text, names in groups.items()
    ]


def gaps_of(context: Context) -> list[tuple[str, str, str, str]]:
    """Return what has no scores: experiment, method, "failed" or not, and why."""
    scores = context.scores
    rows = scores[scores["metric"].isin([FAILED, UNSUPPORTED])]
    return list(
        dict.fromkeys(
            (
                context.config.experiments[row["experiment"]].title,
                context.label(row["method"]),
                "failed" if row["metric"] == FAILED else "does not apply",
                str(json.loads(row["params"])["reason"]),
            )
            for row in rows.to_dict("records")
        )
    )


def summary_of(context: Context, experiment: str) -> TextTable:
    """Return mean ± sd of all methods of an experiment, by metric."""
    configured = context.config.experiments[experiment]
    rows = []
    for entry in configured.methods:
        line = [context.label(entry.method)]
        for metric in configured.metrics:
            where = {"method": entry.method}
            found = Reproduced.from_sample(context.by_repeat(experiment, metric, where))
            line.append(mean_sd(found.value, found.sd, found.n) if found else DASH)
        rows.append(line)
    return TextTable(["method", *map(metric_words, configured.metrics)], rows)


def duration(seconds: float) -> str:
    """Return seconds in words, such as "5 min 0 s"."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def method_uses(
    config: Paper, paper_name: str, scores: pd.DataFrame
) -> list[SimpleNamespace]:
    """Return how the configured methods fared, experiment by experiment.

    ``tolerance`` is the relative duality gap at which the solver stops, nan where it
    has none, and ``share_within`` the share of the fits with a gap that are within it.
    Seconds are those of cells (data set, train size, repeat): search and fit, on one
    core.
    """
    rows = fits(scores[~scores["metric"].isin([FAILED, UNSUPPORTED])])
    seconds = seconds_of_cells(rows)
    places = dict(list(rows.groupby(["experiment", "method"], sort=False)))
    found = []
    for name, experiment in config.experiments.items():
        choices = chosen_parameters(rows, name, grids_of(config, name))
        for entry in experiment.methods:
            method, settings = entry.method, config.method_of(entry)
            if (name, method) not in places:
                continue
            default = _default_tolerance(settings.class_name)
            tolerance = settings.params.get("tol", default)
            mine, of_cells = places[name, method], seconds.loc[name, method]
            gaps = mine["gap"].dropna()
            is_within = gaps[: 0 if math.isnan(tolerance) else None] <= tolerance
            found.append(
                SimpleNamespace(
                    class_name=settings.class_name,
                    paper=config.paper.id,
                    paper_name=paper_name,
                    experiment=experiment.title,
                    label=config.methods[method].label,
                    tolerance=float(tolerance),
                    n_fits=len(mine),
                    share_within=float(is_within.mean()),
                    worst_gap=float(gaps.max()),
                    median_seconds=float(of_cells.median()),
                    total_seconds=float(of_cells.sum()),
                    choices=_choices(choices[choices["method"] == method]),
                )
            )
    return found


@cache
def _default_tolerance(class_name: str) -> float:
    known = inspect.signature(resolve(class_name)).parameters
    return float(known["tol"].default) if "tol" in known else math.nan


def _choices(chosen: pd.DataFrame) -> list[dict[str, Any]]:
    """Add up what was chosen in single data sets and train sizes, by parameter."""
    found = []
    for parameter, rows in chosen.groupby("parameter", sort=False):
        counts: Counter[str] = sum(map(Counter, rows["chosen"]), Counter())
        n = counts.total()
        shares = {
            end: float((rows[end] * rows["n"]).sum(min_count=1)) / n
            for end in ("at_low_end", "at_high_end")
        }
        most = counts.most_common(_MOST_VALUES)
        named = [f"{_in_words(value)} ({times})" for value, times in most]
        more = len(counts) - len(named)
        named += [f"{more} more values"] if more else []
        found.append(
            {"parameter": parameter, "n": n, "chosen": ", ".join(named)} | shares
        )
    return found


def _in_words(value: str) -> str:
    """Return a value in words: kernels come as JSON."""
    try:
        return _plain(json.loads(value))
    except ValueError:
        return value


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " + ".join(map(_plain, value))
    if isinstance(value, Mapping):
        name = str(value.get("name", "")).replace("_", " ")
        rest = [f"{k} {_plain(v)}" for k, v in value.items() if k != "name"]
        return f"{name} ({_listed(rest)})" if rest and name else name or _listed(rest)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(part.replace("_", " ") for part in parts)
