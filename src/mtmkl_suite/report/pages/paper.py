"""Results of one paper for the report, from a run and its published record."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl.files import read_json
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Paper, Publication
from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.reach import CLAIMS
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.report.context import Context, load_context, read_jobs
from mtmkl_suite.report.pages.artefacts import ArtefactView, artefact_view
from mtmkl_suite.report.pages.claims import (
    ClaimGroups,
    artefacts_of_section,
    group_claims,
)
from mtmkl_suite.report.pages.documentation import Documentation, errata_of
from mtmkl_suite.report.pages.experiments import (
    DataUse,
    ExperimentFacts,
    data_uses,
    duration,
    experiment_facts,
    summary_of,
)
from mtmkl_suite.report.pages.methods import MethodUse, method_uses
from mtmkl_suite.report.pages.summary import missing_data
from mtmkl_suite.report.pages.verdicts import (
    Answer,
    answer,
    number_rules,
    pair_rules,
)
from mtmkl_suite.report.record.published_reach import read_reach
from mtmkl_suite.report.record.record import (
    RECORD,
    RUN,
    read_published_record,
    with_record,
)
from mtmkl_suite.report.tables.standing import Standing, standings
from mtmkl_suite.report.tables.text import TextTable, metrics_in_words
from mtmkl_suite.run.folders import PaperFolder, RunFolder

_CELL = ["artefact", "row", "column"]


@dataclass(frozen=True)
class PaperResult:
    """Everything that the report shows of one paper.

    ``name`` is the short citation. ``scope`` says of which part of the paper's claims a
    run of some experiments can tell. ``verdicts`` and ``claims`` are as written, with
    those of the record where the run has none; ``other_claims`` are on no artefact.
    ``standings`` are of methods or data of one's own: the report shows them first.
    """

    id: str
    name: str
    title: str
    reference: str
    documentation: Documentation
    scope: str
    artefacts: list[ArtefactView]
    summaries: list[tuple[ExperimentFacts, TextTable]]
    verdicts: pd.DataFrame
    claims: pd.DataFrame
    answer: Answer
    other_claims: Answer
    groups: ClaimGroups
    statistics: pd.DataFrame
    data: Mapping[str, list[str]]
    methods: list[MethodUse]
    datasets: list[DataUse]
    number_rules: list[dict[str, Any]]
    pair_rules: list[dict[str, Any]]
    errata: str
    missing: list[str]
    provenance: Mapping[str, Any]
    record: str
    standings: list[Standing]

    @property
    def page(self) -> str:
        """The address of the paper's page in the documentation, "" for none."""
        return self.documentation.page(f"docs/papers/{self.id}.md")

    @property
    def is_tested(self) -> bool:
        """True if there is a published number or a claim to be judged."""
        return bool(len(self.verdicts) or len(self.claims))

    def derived_text(self) -> str:
        """Return the counts of the numbers that follow from others, as text."""
        derived = self.verdicts[self.verdicts["derived"].astype(bool)]
        found = derived["verdict"].value_counts()
        named = [f"{found[v]} {v}" for v in verdict_rule.VERDICTS if v in found]
        return ", ".join(named)

    def pairs(self) -> list[tuple[str, list[dict[Hashable, Any]]]]:
        """Return the comparisons of pairs by experiment, each under a heading."""
        groups = self.statistics.groupby(
            ["experiment", "metric", "unit", "n"], sort=False
        )
        return [
            (
                f"{experiment}: {metrics_in_words(str(metric))}, {n} {unit}s",
                group.to_dict("records"),
            )
            for (experiment, metric, unit, n), group in groups
        ]

    def provenance_lines(self) -> list[tuple[str, str]]:
        """Return the provenance as (name, text), the jobs' times summed up."""
        rest = {k: v for k, v in self.provenance.items() if k != "seconds_by_job"}
        lines = _flatten(rest)
        seconds = self.provenance.get("seconds_by_job", {})
        if seconds:
            slowest = max(seconds, key=lambda job: seconds[job])
            total = duration(sum(seconds.values()))
            text = (
                f"{len(seconds)}, {total} in all; slowest: {slowest}, "
                f"{duration(seconds[slowest])}; all in provenance.json"
            )
            lines.append(("jobs", text))
        return lines

    def moved_by_spread(self) -> str:
        """Say how many verdicts on numbers move with our spread."""
        return verdict_rule.moved_text(verdict_rule.own_numbers(self.verdicts))

    def undone_claims(self) -> int:
        """Return how many claims only the paper's own test decides."""
        shown = claim_tests.shown_verdicts(self.claims)
        return int((shown != self.claims["verdict"]).sum())


