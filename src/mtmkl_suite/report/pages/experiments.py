"""Protocols, data and choices of experiments, in words."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from mtmkl.datasets import default_registry
from mtmkl.datasets.protocols import train_unit
from mtmkl_suite.config.models import Paper, Protocol, Variant
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.sample import fits, sample
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.cells import mean_sd
from mtmkl_suite.report.tables.text import TextTable, metric_words


class DataUse(NamedTuple):
    """A data set with its options, and the titles of the experiments that use it.

    ``is_of_run`` is false for one that only the full protocols use; ``record_digest``
    is the hash of its content in the published record, "" where that has none.
    """

    variant: Variant
    info: Mapping[str, Any]
    paper: str
    paper_name: str
    experiments: list[str]
    is_of_run: bool
    record_digest: str

    @property
    def is_here(self) -> bool:
        """True if the run had the data."""
        return self.info.get("status") == "ok"

    @property
    def hash_in_words(self) -> str:
        """The hash, and whether it is that of the published record."""
        here, published = str(self.info.get("digest", "")), self.record_digest
        if not here:
            return f"{published} (published record)" * bool(published)
        if not published:
            return here
        if here == published:
            return f"{here}, as in the published record"
        return f"{here}; published record: {published}"


def data_uses(
    config: Paper,
    paper_name: str,
    infos: Mapping[str, Mapping[str, Any]],
    *,
    published: Mapping[str, Mapping[str, Any]],
    full: Paper | None,
) -> list[DataUse]:
    """Return the data sets of a paper's experiments."""
    own = _by_variant(config)
    found = [
        (variant, infos.get(variant.id, {}), titles, True)
        for variant, titles in own.values()
    ] + [
        (variant, default_registry()[variant.name].describe(), titles, False)
        for key, (variant, titles) in (_by_variant(full) if full else {}).items()
        if key not in own
    ]
    return [
        DataUse(
            variant,
            info,
            config.paper.id,
            paper_name,
            titles,
            is_of_run,
            str(published.get(variant.id, {}).get("digest", "")),
        )
        for variant, info, titles, is_of_run in found
    ]


def title_of(uses: Sequence[DataUse]) -> str:
    """Return the title of a data set, from all its uses."""
    titles = (str(use.info["title"]) for use in uses if "title" in use.info)
    return next(titles, uses[0].variant.name)


def variant_in_words(variant: Variant, info: Mapping[str, Any]) -> str:
    """Return a data set with its options for people."""
    title = str(info.get("title", variant.name.rpartition("/")[2]))
    options = options_in_words(variant.options)
    return f"{title} ({options})" if options else title


