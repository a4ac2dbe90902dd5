"""The report: a first page, one on this run, and one for each paper, method, data set.

Pages are made of one record each. Of a quick run as configured the papers' pages are
those of the published record, and only the page on this run is its own.
"""

import multiprocessing
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Artefact, Figure, Paper, Ranking, RankTests, Table
from mtmkl_suite.config.names import NAMES
from mtmkl_suite.files import read_table, write_text
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.report.context import Context, load_context
from mtmkl_suite.report.figures.drawing import data_uri
from mtmkl_suite.report.figures.main_claims import main_answer, main_claim_svg
from mtmkl_suite.report.names import column_name, number_of, reference, short_name
from mtmkl_suite.report.pages.answers import (
    Answer,
    answer,
    answers_of,
    quoted_in_text,
    with_labels,
)
from mtmkl_suite.report.pages.claims import judged_rows
from mtmkl_suite.report.pages.comparison_page import comparison_of
from mtmkl_suite.report.pages.documentation import Documentation, address
from mtmkl_suite.report.pages.drawings import figure_in_words
from mtmkl_suite.report.pages.experiments import (
    data_uses,
    duration,
    experiment_facts,
    gaps_of,
    method_uses,
    summary_of,
    title_of,
)
from mtmkl_suite.report.pages.leaders import leaders
from mtmkl_suite.report.pages.numbers import (
    methods_of,
    number_table,
    ranks_apart,
    with_print,
)
from mtmkl_suite.report.pages.rendering import environment, page_name
from mtmkl_suite.report.pages.summary import program
from mtmkl_suite.report.published_reach import Marks, read_reach
from mtmkl_suite.report.record import Record, published_record, read_record
from mtmkl_suite.report.tables.cells import build_quoted, rule_note
from mtmkl_suite.report.tables.standing import standings
from mtmkl_suite.report.text import metrics_in_words
from mtmkl_suite.run.folders import PaperFolder, RunFolder
from mtmkl_suite.run.pipeline import missing_data
from mtmkl_suite.statistics.pairs import FEW_UNITS, MIN_UNITS

FIRST = "report.html"
"""The name of the first page."""

THIS_RUN = "this-run.html"

_ORIGINS = {
    "original": "real", "own kernels": "real, kernels of our own",
    "stand-in": "stand-in", "synthetic": "synthetic", "missing": "missing",
}  # fmt: skip
"""Origins of data in words, in the order in which a page lists them."""

_LONGEST, _LONGEST_AGAIN = 40, 5
"""Rows of a table that is not folded: the first of its layout, and others."""

_PROVENANCE = {
    "config_sha256": "SHA-256 of the configuration",
    "lock_sha256": "SHA-256 of requirements.lock",
    "blas": "kernels of BLAS",
    "n": "rows",
    "n_tasks": "tasks",
}
"""Labels of keys of ``provenance.json``."""


def write_report(
    configs: Sequence[Paper], run: RunFolder, *, tier: str, processes: int = 1
) -> None:
    """Write the report on the papers of a run, which several processes read."""
    folders = [run.paper(config.paper.id) for config in configs]
    # Forked, so that nothing is imported again. The last paper, the comparison, takes
    # as long as the others together.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(load_pages, configs[::-1], folders[::-1]))[::-1]
    changes = {k: v for config in configs for k, v in config.changes.items()}
    pages = render_report(found, tier=tier, changes=changes)
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
    found: Sequence[tuple[SimpleNamespace, SimpleNamespace]],
    *,
    tier: str,
    changes: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Return the pages from each paper as they show it, and as this run has it."""
    papers = [shown for shown, _ in found]
    methods: dict[str, list[Any]] = defaultdict(list)
    datasets: dict[str, list[Any]] = defaultdict(list)
    for paper in papers:
        for use in paper.methods:
            methods[use.class_name].append(use)
        for use in paper.datasets:
            datasets[use.variant.name].append(use)
    titles = {name: title_of(uses) for name, uses in datasets.items()}
    titles = dict(sorted(titles.items(), key=lambda d: (d[1].lower(), d[0])))
    documentation = papers[0].documentation
    templates = environment()
    templates.globals |= {
        "papers": papers,
        "runs": [run for _, run in found],
        "data_of_run": _together([run.data for _, run in found]),
        "methods": dict(sorted(methods.items())),
        "datasets": titles,
        "documentation": documentation,
        "tier": tier,
        "changes": changes or {},
        "missing": sorted({name for _, run in found for name in run.missing}),
        "program": program(),
        "verdict_names": verdict_rule.VERDICTS,
        "not_judged": verdict_rule.NOT_JUDGED,
        "longest": _LONGEST,
        "longest_again": _LONGEST_AGAIN,
        "min_units": MIN_UNITS,
        "few_units": FEW_UNITS,
    }

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

    pages = {FIRST: show("first"), THIS_RUN: show("run")}
    for paper in papers:
        pages[page_name("paper", paper.id)] = show("paper", paper=paper)
        if paper.comparison:
            pages[page_name("comparison", paper.id)] = paper.comparison
    for name, uses in methods.items():
        address = documentation.method(name)
        page = show("method", name=name, uses=uses, address=address)
        pages[page_name("method", name)] = page
    for name, title in titles.items():
        page = show("dataset", name=name, title=title, uses=datasets[name])
        pages[page_name("data", name)] = page
    return pages


def load_pages(
    config: Paper, folder: PaperFolder
) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Return what the report shows of a paper, and what it shows of it in this run."""
    run = RunFolder(folder.path.parent)
    is_plain = not (config.changes or config.readings) and config.own is None
    is_quick = config.tier == "quick" and is_plain
    record = published_record(config) if is_quick else None
    of_run = pages_of(
        read_record(load_context(config, folder), folder), run, alone=record is None
    )
    of_run.missing = missing_data(config, folder)
    return (pages_of(record, run) if record else of_run), of_run


