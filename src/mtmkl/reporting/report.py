"""The report: one self-contained HTML page for all papers of a run."""

import base64
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.config import experiments_of
from mtmkl.datasets.protocols import train_unit
from mtmkl.files import read_json, write_text
from mtmkl.layout import PaperFolder, RunFolder
from mtmkl.reporting import written
from mtmkl.reporting.context import Context, load_context, read_jobs
from mtmkl.reporting.explained import read_explained
from mtmkl.reporting.standing import Standing, standings
from mtmkl.reporting.tables import mean_sd
from mtmkl.reporting.written import TextTable
from mtmkl.statistics import claims as claim_tests
from mtmkl.statistics import verdicts as verdict_rule
from mtmkl.statistics.claim_explanations import CLAIMS
from mtmkl.statistics.pairs import FEW_UNITS, MIN_UNITS
from mtmkl.statistics.sample import fits, sample

_MAX_DIGESTS = 3
_DASH = "–"

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
class ArtefactView:
    """A figure or table as the report shows it.

    Attributes
    ----------
    id, title : str
    image : str
        Data URI of the figure, "" for a table.
    tables : list of TextTable
        The table, and the numbers that the paper quotes in its text.
    facts : list of ExperimentFacts
    """

    id: str
    title: str
    image: str
    tables: list[TextTable]
    facts: list[ExperimentFacts]

    @property
    def name(self) -> str:
        """``figure_3`` as "Figure 3"."""
        return self.id.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Summary:
    """Mean ± sd of all methods of an experiment that no artefact shows.

    Attributes
    ----------
    facts : ExperimentFacts
    table : TextTable
    """

    facts: ExperimentFacts
    table: TextTable


@dataclass(frozen=True)
class PaperResult:
    """Everything that the report shows of one paper.

    Attributes
    ----------
    id, reference : str
        ``reference`` is the citation.
    artefacts : list of ArtefactView
    summaries : list of Summary
    verdicts, claims, statistics : DataFrame
        The published record, as written.
    data : mapping of origin to list of str
        Data sets by "original", "stand-in", "synthetic", …, "missing".
    provenance : mapping
        As written.
    explained_claims : mapping of str to str
        What other readings explain of claims, by their id, as published.
    standings : list of Standing
        Of a run of methods or data of one's own: the report shows them first.
    """

    id: str
    reference: str
    artefacts: list[ArtefactView]
    summaries: list[Summary]
    verdicts: pd.DataFrame
    claims: pd.DataFrame
    statistics: pd.DataFrame
    data: Mapping[str, list[str]]
    provenance: Mapping[str, Any]
    explained_claims: Mapping[str, str]
    standings: list[Standing]

    def verdict_counts(
        self, artefact: str | None = None, *, derived: bool = False
    ) -> dict[str, int]:
        """Return how often each verdict occurs, in all or in one artefact.

        Numbers that follow from others of the paper are counted apart.
        """
        table = self.verdicts[self.verdicts["derived"] == derived]
        if artefact is not None:
            table = table[table["artefact"] == artefact]
        return _counts(table["verdict"], verdict_rule.VERDICTS)

    def derived_text(self, artefact: str | None = None) -> str:
        """Return the counts of the numbers that follow from others, as text."""
        counts = self.verdict_counts(artefact, derived=True)
        return ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "none"

    def pairs(self) -> list[tuple[str, list[dict[Hashable, Any]]]]:
        """Return the comparisons of pairs by experiment, each under a heading."""
        groups = self.statistics.groupby(
            ["experiment", "metric", "unit", "n"], sort=False
        )
        return [
            (f"{experiment}: {metric}, {n} {unit}s", group.to_dict("records"))
            for (experiment, metric, unit, n), group in groups
        ]

    def provenance_lines(self) -> list[tuple[str, str]]:
        """Return the provenance as (name, text), the jobs' times summed up."""
        rest = {k: v for k, v in self.provenance.items() if k != "seconds_by_job"}
        lines = _flatten(rest)
        seconds = self.provenance.get("seconds_by_job", {})
        if seconds:
            slowest = max(seconds, key=lambda job: seconds[job])
            total = _duration(sum(seconds.values()))
            text = (
                f"{len(seconds)}, {total} in all; slowest: {slowest}, "
                f"{_duration(seconds[slowest])}; all in provenance.json"
            )
            lines.append(("jobs", text))
        return lines

    def claim_counts(self) -> dict[str, int]:
        """Return how often each verdict on a claim occurs."""
        return _counts(self.claims["verdict"], claim_tests.VERDICTS)

    def moved_by_spread(self) -> str:
        """Say how many verdicts on numbers move with our spread."""
        return verdict_rule.moved_text(verdict_rule.own_numbers(self.verdicts))

    def undone_claims(self) -> int:
        """Return how many claims only the paper's own test decides."""
        shown = claim_tests.shown_verdicts(self.claims)
        return int((shown != self.claims["verdict"]).sum())


