"""The report: a first page, and one for each paper, method and data set."""

import itertools
import multiprocessing
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Paper, Publication, Tier
from mtmkl_suite.config.names import NAMES
from mtmkl_suite.files import read_json, write_text
from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.reach import CLAIMS
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.report.context import Context, load_context, read_jobs
from mtmkl_suite.report.pages.artefacts import artefact_view
from mtmkl_suite.report.pages.comparison import comparison_of_run, recorded_parts
from mtmkl_suite.report.pages.experiments import (
    data_sentences,
    data_uses,
    duration,
    experiment_facts,
    method_uses,
    problem_in_words,
    summary_of,
    title_of,
    totals,
)
from mtmkl_suite.report.pages.rendering import (
    Documentation,
    environment,
    errata_of,
    page_name,
    sentences_of,
)
from mtmkl_suite.report.pages.verdicts import (
    MOSTLY,
    PARTLY,
    answer,
    artefacts_of_section,
    claim_tests_of,
    counts,
    group_claims,
    missing_data,
    number_rules,
    pair_rules,
    program,
    with_labels,
)
from mtmkl_suite.report.record.published_reach import read_reach
from mtmkl_suite.report.record.record import (
    RECORD,
    RUN,
    PublishedRecord,
    read_published_record,
    with_record,
)
from mtmkl_suite.report.tables.standing import standings
from mtmkl_suite.report.tables.text import metrics_in_words
from mtmkl_suite.run.folders import PaperFolder, RunFolder
from mtmkl_suite.statistics.pairs import FEW_UNITS, LEVEL, MIN_UNITS

FIRST = "report.html"
"""The name of the first page."""

_LONGEST, _LONGEST_AGAIN = 40, 5
"""Rows of a table of text that is not folded: the first of its layout, and others."""

_CELL = ["artefact", "row", "column"]

_PROVENANCE = {
    "config_sha256": "SHA-256 of the configuration",
    "lock_sha256": "SHA-256 of requirements.lock",
    "blas": "kernels of BLAS",
    "n": "rows",
    "n_tasks": "tasks",
}
"""Labels of keys of ``provenance.json``."""