def pages_of(record: Record, run: RunFolder, *, alone: bool = True) -> SimpleNamespace:
    """Gather what the templates show of a record, or of a run beside a record.

    ``alone``: Whether methods and a comparison have pages from it.

    ``name`` is the short citation, ``origin`` that of a published record, "" of a run.
    ``standings`` are of methods or data of one's own: the report shows them first.
    ``main`` is the answer to the main claim, drawn in ``picture``; ``leaders`` are the
    best methods of a comparison. ``comparison`` is the page on which the reader
    chooses, ``page`` the address of the paper's page in the documentation, "" for none.
    """
    context, config, paper = record.context, record.config, record.config.paper
    seed = {"seed": record.provenance.get("seed", "not recorded")}
    facts = {e: experiment_facts(context, e) | seed for e in config.experiments}
    shown = {name for each in config.artefacts.values() for name in each.shown}
    verdicts, claims = with_labels(record.verdicts, config), record.claims
    own = verdict_rule.own_numbers(verdicts)
    apart = verdicts.drop(index=own.index)["verdict"]
    answers = answers_of(context, verdicts, claims)
    labels = {name: context.label(name) for name in config.methods}
    titles = {name: each.title for name, each in config.experiments.items()}
    titles |= {
        f"{name}, {block}": f"{each.title}, {block}"
        for name, each in config.artefacts.items()
        for block in (each.comparison.blocks if each.comparison else ())
    }
    views = [
        _artefact(
            name,
            record,
            run,
            answers[name],
            [facts[e] for e in each.shown if e in facts],
        )
        for name, each in config.artefacts.items()
    ]
    main = main_answer(context, claims, record.claim_settings)
    first = main.main.artefact if main else ""
    documentation = Documentation.of(config, run)
    in_column = column_name(paper)
    # Of own data the folder is that of their template.
    is_paper = config.folder.name == paper.id
    source = f"This run, {config.tier} tier."
    if record.origin:
        source = f"The published record, {record.origin}."
    statistics = record.statistics.replace(
        {"first": labels, "second": labels, "experiment": titles}
    )
    return SimpleNamespace(
        id=paper.id,
        name=short_name(paper),
        title=str(paper.title),
        reference=reference(paper) if is_paper else "",
        origin=record.origin,
        is_judged=context.is_judged,
        documentation=documentation,
        page=documentation.paper(config),
        scope="Of the experiments of this run: " if config.parts else "",
        main=main,
        picture=data_uri(main_claim_svg(short_name(paper), main)) if main else "",
        leaders=leaders(context),
        artefacts=sorted(views, key=lambda v: (v.id != first, bool(v.image))),
        summaries=[
            (facts[name], summary_of(context, name))
            for name in config.experiments
            if name not in shown
        ],
        facts=facts,
        gaps=gaps_of(context),
        # Of numbers: verdicts that move with our spread, those that follow from others.
        moved=verdict_rule.moved_text(own),
        apart=verdict_rule.listed(verdict_rule.counts(apart)) if len(apart) else "",
        claims=claims,
        answer=answer(verdicts, claims),
        sentences_judged=judged_rows(record),
        statistics=statistics,
        pairs=_pairs(statistics),
        data=_data_by_origin(context),
        methods=method_uses(config, in_column, context.scores) if alone else [],
        datasets=data_uses(context, in_column),
        sentences=documentation.sentences(config) if record.origin else [],
        provenance=_provenance_lines(record.provenance),
        standings=standings(context, record.statistics)
        if config.own is not None or config.parts
        else [],
        comparison=comparison_of(record, source=source, report=f"../{FIRST}")
        if alone
        else "",
    )


