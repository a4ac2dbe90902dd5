"""What the report shows of one paper, from a run and its published record."""

import base64
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.config import experiments_of, load_paper
from mtmkl.files import read_json, read_table
from mtmkl.layout import PaperFolder
from mtmkl.reporting import written
from mtmkl.reporting.alternatives import figure_in_words
from mtmkl.reporting.claim_views import (
    ClaimGroups,
    artefacts_of_section,
    group_claims,
)
from mtmkl.reporting.context import Context, load_context, read_jobs
from mtmkl.reporting.experiment_facts import (
    ExperimentFacts,
    Summary,
    duration,
    experiment_facts,
    summary_of,
)
from mtmkl.reporting.explained import read_explained
from mtmkl.reporting.number_tables import NumberTable, methods_of, number_table
from mtmkl.reporting.overview import Answer, answer
from mtmkl.reporting.published_record import (
    PublishedRecord,
    read_published_record,
    with_record,
)
from mtmkl.reporting.standing import Standing, standings
from mtmkl.reporting.summary import missing_data
from mtmkl.reporting.written import TextTable, Written
from mtmkl.statistics import claims as claim_tests
from mtmkl.statistics import verdicts as verdict_rule
from mtmkl.statistics.claim_explanations import CLAIMS

_GRIDS = ("cells", "ranking")
"""Layouts of which every cell is a number."""

_CELL = ["artefact", "row", "column"]


@dataclass(frozen=True)
class ArtefactView:
    """A figure or table as the report shows it.

    Attributes
    ----------
    id, title : str
    image, alternative : str
        Data URI of the figure and what it shows in words; "" for a table.
    numbers : list of NumberTable
        The table, and the numbers that the paper quotes in its text.
    texts : list of TextTable
        Tables of another form.
    notes : list of str
        The sentences below the tables.
    answer : Answer
    is_of_record : bool
        Whether the figure, or the whole table, is the published one.
    links : list of (text, address)
        Its files, relative to the report.
    facts : list of ExperimentFacts
    """

    id: str
    title: str
    image: str
    alternative: str
    numbers: list[NumberTable]
    texts: list[TextTable]
    notes: list[str]
    answer: Answer
    is_of_record: bool
    links: list[tuple[str, str]]
    facts: list[ExperimentFacts]

    @property
    def name(self) -> str:
        """``figure_3`` as "Figure 3"."""
        return self.id.replace("_", " ").capitalize()


@dataclass(frozen=True)
class PaperResult:
    """Everything that the report shows of one paper.

    Attributes
    ----------
    id, name, reference, page : str
        ``name`` is the short citation, ``page`` the address of the paper's page in the
        documentation, "" where there is none.
    artefacts : list of ArtefactView
        Tables before figures.
    summaries : list of Summary
        Of experiments that no artefact shows.
    verdicts, claims : DataFrame
        As written, with what the record has where the run has nothing.
    answer : Answer
    other_claims : Answer
        Of the claims on no artefact.
    groups : ClaimGroups
    statistics : DataFrame
    data : mapping of origin to list of str
        Data sets by "original", "stand-in", "synthetic", …, "missing".
    missing : list of str
        Names of missing data sets.
    provenance : mapping
        As written.
    record : str
        Date and commit of the published record, "" if there is none.
    standings : list of Standing
        Of a run of methods or data of one's own: the report shows them first.
    """

    id: str
    name: str
    reference: str
    page: str
    artefacts: list[ArtefactView]
    summaries: list[Summary]
    verdicts: pd.DataFrame
    claims: pd.DataFrame
    answer: Answer
    other_claims: Answer
    groups: ClaimGroups
    statistics: pd.DataFrame
    data: Mapping[str, list[str]]
    missing: list[str]
    provenance: Mapping[str, Any]
    record: str
    standings: list[Standing]

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