def options_in_words(options: Mapping[str, Any]) -> str:
    """Return options such as ``n_per_class=20`` as "n per class: 20"."""
    return "; ".join(
        f"{key.replace('_', ' ')}: {_value(value)}" for key, value in options.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "none"
    return str(value).replace("_", " ") if isinstance(value, str) else f"{value}"


def _by_variant(config: Paper) -> dict[str, tuple[Variant, list[str]]]:
    found: dict[str, tuple[Variant, list[str]]] = {}
    for experiment in config.experiments.values():
        for variant in experiment.variants:
            _, titles = found.setdefault(variant.id, (variant, []))
            if experiment.title not in titles:
                titles.append(experiment.title)
    return found


_MAX_DIGESTS = 3

# Counts need no three decimals.
_LARGE = 10


class ExperimentFacts(NamedTuple):
    """Protocol, data, time, choices and certificates of an experiment, in words."""

    title: str
    protocol: str
    data: list[str]
    digests: str
    versions: str
    time: str
    edges: str
    certificates: str


def experiment_facts(
    context: Context, experiment: str, all_jobs: pd.DataFrame
) -> ExperimentFacts:
    """Return how an experiment was run."""
    config = context.config
    configured = config.experiments[experiment]
    rows = fits(context.scores[context.scores["experiment"] == experiment])
    jobs = all_jobs[all_jobs["experiment"] == experiment]
    fitting = duration(rows["fit_seconds"].sum())
    times = [f"{plural(len(rows), 'fit')}, {fitting} of fitting"]
    if len(jobs):
        times.append(
            f"{plural(len(jobs), 'job')}, {duration(jobs['seconds'].sum())} in all"
        )
    gaps = rows["gap"].dropna()
    return ExperimentFacts(
        title=configured.title + _in_section(configured.section),
        protocol=_protocol_text(
            configured.protocol, config.protocols[configured.protocol]
        ),
        data=_data_lines(context, experiment),
        digests=_some(list(rows["data_digest"].unique()), "scores.csv.gz"),
        versions=_some(list(rows["code_version"].unique()), "scores.csv.gz"),
        time="; ".join(times),
        edges=_edges(context, rows),
        certificates=(
            f"{len(gaps)} fits with a certificate, largest relative gap "
            f"{gaps.max():.1e}"
            if len(gaps)
            else "none of the fits has one"
        ),
    )


def _in_section(section: str) -> str:
    """Return where a paper has an experiment; "" for one that is not the paper's."""
    return f" (sec. {section})" if section[:1].isdigit() else ""


def _protocol_text(name: str, protocol: Protocol) -> str:
    unit = train_unit(protocol.kind)
    settings = [protocol.kind.replace("_", " ")]
    given = protocol.model_dump(exclude={"kind"}, exclude_unset=True)
    for key in sorted(given, key=lambda key: not key.startswith("train_")):
        value = given[key]
        if key.startswith("train_"):
            sizes = value if isinstance(value, list) else [value]
            settings.append(f"trained on {', '.join(map(str, sizes))} {unit}")
        else:
            settings.append(f"{key} {value}")
    return f"{name}: {', '.join(settings)}"


def _data_lines(context: Context, experiment: str) -> list[str]:
    """Describe the data sets; variants of one that share all but options together."""
    groups: dict[str, list[str]] = {}
    for variant in context.config.experiments[experiment].variants:
        unknown = {"status": "missing", "reason": "unknown"}
        info = context.data_info.get(variant.id, unknown)
        if info["status"] != "ok":
            text = f"missing: {info['reason']}"
        else:
            text = f"{info['origin']}, {info['n']} examples, {info['n_tasks']} tasks"
        groups.setdefault(text, []).append(variant_in_words(variant, info))
    return [
        f"{names[0]}{f' and {len(names) - 1} more variants' * (len(names) > 1)}: {text}"
        for text, names in groups.items()
    ]


def _edges(context: Context, rows: pd.DataFrame) -> str:
    at_edge = rows.dropna(subset=["at_grid_edge"])
    at_edge = at_edge[at_edge["params"] != ""]
    shares = at_edge.assign(share=at_edge["at_grid_edge"].astype(float))
    texts = [
        f"{context.label(str(method))} {share:.0%}"
        for method, share in shares.groupby("method", sort=False)["share"]
        .mean()
        .items()
    ]
    return "; ".join(texts) or "nothing was chosen"


def summary_of(context: Context, experiment: str) -> TextTable:
    """Return mean ± sd of all methods of an experiment, by metric."""
    configured = context.config.experiments[experiment]
    metrics = list(configured.metrics)
    rows = []
    for entry in configured.methods:
        line = [context.label(entry.method)]
        for metric in metrics:
            found = context.rows(experiment, metric, {"method": entry.method})
            values = sample(found)
            if len(values) == 0:
                line.append("–")
                continue
            summary = verdict_rule.Reproduced.from_sample(values)
            assert summary is not None
            decimals = 1 if abs(summary.value) >= _LARGE else 3
            line.append(mean_sd(summary.value, summary.sd, summary.n, decimals))
        rows.append(line)
    header = ["method", *(metric_words(metric) for metric in metrics)]
    return TextTable(header, rows)


def _some(values: Sequence[str], where: str) -> str:
    """List a few values, and say how many more there are."""
    shown = [str(value) for value in values[:_MAX_DIGESTS]]
    more = len(values) - len(shown)
    if not shown:
        return "none"
    return ", ".join(shown) + (f" and {more} more in {where}" if more else "")


def duration(seconds: float) -> str:
    """Return seconds in words, such as "5 min 0 s"."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