def _pairs(statistics: pd.DataFrame) -> list[tuple[str, list[dict[Hashable, Any]]]]:
    """Return the comparisons of pairs by experiment, each under a heading."""
    groups = statistics.groupby(["experiment", "metric", "unit", "n"], sort=False)
    return [
        (
            f"{name}: {metrics_in_words(str(metric))}, {n} {unit}s",
            rows.to_dict("records"),
        )
        for (name, metric, unit, n), rows in groups
    ]


def _provenance_lines(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the provenance as (name, text), the jobs' times summed up."""
    lines = list(_flat({k: v for k, v in provenance.items() if k != "seconds_by_job"}))
    if seconds := provenance.get("seconds_by_job"):
        slowest = max(seconds, key=seconds.__getitem__)
        text = (
            f"{len(seconds)}, {duration(sum(seconds.values()))} in all; slowest: "
            f"{slowest}, {duration(seconds[slowest])}; all in provenance.json"
        )
        lines.append(("jobs", text))
    return lines


def _artefact(
    name: str,
    record: Record,
    run: RunFolder,
    found: Answer,
    facts: list[dict[str, Any]],
) -> SimpleNamespace:
    """Return what is shown of a figure or table: its numbers, answer and files.

    ``image`` is a data URI and ``alternative`` the figure in words, both "" for a
    table; ``numbers`` has the numbers that the paper quotes in its text last, ``text``
    is a table as published, in Markdown. ``layout`` is that of tables of its kind.
    """
    folder, artefact = record.folder, record.config.artefacts[name]
    view = SimpleNamespace(
        id=name, title=artefact.title, name=number_of(name) or artefact.title,
        subtitle=artefact.title if number_of(name) else "", answer=found, facts=facts,
        image="", alternative="", text="", notes=[],
        layout=getattr(artefact, "layout", name),
    )  # fmt: skip
    if isinstance(artefact, Figure):
        numbers = read_table(folder.artefact(name, "csv"))
        view.image = data_uri(folder.artefact(name, "svg").read_bytes())
        view.alternative = figure_in_words(artefact.title, numbers)
    else:
        view.text = folder.artefact(name, "md").read_text(encoding="utf-8")
    if artefact.quoted is not None:
        quoted = artefact.quoted
        judged, acceptance = build_quoted(record.context, quoted)
        view.notes = [
            rule_note(record.context, quoted.tolerance, quoted.unit, acceptance),
            *Marks(read_reach(record.config, name), judged).notes(),
        ]
    view.numbers = list(_numbers(name, artefact, record))
    cells = (cell for t in view.numbers for _, _, row in t.rows for cell in row if cell)
    view.has_two_readings = any(cell.printed.endswith("?") for cell in cells)
    paths = folder.artefact_files({name: artefact})
    view.links = [(path.suffix[1:], address(path, run)) for path in paths]
    return view


def _numbers(name: str, artefact: Artefact, record: Record) -> Iterator[Any]:
    """Yield the numbers of a table, its mean ranks, and those quoted in the text."""
    context = record.context
    parts: list[tuple[Any, ...]] = []
    if isinstance(artefact, Table | Ranking | RankTests):
        cells = read_table(record.folder.artefact(name, "csv"), dtype=NAMES)
        if isinstance(artefact, RankTests):
            cells = cells[cells["in_paper"]]
        cells = with_print(cells, context.published[artefact.file])
        labels = {key: context.label(key) for key in record.config.methods}
        corner = getattr(artefact, "corner", "data set, training")
        decimals = getattr(artefact, "decimals", None)
        grid = corner, decimals, methods_of(artefact, labels)
        parts += [(part, *grid) for part in ranks_apart(cells)]
    if artefact.quoted is not None:
        rows = record.verdicts[record.verdicts["artefact"] == name]
        quoted = quoted_in_text(rows, artefact)
        quoted = with_print(quoted, context.published[artefact.quoted.file])
        parts.append((quoted, "quoted in the text", None, {}))
    reach = read_reach(record.config, name)
    for part in parts:
        table = number_table(*part, is_judged=context.is_judged, reach=reach)
        if table.rows:
            yield table


def _data_by_origin(context: Context) -> dict[str, list[str]]:
    """Return the titles of data sets by origin, those that are missing with why."""
    found = defaultdict(list)
    for name, info in context.data_info.items():
        title, is_here = str(info.get("title", name)), info["status"] == "ok"
        kind = _ORIGINS[info["origin"] if is_here else "missing"]
        found[kind].append(title if is_here else f"{title} ({info['reason']})")
    return _together([found])


def _together(data: Sequence[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    """Return the data of several papers by origin, each once."""
    found = {
        kind: dict.fromkeys(name for each in data for name in each.get(kind, ()))
        for kind in _ORIGINS.values()
    }
    return {kind: list(names) for kind, names in found.items() if names}


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested settings as (dotted name, text)."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}: ")
        else:
            name = _PROVENANCE.get(key, key)
            yield f"{prefix}{name}", "unknown" if value is None else str(value)