def load_paper_result(config: Mapping[str, Any], folder: PaperFolder) -> PaperResult:
    """Gather what the report shows of one paper.

    Parameters
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    folder : PaperFolder
        With scores, artefacts and the run's own record.

    Raises
    ------
    FileNotFoundError
        If a figure or a part of the record has not been written.
    """
    context = load_context(config, folder)
    jobs = read_jobs(config, folder)
    facts = {
        name: experiment_facts(context, name, jobs) for name in config["experiments"]
    }
    artefacts = config["artefacts"]
    shown = {name for each in artefacts.values() for name in experiments_of(each)}
    record = read_published_record(config)
    fill = record is not None and _lacks_experiments(config)
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
    explained = {
        name: found.text()
        for (name, _), found in read_explained(config, CLAIMS).items()
    }
    statistics = pd.read_csv(folder.statistics)
    paper = config["paper"]
    views = [
        _artefact_view(
            name,
            context,
            folder,
            record,
            answer(verdicts[verdicts["artefact"] == name], of_artefact[name]),
            [facts[e] for e in experiments_of(artefact) if e in facts],
        )
        for name, artefact in artefacts.items()
    ]
    return PaperResult(
        id=paper["id"],
        name=short_name(paper),
        reference=(
            f"{paper['authors']} ({paper['year']}). {paper['title']}. {paper['venue']}."
            + (f" doi:{paper['doi']}" if "doi" in paper else "")
        ),
        page=_page(config, folder),
        artefacts=sorted(views, key=lambda view: bool(view.image)),
        summaries=[
            summary_of(context, name, facts[name])
            for name in config["experiments"]
            if name not in shown
        ],
        verdicts=verdicts,
        claims=claims,
        answer=answer(verdicts, claims),
        other_claims=answer(verdicts.iloc[:0], elsewhere),
        groups=group_claims(claims, explained, config),
        statistics=_with_labels(context, statistics),
        data=_data_by_origin(context),
        missing=sorted(missing_data(config, folder)),
        provenance=read_json(folder.provenance),
        record=record.origin if record else "",
        standings=standings(context, statistics) if "own" in config else [],
    )


def _lacks_experiments(config: Mapping[str, Any]) -> bool:
    """Tell whether a run is of a whole paper, in a tier that may lack some of it."""
    if config["tier"] != "quick" or "readings" in config:
        return False
    whole = load_paper(Path(config["published"]).parent, "quick")
    return set(config["experiments"]) == set(whole["experiments"])


def short_name(paper: Mapping[str, Any]) -> str:
    """Return a citation in a few words, such as "Argyriou et al. 2008"."""
    surnames = [name.split()[-1] for name in str(paper["authors"]).split(", ")]
    if len(surnames) > 2:
        surnames = [f"{surnames[0]} et al."]
    return f"{' & '.join(surnames)} {paper['year']}"


def _artefact_view(
    name: str,
    context: Context,
    folder: PaperFolder,
    record: PublishedRecord | None,
    found: Answer,
    facts: list[ExperimentFacts],
) -> ArtefactView:
    config = context.config
    artefact = config["artefacts"][name]
    mine = written.read(folder, name)
    image, alternative = "", ""
    endings: tuple[str, ...] = ("csv", "md")
    numbers, is_of_record = [], False
    texts = list(mine.tables)
    if artefact["kind"] == "figure":
        endings = ("svg", "pdf", "csv")
        image, alternative, is_of_record = _image(name, artefact, folder, record)
        texts = []
    elif artefact.get("layout", "cells") in _GRIDS:
        cells = read_table(folder.artefact(name, "csv"))
        published = record.cells(name) if record else pd.DataFrame()
        numbers.append(_grid(name, context, cells, published))
        is_of_record = bool(cells["reproduced"].isna().all()) and len(published) > 0
        texts = []
    elif record and _is_empty(mine.verdicts):
        path = record.artefact(name, "md")
        is_of_record = path is not None
        texts = [_from_markdown(path)] if path else texts
    if "quoted" in artefact:
        numbers.append(_quoted(name, context, mine, record))
        texts = texts[:-1]
    notes = [note for table in mine.tables for note in table.notes]
    source = record.folder if is_of_record and record else folder.path / "artefacts"
    return ArtefactView(
        id=name,
        title=artefact["title"],
        image=image,
        alternative=alternative,
        numbers=[table for table in numbers if table],
        texts=texts,
        notes=[] if texts else list(dict.fromkeys(notes)),
        answer=found,
        is_of_record=is_of_record,
        links=[
            (ending, _relative(source / f"{name}.{ending}", folder))
            for ending in endings
            if (source / f"{name}.{ending}").is_file()
        ],
        facts=facts,
    )


