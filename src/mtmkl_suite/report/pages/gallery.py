"""Gallery: the published record as Markdown, for git hosts and the site."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Artefact, Paper, RankTests
from mtmkl_suite.config.readings import has_readings, load_readings
from mtmkl_suite.files import write_bytes, write_text
from mtmkl_suite.judge.claims import counts_of
from mtmkl_suite.judge.reach import DIFFERENT, WITHIN
from mtmkl_suite.judge.verdicts import counts_text, moved_text, own_numbers
from mtmkl_suite.report.context import recorded_context
from mtmkl_suite.report.figures.main_claims import main_answer, main_claim_svg
from mtmkl_suite.report.names import heading_of, is_ours, number_of, short_name
from mtmkl_suite.report.pages.answers import Answer, answer, answers_of, quoted_in_text
from mtmkl_suite.report.pages.claims import judged_rows, sentence_table
from mtmkl_suite.report.pages.comparison_page import PAGE, comparison_of
from mtmkl_suite.report.pages.documentation import brief, source_of
from mtmkl_suite.report.pages.rendering import environment
from mtmkl_suite.report.published_reach import published_counts
from mtmkl_suite.report.record import Record, origin_of, read_record
from mtmkl_suite.report.text import number
from mtmkl_suite.run.folders import READING_SCORES, PaperFolder, PublishedFolder

_END = "<!-- end -->"
_A_ROW = 3
"""Thumbnails beside each other."""

MAIN_CLAIM = "main_claim.svg"
"""The picture of a paper's main claim in its folder."""


def write_galleries(configs: Sequence[Paper], figures: Path) -> None:
    """Write the pages of each paper, and what pages of all papers show of them."""
    readings = {c.paper.id: c for c in configs if c.readings is not None}
    mains = {c.paper.id: c.readings.main if c.readings else c for c in configs}
    templates = environment()
    papers = []
    # There are other folders than those of papers, such as that of benchmarks.
    for verdicts in figures.glob("*/verdicts.csv"):
        name, folder = verdicts.parent.name, PublishedFolder(verdicts.parent)
        config = mains.get(name) or load_paper(name, "paper")
        of_readings = readings.get(name)
        if of_readings is None and has_readings(config.folder):
            of_readings = load_readings(config.folder, "paper")
        record = read_record(recorded_context(config, figures), folder)
        shown = _paper(record, of_readings)
        papers.append(shown)
        if name not in mains:
            continue
        if shown.main:
            picture = main_claim_svg(shown.name, shown.main)
            write_bytes(folder.path / MAIN_CLAIM, picture)
            parts = templates.get_template("macros.md.j2").module
            for part in ("main_claim", "main_artefact"):
                fill(source_of(config), part, getattr(parts, part)(shown))
        page = comparison_of(
            record,
            source=f"The published record, {origin_of(record.provenance)}.",
        )
        if page:
            write_text(folder.path / PAGE, page)
        shown.page = PAGE if page else ""
        text = templates.get_template("paper.md.j2").render(shown=shown)
        write_text(folder.path / "README.md", text)
    papers.sort(key=lambda shown: (is_ours(shown.paper), shown.paper.year, shown.id))
    index = templates.get_template("gallery.md.j2").render(papers=papers, a_row=_A_ROW)
    write_text(figures / "README.md", index)
    overview = templates.get_template("papers.md.j2").module
    top = figures.parent
    pages = {
        "README.md": ("figures/", "docs/papers/"),
        "docs/index.md": ("", "papers/"),
    }
    for page, (pictures, texts) in pages.items():
        for part in ("pictures", "table"):
            text = getattr(overview, part)(papers, pictures, texts, ".md")
            fill(top / page, f"main_claims_{part}", text)


def fill(page: Path, part: str, text: str) -> None:
    """Write a part of a page between its marks, if it has them."""
    begin = f"<!-- {part.replace('_', ' ')}: written by make publish -->"
    written = page.read_text("utf-8") if page.is_file() else ""
    before, found, rest = written.partition(begin)
    _, is_closed, after = rest.partition(_END)
    if found and is_closed:
        write_text(page, f"{before}{begin}\n\n{text.strip()}\n\n{_END}{after}")


def _paper(record: Record, readings: Paper | None) -> SimpleNamespace:
    """Return what the gallery shows of a paper."""
    config, folder = record.config, record.folder
    verdicts, claims = record.verdicts, record.claims
    answers = answers_of(record.context, verdicts, claims)
    main = main_answer(record.context, claims, record.claim_settings)
    artefacts = [
        _artefact(name, each, folder, answers[name], verdicts)
        for name, each in config.artefacts.items()
    ]
    first = main.main.artefact if main else ""
    judged = sentence_table(judged_rows(record))
    has_scores_of_readings = (folder.path / READING_SCORES).is_file()
    shown = readings.artefacts if readings and has_scores_of_readings else {}
    return SimpleNamespace(
        id=config.paper.id,
        name=short_name(config.paper),
        paper=config.paper,
        main=main,
        brief=[" ".join(each.split()) for each in brief(config)[:2]],
        source=Path(os.path.relpath(source_of(config), folder.path)).as_posix(),
        answer=answer(verdicts, claims),
        numbers=counts_text(verdicts),
        moved=moved_text(own_numbers(verdicts)),
        reach=published_counts(folder.path),
        claims=counts_of(claims["verdict"]),
        sentences=judged.markdown() if judged.rows else "",
        # The main one, then pictures, then numbers.
        artefacts=sorted(artefacts, key=lambda a: (a.id != first, a.kind != "figure")),
        readings=[_artefact(name, each, folder) for name, each in shown.items()],
        reading_scores=READING_SCORES,
    )


def _artefact(
    name: str,
    artefact: Artefact,
    folder: PaperFolder,
    found: Answer | None = None,
    verdicts: pd.DataFrame | None = None,
) -> SimpleNamespace:
    """Return what is shown of a figure or table, and the numbers quoted with it."""
    heading = heading_of(name, artefact.title)
    text = ""
    if artefact.kind == "table":
        page = folder.artefact(name, "md").read_text(encoding="utf-8").strip()
        text = page.partition("\n\n")[2]  # without its heading
    quoted = []
    if verdicts is not None:
        mine = quoted_in_text(verdicts[verdicts["artefact"] == name], artefact)
        quoted = [
            f"{row['row']}, {row['column']}: "
            f"printed {number(float(row['published']))}, "
            f"ours {number(float(row['reproduced']))} ({row['verdict']})"
            for row in mine.to_dict("records")
            if row["verdict"] in (*WITHIN, DIFFERENT)
        ]
    return SimpleNamespace(
        id=name, kind=artefact.kind, title=artefact.title, number=number_of(name),
        heading=heading, text=text, answer=found, quoted="; ".join(quoted),
        is_of_ranks=isinstance(artefact, RankTests),
        # As git hosts and the site name the heading.
        anchor=re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-"),
    )  # fmt: skip