def load_paper_result(config: Mapping[str, Any], folder: PaperFolder) -> PaperResult:
    """Gather what the report shows of one paper.

    Parameters
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    folder : PaperFolder
        With scores, artefacts and the published record.

    Raises
    ------
    FileNotFoundError
        If a figure or a part of the record has not been written.
    """
    context = load_context(config, folder)
    jobs = read_jobs(config, folder)
    facts = {name: _facts(context, name, jobs) for name in config["experiments"]}
    paper = config["paper"]
    shown = {
        name
        for artefact in config["artefacts"].values()
        for name in experiments_of(artefact)
    }
    statistics = pd.read_csv(folder.statistics)
    return PaperResult(
        id=paper["id"],
        reference=(
            f"{paper['authors']} ({paper['year']}). {paper['title']}. {paper['venue']}."
            + (f" doi:{paper['doi']}" if "doi" in paper else "")
        ),
        artefacts=[
            _artefact_view(name, artefact, folder, facts)
            for name, artefact in config["artefacts"].items()
        ],
        summaries=[
            _summary(context, name, facts[name])
            for name in config["experiments"]
            if name not in shown
        ],
        verdicts=pd.read_csv(folder.verdicts),
        claims=pd.read_csv(folder.claims),
        statistics=_with_labels(context, statistics),
        data=_data_by_origin(context),
        provenance=read_json(folder.provenance),
        explained_claims={
            name: found.text()
            for (name, _), found in read_explained(config, CLAIMS).items()
            if context.is_judged
        },
        standings=standings(context, statistics) if "own" in config else [],
    )