def _image(
    name: str,
    artefact: Mapping[str, Any],
    folder: PaperFolder,
    record: PublishedRecord | None,
) -> tuple[str, str, bool]:
    """Return a figure, what it shows in words, and whether it is the published one."""
    svg, csv = folder.artefact(name, "svg"), folder.artefact(name, "csv")
    numbers = read_table(csv)
    published = record.artefact(name, "svg") if record else None
    is_of_record = "no data" in numbers and published is not None
    if is_of_record and record and published:
        svg, numbers = published, record.cells(name)
    uri = "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()
    return uri, figure_in_words(artefact["title"], numbers), is_of_record


def _grid(
    name: str, context: Context, cells: pd.DataFrame, published: pd.DataFrame
) -> NumberTable:
    artefact = context.config["artefacts"][name]
    labels = {key: context.label(key) for key in context.config["methods"]}
    return number_table(
        cells,
        published,
        corner=artefact.get("corner", "data set, training"),
        decimals=artefact["decimals"],
        is_judged=context.is_judged,
        explained=read_explained(context.config, name),
        methods=methods_of(artefact, labels),
    )


def _quoted(
    name: str, context: Context, mine: Written, record: PublishedRecord | None
) -> NumberTable:
    """Return the numbers that a paper quotes in its text for a figure or table."""
    cells = context.config["artefacts"][name]["quoted"]["cells"]
    places = {(cell["row"], cell["column"]) for cell in cells}
    rows = mine.verdicts
    is_quoted = [key in places for key in zip(rows["row"], rows["column"], strict=True)]
    return number_table(
        rows[is_quoted],
        record.verdicts[record.verdicts["artefact"] == name]
        if record
        else pd.DataFrame(),
        corner="quoted in the text",
        decimals=None,
        is_judged=context.is_judged,
        explained=read_explained(context.config, name),
        methods={},
    )


def _is_empty(verdicts: pd.DataFrame) -> bool:
    return len(verdicts) > 0 and bool(verdicts["reproduced"].isna().all())


def _from_markdown(path: Path) -> TextTable:
    """Return a published table from its Markdown."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip().replace("\\|", "|") for cell in line.strip("|").split(" | ")]
        for line in lines
        if line.startswith("|")
    ]
    notes = [line for line in lines[1:] if line and not line.startswith("|")]
    return TextTable(rows[0], rows[2:], notes)


def _page(config: Mapping[str, Any], folder: PaperFolder) -> str:
    """Return the address of the paper's page: of the built site, or its source."""
    name = config["paper"]["id"]
    top = Path(config["published"]).parents[3]
    built = folder.path.parent / "site" / "papers" / f"{name}.html"
    found = [
        path for path in (built, top / "docs/papers" / f"{name}.md") if path.is_file()
    ]
    return _relative(found[0], folder) if found else ""


def _relative(path: Path, folder: PaperFolder) -> str:
    """Return the address of a file for a report beside the paper's folder."""
    return Path(os.path.relpath(path, folder.path.parent)).as_posix()


def _with_labels(context: Context, statistics: pd.DataFrame) -> pd.DataFrame:
    names = {name: context.label(name) for name in context.config["methods"]}
    titles = {
        name: experiment["title"]
        for name, experiment in context.config["experiments"].items()
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