def load_paper_result(config: Paper, folder: PaperFolder) -> PaperResult:
    """Gather what the report shows of one paper."""
    context = load_context(config, folder)
    jobs = read_jobs(config, folder)
    facts = {name: experiment_facts(context, name, jobs) for name in config.experiments}
    artefacts = config.artefacts
    shown = {name for each in artefacts.values() for name in each.shown}
    record = read_published_record(config)
    full, of_tier = _of_paper(config, "paper"), _of_paper(config, config.tier)
    # A tier may lack some of a paper: its report answers for all of it nevertheless.
    is_quick = config.tier == "quick"
    fill = record is not None and is_quick and _has_all(config, of_tier)
    verdicts = with_record(
        pd.read_csv(folder.verdicts),
        record.verdicts if record else None,
        _CELL,
        fill=fill,
    )
    claims = with_record(
        pd.read_csv(folder.claims),
        record.claims if record else None,
        ["id"],
        fill=fill,
    )
    places = [artefacts_of_section(each, artefacts) for each in claims["section"]]
    of_artefact = {
        name: claims.iloc[[k for k, found in enumerate(places) if name in found]]
        for name in artefacts
    }
    elsewhere = claims.iloc[[k for k, found in enumerate(places) if not found]]
    reach = {
        name: found.text() for (name, _), found in read_reach(config, CLAIMS).items()
    }
    statistics = pd.read_csv(folder.statistics)
    paper = config.paper
    name_of_paper = short_name(paper)
    in_column = column_name(paper) if of_tier else name_of_paper
    documentation = Documentation.of(config, RunFolder(folder.path.parent))
    views = [
        artefact_view(
            name,
            context,
            folder,
            record,
            answer(verdicts[verdicts["artefact"] == name], of_artefact[name]),
            [facts[e] for e in artefact.shown if e in facts],
        )
        for name, artefact in artefacts.items()
    ]
    return PaperResult(
        id=paper.id,
        name=name_of_paper,
        title=str(paper.title),
        reference=(
            f"{paper.authors} ({paper.year}). {paper.title}. "
            f"{_capitalised(paper.venue)}." + (f" doi:{paper.doi}" if paper.doi else "")
            if of_tier
            else ""
        ),
        documentation=documentation,
        scope=_scope(config, of_tier, full),
        artefacts=sorted(views, key=lambda view: bool(view.image)),
        summaries=[
            (facts[name], summary_of(context, name))
            for name in config.experiments
            if name not in shown
        ],
        verdicts=verdicts,
        claims=claims,
        answer=answer(verdicts, claims),
        other_claims=answer(verdicts.iloc[:0], elsewhere),
        groups=group_claims(claims, reach, config),
        statistics=_with_labels(context, statistics),
        data=_data_by_origin(context),
        methods=[
            *method_uses(config, in_column, context.scores, RUN),
            *(
                method_uses(full, in_column, read_scores(record.scores), RECORD)
                if record and full
                else []
            ),
        ],
        datasets=data_uses(
            config,
            in_column,
            context.data_info,
            published=record.data if record else {},
            full=full if record else None,
        ),
        number_rules=number_rules(config, in_column, verdicts),
        pair_rules=pair_rules(context, in_column, statistics),
        errata=errata_of(config, documentation),
        missing=sorted(missing_data(config, folder)),
        provenance=read_json(folder.provenance),
        record=record.origin if record else "",
        standings=standings(context, statistics) if config.own is not None else [],
    )


def _of_paper(config: Paper, tier: str) -> Paper | None:
    """Return the protocols of a run's paper, None if data of one's own replace them."""
    found = load_paper(config.published.parent, tier)
    return found if found.paper.id == config.paper.id else None


def _has_all(config: Paper, of_tier: Paper | None) -> bool:
    """Tell whether a run has all experiments that its tier has of the paper."""
    if of_tier is None or config.readings is not None:
        return False
    return set(config.experiments) == set(of_tier.experiments)


def _scope(config: Paper, of_tier: Paper | None, full: Paper | None) -> str:
    """Say how many of a paper's claims a run of some of its experiments can test."""
    if of_tier is None or full is None or config.readings is not None:
        return ""
    if set(of_tier.experiments) <= set(config.experiments):
        return ""
    n, total = len(config.claims), len(full.claims)
    return f"Of this run's experiments ({n} of the paper's {total} claims): "


def short_name(paper: Publication) -> str:
    """Return a citation in a few words, such as "Argyriou et al. 2008".

    What this package compares by itself has its title.
    """
    if paper.authors == "mtmkl":
        return str(paper.title)
    surnames = [name.split()[-1] for name in str(paper.authors).split(", ")]
    if len(surnames) > 2:
        surnames = [f"{surnames[0]} et al."]
    return f"{' & '.join(surnames)} {paper.year}"


def column_name(paper: Publication) -> str:
    """Return what stands for a paper in a narrow column: one or two words."""
    if paper.authors == "mtmkl":
        return _capitalised(str(paper.id).replace("_", " "))
    return short_name(paper)


def _capitalised(text: str) -> str:
    """Return a text with a capital, unless its first word has one, as arXiv does."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.islower() else text


def _with_labels(context: Context, statistics: pd.DataFrame) -> pd.DataFrame:
    names = {name: context.label(name) for name in context.config.methods}
    titles = {
        name: experiment.title
        for name, experiment in context.config.experiments.items()
    }
    return statistics.replace({"first": names, "second": names, "experiment": titles})


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