def render_report(
    papers: Sequence[PaperResult],
    *,
    tier: str,
    changes: Mapping[str, Any] | None = None,
) -> str:
    """Return the report as one HTML page that loads nothing.

    Parameters
    ----------
    papers : sequence of PaperResult
    tier : {"quick", "paper"}
    changes : mapping or None
        Settings that are not those of the configuration, by their key.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "slug": _slug,
        "unbroken": _unbroken,
        "number": _number,
        "p_value": _p_value,
        "share": _share,
    }
    judged = "quick" if changes else tier
    page = environment.get_template("report.html.j2").render(
        papers=papers,
        tier=tier,
        changes=changes or {},
        verdict_names=_verdicts_of(judged, verdict_rule.VERDICTS),
        claim_names=_verdicts_of(judged, claim_tests.VERDICTS),
        not_judged=verdict_rule.NOT_JUDGED,
        min_units=MIN_UNITS,
        few_units=FEW_UNITS,
    )
    return page if page.endswith("\n") else page + "\n"


def write_report(
    configs: Sequence[Mapping[str, Any]], run: RunFolder, *, tier: str
) -> None:
    """Write the report on the papers of a run.

    Parameters
    ----------
    configs : sequence of mapping
        The papers' configurations, their tier resolved.
    run : RunFolder
        With the results of each paper.
    tier : {"quick", "paper"}
    """
    papers = [
        load_paper_result(config, run.paper(config["paper"]["id"]))
        for config in configs
    ]
    changes = {k: v for config in configs for k, v in config.get("changes", {}).items()}
    write_text(run.report, render_report(papers, tier=tier, changes=changes))


def _artefact_view(
    name: str,
    artefact: Mapping[str, Any],
    folder: PaperFolder,
    facts: Mapping[str, ExperimentFacts],
) -> ArtefactView:
    image = ""
    if artefact["kind"] == "figure":
        svg = folder.artefact(name, "svg").read_bytes()
        image = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    return ArtefactView(
        id=name,
        title=artefact["title"],
        image=image,
        tables=written.read(folder, name).tables,
        facts=[facts[e] for e in experiments_of(artefact) if e in facts],
    )


def _facts(
    context: Context, experiment: str, all_jobs: pd.DataFrame
) -> ExperimentFacts:
    config = context.config
    configured = config["experiments"][experiment]
    rows = fits(context.scores[context.scores["experiment"] == experiment])
    jobs = all_jobs[all_jobs["experiment"] == experiment]
    fitting = _duration(rows["fit_seconds"].sum())
    times = [f"{_plural(len(rows), 'fit')}, {fitting} of fitting"]
    if len(jobs):
        times.append(
            f"{_plural(len(jobs), 'job')}, {_duration(jobs['seconds'].sum())} in all"
        )
    gaps = rows["gap"].dropna()
    return ExperimentFacts(
        title=f"{configured['title']} (sec. {configured['section']})",
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
    for name in context.datasets(experiment):
        info = context.data_info.get(name, {"status": "missing", "reason": "unknown"})
        if info["status"] != "ok":
            text = f"missing: {info['reason']}"
        else:
            text = f"{info['origin']}, {info['n']} examples, {info['n_tasks']} tasks"
        groups.setdefault(text, []).append(name)
    return [
        f"{names[0]}{f' and {len(names) - 1} more variants' * (len(names) > 1)}: {text}"
        for text, names in groups.items()
    ]


def _data_by_origin(context: Context) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for info in context.data_info.values():
        name = str(info.get("name", info["id"]))
        if info["status"] == "ok":
            kind, text = str(info["origin"]), name
        else:
            kind, text = "missing", f"{name} ({info['reason']})"
        if text not in found.setdefault(kind, []):
            found[kind].append(text)
    return found


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


def _summary(context: Context, experiment: str, facts: ExperimentFacts) -> Summary:
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
    header = ["method", *(metric.replace("_", " ") for metric in metrics)]
    return Summary(facts, TextTable(header, rows))


def _with_labels(context: Context, statistics: pd.DataFrame) -> pd.DataFrame:
    names = {name: context.label(name) for name in context.config["methods"]}
    return statistics.replace({"first": names, "second": names})


def _verdicts_of(tier: str, names: Sequence[str]) -> list[str]:
    """Return the verdicts that a tier can have: the quick tier judges nothing."""
    not_judged = (verdict_rule.NOT_JUDGED, "no data")
    if tier == "quick":
        return [name for name in names if name in not_judged]
    return [name for name in names if name != verdict_rule.NOT_JUDGED]


def _counts(values: pd.Series, names: Sequence[str]) -> dict[str, int]:
    found = values.value_counts()
    return {name: int(found.get(name, 0)) for name in names}


def _some(values: Sequence[str], where: str) -> str:
    """List a few values, and say how many more there are."""
    shown = [str(value) for value in values[:_MAX_DIGESTS]]
    more = len(values) - len(shown)
    if not shown:
        return "none"
    return ", ".join(shown) + (f" and {more} more in {where}" if more else "")


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _unbroken(text: str) -> str:
    """Keep a number and its sample size on one line."""
    return text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}").replace(
        "(n = ", "(n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    )


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z]+", text))


def _number(value: float) -> str:
    return _DASH if math.isnan(value) else f"{value:.3g}"


def _p_value(value: float) -> str:
    if math.isnan(value):
        return _DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _share(value: float) -> str:
    return _DASH if math.isnan(value) else f"{value:.2f}"


def _flatten(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return nested settings as (dotted name, text)."""
    lines: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            lines += _flatten(value, f"{name}: ")
        else:
            lines.append((name, "unknown" if value is None else str(value)))
    return lines