class PaperResult(SimpleNamespace):
    """Everything that the templates show of one paper.

    ``name`` is the short citation. ``scope`` says of which part of the paper's claims a
    run of some experiments can tell. ``verdicts`` and ``claims`` are as written, with
    those of the record where the run has none; ``other_claims`` are on no artefact.
    ``of_data`` has what is to be said of each data set.
    ``standings`` are of methods or data of one's own: the report shows them first.
    ``comparison`` is the page on which the reader chooses, ``page`` the address of the
    paper's page in the documentation, "" for none.
    """

    @property
    def is_tested(self) -> bool:
        """True if there is a published number or a claim to be judged."""
        return bool(len(self.verdicts) or len(self.claims))

    def derived_text(self) -> str:
        """Return the counts of the numbers that follow from others, as text."""
        derived = self.verdicts["verdict"][self.verdicts["derived"].astype(bool)]
        found = counts(derived, verdict_rule.VERDICTS)
        return ", ".join(f"{n} {verdict}" for verdict, n in found.items() if n)

    def pairs(self) -> list[tuple[str, list[dict[Hashable, Any]]]]:
        """Return the comparisons of pairs by experiment, each under a heading."""
        keys = ["experiment", "metric", "unit", "n"]
        return [
            (
                f"{name}: {metrics_in_words(metric)}, {n} {unit}s",
                rows.to_dict("records"),
            )
            for (name, metric, unit, n), rows in self.statistics.groupby(
                keys, sort=False
            )
        ]

    def provenance_lines(self) -> list[tuple[str, str]]:
        """Return the provenance as (name, text), the jobs' times summed up."""
        rest = {k: v for k, v in self.provenance.items() if k != "seconds_by_job"}
        lines = list(_flat(rest))
        seconds = self.provenance.get("seconds_by_job", {})
        if seconds:
            slowest = max(seconds, key=lambda job: seconds[job])
            text = (
                f"{len(seconds)}, {duration(sum(seconds.values()))} in all; slowest: "
                f"{slowest}, {duration(seconds[slowest])}; all in provenance.json"
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


def write_report(
    configs: Sequence[Paper], run: RunFolder, *, tier: str, processes: int = 1
) -> None:
    """Write the report on the papers of a run, which several processes read."""
    folders = [run.paper(config.paper.id) for config in configs]
    # Forked, so that nothing is imported again. The last paper, the comparison, takes
    # as long as the others together.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        papers = list(pool.map(load_paper_result, configs[::-1], folders[::-1]))[::-1]
    changes = {k: v for config in configs for k, v in config.changes.items()}
    pages = render_report(papers, tier=tier, changes=changes)
    first = pages.pop(FIRST)
    for name, page in pages.items():
        write_text(run.pages / name, page)
    for path in run.pages.glob("*.html"):
        # Of methods and data sets that an earlier run had.
        if path.name not in pages:
            path.unlink()
    # Last: it is what people look for, and its links lead somewhere from the start.
    write_text(run.report, first)


def render_report(
    papers: Sequence[PaperResult],
    *,
    tier: str,
    changes: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Return the pages of the report, each of which loads nothing."""
    methods = _by(lambda use: use.class_name, [paper.methods for paper in papers])
    datasets = _by(lambda use: use.variant.name, [paper.datasets for paper in papers])
    datasets = dict(sorted(datasets.items(), key=lambda d: title_of(d[1]).lower()))
    documentation = papers[0].documentation
    has_errata = any(paper.errata for paper in papers)
    show = _renderer(
        papers=papers,
        methods=methods,
        datasets={name: title_of(uses) for name, uses in datasets.items()},
        documentation=documentation,
        has_errata=has_errata,
        tier=tier,
        changes=changes or {},
        is_judged=tier == "paper" and not changes,
        verdict_names=verdict_rule.VERDICTS,
        not_judged=verdict_rule.NOT_JUDGED,
        record=RECORD,
        mostly=MOSTLY,
        partly=PARTLY,
        longest=_LONGEST,
        longest_again=_LONGEST_AGAIN,
        level=LEVEL,
        min_units=MIN_UNITS,
        few_units=FEW_UNITS,
    )
    missing = sorted({name for paper in papers for name in paper.missing})
    pages = {FIRST: show("first", missing=missing, program=program())}
    for paper in papers:
        pages[page_name("paper", paper.id)] = show("paper", paper=paper)
        if paper.comparison:
            pages[page_name("comparison", paper.id)] = paper.comparison
    for name, uses in methods.items():
        pages[page_name("method", name)] = show(
            "method",
            name=name,
            uses=uses,
            totals=totals(uses),
            problem=problem_in_words(name),
            address=documentation.method(name),
        )
    for name, uses in datasets.items():
        pages[page_name("data", name)] = show(
            "dataset", name=name, title=title_of(uses), uses=uses
        )
    found = claim_tests_of(paper.claims for paper in papers)
    pages["statistics.html"] = show("statistics", claim_tests=found)
    pages["provenance.html"] = show("provenance")
    if has_errata:
        pages["errata.html"] = show("errata")
    return pages


def _renderer(**shared: Any) -> Callable[..., str]:
    """Return the function that fills a template."""
    templates = environment()
    templates.globals |= shared

    def show(template: str, **values: Any) -> str:
        is_first = template == "first"
        page = templates.get_template(f"{template}.html.j2").render(
            is_first=is_first,
            # Of another page, and of what lies beside the report.
            page=lambda name: f"report/{name}" if is_first else name,
            beside=lambda found: found.removeprefix("../") if is_first else found,
            **values,
        )
        return page + "\n"

    return show


def _by(
    key: Callable[[Any], str], groups: Iterable[Sequence[Any]]
) -> dict[str, list[Any]]:
    """Return the members of all groups together by a key of theirs."""
    found = defaultdict(list)
    for each in itertools.chain.from_iterable(groups):
        found[key(each)].append(each)
    return dict(sorted(found.items()))


def load_paper_result(config: Paper, folder: PaperFolder) -> PaperResult:
    """Gather what the report shows of one paper."""
    context = load_context(config, folder)
    jobs = read_jobs(config, folder)
    facts = {name: experiment_facts(context, name, jobs) for name in config.experiments}
    shown = {name for each in config.artefacts.values() for name in each.shown}
    record = read_published_record(config)
    full, of_tier = _of_paper(config, "paper"), _of_paper(config, config.tier)
    # A tier may lack some of a paper: its report answers for all of it nevertheless.
    fill = (
        record is not None
        and config.tier == "quick"
        and of_tier is not None
        and config.readings is None
        and set(config.experiments) == set(of_tier.experiments)
    )
    whole = config
    if fill and full and record:
        whole = _with_artefacts_of(record, full, config)
    artefacts = whole.artefacts
    verdicts, claims = (
        pd.read_csv(path, dtype=NAMES) for path in (folder.verdicts, folder.claims)
    )
    known = (record.verdicts, record.claims) if record else (None, None)
    verdicts = with_record(verdicts, known[0], _CELL, fill=fill)
    claims = with_record(claims, known[1], ["id"], fill=fill)
    named = with_labels(verdicts, whole)
    places = [artefacts_of_section(each, artefacts) for each in claims["section"]]
    reach = read_reach(config, CLAIMS)
    statistics = pd.read_csv(folder.statistics)
    paper = config.paper
    in_column = column_name(paper) if of_tier else short_name(paper)
    documentation = Documentation.of(config, RunFolder(folder.path.parent))
    views = [
        artefact_view(
            name,
            replace(context, config=whole),
            folder,
            record,
            answer(
                named[named["artefact"] == name],
                claims.loc[[name in found for found in places]],
            ),
            [facts[e] for e in artefact.shown if e in facts],
            is_here=name in config.artefacts,
        )
        for name, artefact in artefacts.items()
    ]
    methods = method_uses(config, in_column, context.scores, RUN)
    published = read_scores(record.scores) if record and full else None
    if full and published is not None:
        methods += method_uses(full, in_column, published, RECORD)
    of_data = []
    if of_tier is not None and config.readings is None:
        if full and published is not None and context.is_smoke_test:
            of_data = data_sentences(full, published, named)
        else:
            of_data = data_sentences(config, context.scores, named)
    recorded = []
    if record and full and context.is_smoke_test:
        recorded = recorded_parts(full, record.folder)
    source = f"This run, {config.tier} tier."
    if record and recorded:
        source = (
            f"The published record, {record.origin}; parts from this {config.tier} run "
            "are marked."
        )
    labels = {name: context.label(name) for name in config.methods}
    titles = {name: each.title for name, each in config.experiments.items()}
    titles |= {
        f"{name}, {block}": f"{each.title}, {block}"
        for name, each in artefacts.items()
        for block in (each.comparison.blocks if each.comparison else ())
    }
    return PaperResult(
        id=paper.id,
        name=short_name(paper),
        title=str(paper.title),
        reference=_reference(paper) if of_tier else "",
        documentation=documentation,
        page=documentation.paper(config),
        scope=_scope(config, of_tier, full),
        artefacts=sorted(views, key=lambda view: bool(view.image)),
        summaries=[
            (facts[name], summary_of(context, name))
            for name in config.experiments
            if name not in shown
        ],
        verdicts=verdicts,
        claims=claims,
        answer=answer(named, claims),
        other_claims=answer(
            verdicts.iloc[:0], claims.loc[[not found for found in places]]
        ),
        groups=group_claims(
            claims,
            {name: found.text() for (name, _), found in reach.items()},
            # Claims of the record may be none of a tier.
            full or config,
        ),
        statistics=statistics.replace(
            {"first": labels, "second": labels, "experiment": titles}
        ),
        data=_data_by_origin(context),
        methods=methods,
        datasets=data_uses(
            config,
            in_column,
            context.data_info,
            published=record.data if record else {},
            full=full if record else None,
        ),
        number_rules=number_rules(whole, in_column, verdicts),
        pair_rules=pair_rules(context, in_column, statistics),
        errata=errata_of(config, documentation),
        sentences=sentences_of(config, documentation),
        of_data=of_data,
        missing=sorted(missing_data(config, folder)),
        provenance=read_json(folder.provenance),
        record=record.origin if record else "",
        standings=standings(context, statistics) if config.own is not None else [],
        comparison=comparison_of_run(
            context,
            lambda name: folder.artefact(name, "csv"),
            title=str(paper.title),
            source=source,
            report=f"../{FIRST}",
            recorded=recorded,
        ),
    )


def _with_artefacts_of(record: PublishedRecord, full: Paper, config: Paper) -> Paper:
    """Return a configuration with the artefacts that its tier lacks, if published."""
    found = {
        name: config.artefacts.get(name, each)
        for name, each in full.artefacts.items()
        if name in config.artefacts or record.artefact(name, "csv")
    }
    methods = full.methods | config.methods
    update = {"artefacts": found | config.artefacts, "methods": methods}
    return config.model_copy(update=update)


def _of_paper(config: Paper, tier: Tier) -> Paper | None:
    """Return the protocols of a run's paper, None if data of one's own replace them."""
    found = load_paper(config.published.parent, tier)
    return found if found.paper.id == config.paper.id else None


def _scope(config: Paper, of_tier: Paper | None, full: Paper | None) -> str:
    """Say how many of a paper's claims a run of some of its experiments can test."""
    if of_tier is None or full is None or config.readings is not None:
        return ""
    if set(of_tier.experiments) <= set(config.experiments):
        return ""
    n, total = len(config.claims), len(full.claims)
    return f"Of this run's experiments ({n} of the paper's {total} claims): "


def _reference(paper: Publication) -> str:
    if paper.authors == "mtmkl":
        return "A comparison of our own, not of a paper."
    doi = f" doi:{paper.doi}" if paper.doi else ""
    venue = _capitalised(paper.venue)
    return f"{paper.authors} ({paper.year}). {paper.title}. {venue}.{doi}"


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


def _data_by_origin(context: Context) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for info in context.data_info.values():
        kind, text = "missing", str(info.get("name", info["id"]))
        if info["status"] == "ok":
            kind = str(info["origin"])
        else:
            text += f" ({info['reason']})"
        found.setdefault(kind, {})[text] = None
    return {kind: list(names) for kind, names in found.items()}


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested settings as (dotted name, text)."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}: ")
        else:
            name = _PROVENANCE.get(key, key)
            yield f"{prefix}{name}", "unknown" if value is None else str(value)
