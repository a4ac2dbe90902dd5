"""Gallery: the published record as Markdown, for git hosts and the site."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Artefact, Paper
from mtmkl_suite.config.readings import has_readings, load_readings
from mtmkl_suite.files import write_text
from mtmkl_suite.judge.claims import counts_of
from mtmkl_suite.judge.reach import CLAIMS
from mtmkl_suite.judge.sample import seconds_of_cells
from mtmkl_suite.judge.verdicts import counts_text, moved_text, own_numbers
from mtmkl_suite.report.context import recorded_context
from mtmkl_suite.report.names import heading_of
from mtmkl_suite.report.pages.answers import Answer, answer, answers_of
from mtmkl_suite.report.pages.claims import Row, sentence_table, sentences
from mtmkl_suite.report.pages.comparison_page import PAGE, comparison_of
from mtmkl_suite.report.pages.documentation import brief, source_of
from mtmkl_suite.report.pages.rendering import environment
from mtmkl_suite.report.published_reach import published_counts, read_reach
from mtmkl_suite.report.record import Record, origin_of, read_record
from mtmkl_suite.report.text import TextTable
from mtmkl_suite.run.folders import READING_SCORES, PaperFolder, PublishedFolder

_BEGIN, _END = "<!-- sentences: written by make publish -->", "<!-- end -->"
_A_ROW = 3
"""Thumbnails beside each other."""


def write_galleries(configs: Sequence[Paper], figures: Path) -> None:
    """Write the pages of each paper, and the page of all papers in the folder."""
    readings = {c.paper.id: c for c in configs if c.readings is not None}
    mains = {c.paper.id: c.readings.main if c.readings else c for c in configs}
    templates = environment()
    papers = []
    # There are other folders than those of papers, such as that of benchmarks.
    for verdicts in sorted(figures.glob("*/verdicts.csv")):
        name, folder = verdicts.parent.name, PublishedFolder(verdicts.parent)
        config = mains.get(name) or load_paper(name, "paper")
        of_readings = readings.get(name)
        if of_readings is None and has_readings(config.folder):
            of_readings = load_readings(config.folder, "paper")
        record = read_record(recorded_context(config, figures), folder)
        papers.append(_paper(record, of_readings))
        if name not in mains:
            continue
        _write_sentences(record)
        page = comparison_of(
            record,
            source=f"The published record, {origin_of(record.provenance)}.",
        )
        if page:
            write_text(folder.path / PAGE, page)
        papers[-1].page = PAGE if page else ""
        shown = templates.get_template("paper.md.j2").render(shown=papers[-1])
        write_text(folder.path / "README.md", shown)
    index = templates.get_template("gallery.md.j2").render(papers=papers, a_row=_A_ROW)
    write_text(figures / "README.md", index)


def _paper(record: Record, readings: Paper | None) -> SimpleNamespace:
    """Return what the gallery shows of a paper."""
    config, folder = record.config, record.folder
    verdicts, claims = record.verdicts, record.claims
    answers, _ = answers_of(config.artefacts, verdicts, claims)
    brief_sentences = brief(config)
    rows = judged_rows(record)
    judged = sentence_table(rows, lambda name: f"#{name}")
    has_scores_of_readings = (folder.path / READING_SCORES).is_file()
    shown = readings.artefacts if readings and has_scores_of_readings else {}
    return SimpleNamespace(
        id=config.paper.id,
        paper=config.paper,
        first=" ".join(brief_sentences[0].split()) if brief_sentences else "",
        source=Path(os.path.relpath(source_of(config), folder.path)).as_posix(),
        answer=answer(verdicts, claims),
        numbers=counts_text(verdicts),
        moved=moved_text(own_numbers(verdicts)),
        reach=published_counts(folder.path),
        claims=counts_of(claims["verdict"]),
        sentences=judged.markdown() if judged.rows else "",
        sentences_from_above=sentence_table(
            rows, lambda name: f"{config.paper.id}/README.md#{name}"
        ).markdown()
        if rows
        else "",
        artefacts=[
            _artefact(name, each, folder, answers[name])
            for name, each in config.artefacts.items()
        ],
        readings=[_artefact(name, each, folder, None) for name, each in shown.items()],
        reading_scores=READING_SCORES,
        seconds=list(_seconds(record)),
    )


def _artefact(
    name: str, artefact: Artefact, folder: PaperFolder, found: Answer | None
) -> SimpleNamespace:
    """Return what is shown of a figure or table: its answer, heading and text."""
    heading = heading_of(name, artefact.title)
    text = ""
    if artefact.kind == "table":
        page = folder.artefact(name, "md").read_text(encoding="utf-8").strip()
        text = page.partition("\n\n")[2]  # without its heading
    return SimpleNamespace(
        id=name, kind=artefact.kind, title=artefact.title, heading=heading, text=text,
        answer=found,
        # As git hosts and the site name the heading.
        anchor=re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-"),
    )  # fmt: skip


def judged_rows(record: Record) -> list[Row]:
    """Return the sentences of a record, with their verdicts by other readings."""
    reach = read_reach(record.config, CLAIMS)
    texts = {name: found.text() for (name, _), found in reach.items()}
    return sentences(record.claims, record.claim_settings, texts)


def _write_sentences(record: Record) -> None:
    """Write the table of sentences between its marks on the paper's page."""
    page = source_of(record.config)
    text = page.read_text("utf-8") if page.is_file() else ""
    before, found, rest = text.partition(_BEGIN)
    _, is_closed, after = rest.partition(_END)
    if not found or not is_closed:
        return
    folder = f"../../figures/{record.config.paper.id}/README.md"
    table = sentence_table(judged_rows(record), lambda name: f"{folder}#{name}")
    write_text(page, f"{before}{_BEGIN}\n\n{table.markdown()}\n\n{_END}{after}")


def _seconds(record: Record) -> Iterable[TextTable]:
    """Yield core-seconds by experiment and by method.

    Those of a cell's first computation, on one core, without the reading of data. All
    points tried and the choice among them are in them, the scoring is not.
    """
    config = record.config
    seconds = seconds_of_cells(record.context.scores).reset_index(name="seconds")
    titles = {name: each.title for name, each in config.experiments.items()}
    labels = {name: each.label for name, each in config.methods.items()}
    for column, names in {"experiment": titles, "method": labels}.items():
        shown = seconds[column].map(names)
        totals = seconds["seconds"].groupby(shown, sort=False).sum()
        totals["all"] = totals.sum()
        rows = [[str(name), f"{value:,.0f}"] for name, value in totals.items()]
        yield TextTable([column, "core-seconds"], rows)
