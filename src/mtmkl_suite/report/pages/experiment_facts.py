"""How experiments were run: protocol, data, time, choices, certificates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl.datasets.protocols import train_unit
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.sample import fits, sample
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.pages.data_uses import variant_in_words
from mtmkl_suite.report.pages.metric_words import metric_words
from mtmkl_suite.report.record.written import TextTable
from mtmkl_suite.report.tables.tables import mean_sd

_MAX_DIGESTS = 3

# Counts need no three decimals.
_LARGE = 10


@dataclass(frozen=True)
class ExperimentFacts:
    """How an experiment was run.

    Attributes
    ----------
    title, protocol : str
    data : list of str
        Each data set: origin, size, digest, or why it is missing.
    digests, versions : str
        Content of the data behind the scores, fingerprints of the code.
    time, edges, certificates : str
        Seconds; share of choices at grid edges; largest duality gap.
    """

    title: str
    protocol: str
    data: list[str]
    digests: str
    versions: str
    time: str
    edges: str
    certificates: str


@dataclass(frozen=True)
class Summary:
    """Mean ± sd of all methods of an experiment that no artefact shows."""

    facts: ExperimentFacts
    table: TextTable


def experiment_facts(
    context: Context, experiment: str, all_jobs: pd.DataFrame
) -> ExperimentFacts:
    """Return how an experiment was run."""
    config = context.config
    configured = config["experiments"][experiment]
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
        title=configured["title"] + _in_section(configured["section"]),
        protocol=_protocol_text(
            configured["protocol"], config["protocols"][configured["protocol"]]
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


def _protocol_text(name: str, protocol: Mapping[str, Any]) -> str:
    unit = train_unit(protocol["kind"])
    settings = [protocol["kind"].replace("_", " ")]
    for key, value in protocol.items():
        if key.startswith("train_"):
            sizes = value if isinstance(value, list) else [value]
            settings.append(f"trained on {', '.join(map(str, sizes))} {unit}")
        elif key != "kind":
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


def summary_of(context: Context, experiment: str, facts: ExperimentFacts) -> Summary:
    """Return mean ± sd of all methods of an experiment, by metric."""
    configured = context.config["experiments"][experiment]
    metrics = list(configured["metrics"])
    rows = []
    for entry in configured["methods"]:
        line = [context.label(entry["method"])]
        for metric in metrics:
            found = context.rows(experiment, metric, {"method": entry["method"]})
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
    return Summary(facts, TextTable(header, rows))


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
