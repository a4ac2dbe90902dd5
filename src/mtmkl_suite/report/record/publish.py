"""Published record in ``figures/``: copied from a run or judged anew; its gallery."""

import filecmp
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Paper, Run, StepTable
from mtmkl_suite.config.names import NAMES
from mtmkl_suite.files import read_json, write_json, write_table, write_text
from mtmkl_suite.judge.claims import (
    by_author,
    counts_of,
    shown_notes,
    shown_verdicts,
)
from mtmkl_suite.judge.reach import CLAIMS
from mtmkl_suite.judge.sample import read_scores, seconds_of_cells
from mtmkl_suite.judge.verdicts import counts_text, moved_text, own_numbers
from mtmkl_suite.report.context import Context, recorded_context
from mtmkl_suite.report.pages.comparison import PAGE, comparison_page, recorded_parts
from mtmkl_suite.report.pages.verdicts import Answer, answer, artefacts_of_section
from mtmkl_suite.report.quoted import write_quoted_numbers
from mtmkl_suite.report.record.artefacts import (
    drawn,
    number_of,
    printed,
    write_figure_files,
    write_table_files,
)
from mtmkl_suite.report.record.published_reach import (
    OTHER_READINGS,
    published_counts,
    read_reach,
)
from mtmkl_suite.report.record.record import (
    RECORD,
    origin_of,
    published_claims,
    statistics_table,
    write_claims,
)
from mtmkl_suite.run.folders import (
    DERIVED_DIGITS,
    READING_SCORES,
    PaperFolder,
    PublishedFolder,
    RunFolder,
)
from mtmkl_suite.run.provenance import check_settings, of_the_code
from mtmkl_suite.run.resources import largest_memory, measured_memory

_TITLES = re.compile(r'<a id="(\w+)"></a>\n\n## (.+)')
"""Figures and tables on the page of a paper."""

_A_ROW = 3
"""Thumbnails beside each other."""


def publish(
    configs: Sequence[Paper], run: RunFolder, figures: Path, *, tier: str
) -> None:
    """Copy artefacts and record of each paper to ``figures/<id>``.

    What a repeat of each method took is added to ``seconds.csv`` in the paper's
    configuration, where the plan of jobs finds it. The memory that jobs took replaces
    what ``memory.csv`` there says of them.
    """
    if tier != "paper":
        raise ValueError(
            f"only the paper tier is published, not {tier!r}: add --config tier=paper"
        )
    copies = [
        (source, figures / config.paper.id / name)
        for config in configs
        for source, name in _published_files(config, run.paper(config.paper.id))
    ]
    for source, _ in copies:
        if not source.is_file():
            raise FileNotFoundError(f"{source} has not been made")
    for source, target in copies:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for config in configs:
        paper = config.paper.id
        measured = run.paper(paper).job_seconds()
        _add_memory(config.published.with_name("memory.csv"), measured)
        if config.readings is not None:
            continue
        seconds = config.published.with_name("seconds.csv")
        _add_seconds(seconds, read_scores(figures / paper / "scores.csv.gz"))
    write_galleries(configs, figures)


def write_galleries(configs: Sequence[Paper], figures: Path) -> None:
    """Write the page of each paper, that of all, and the numbers that docs quote."""
    for config in configs:
        folder = figures / config.paper.id
        main = config.readings.main if config.readings is not None else config
        parts = recorded_parts(main, folder)
        if parts:
            origin = origin_of(read_json(folder / "provenance.json"))
            source = f"The published record, {origin}."
            page = comparison_page(parts, title=str(main.paper.title), source=source)
            write_text(folder / PAGE, page)
        write_text(folder / "README.md", paper_gallery(main, folder))
    write_text(figures / "README.md", _index(figures))
    write_quoted_numbers(figures.parent)


def _published_files(config: Paper, folder: PaperFolder) -> list[tuple[Path, str]]:
    """Return files to copy, with their names there.

    Of readings these are the artefacts, and under other names what they follow from:
    the record is that of the main protocol.
    """
    artefacts = folder.artefact_files(config.artefacts)
    named = [(path, path.name) for path in artefacts]
    if config.readings is not None:
        theirs = PublishedFolder(Path(), of_readings=True)
        return [
            *named,
            (folder.scores, theirs.scores.name),
            (folder.overlaps, theirs.overlaps.name),
            (folder.provenance, theirs.provenance.name),
        ]
    return [*((path, path.name) for path in folder.record()), *named]


def paper_gallery(config: Paper, folder: Path) -> str:
    """Return the Markdown page of a paper's published artefacts."""
    paper = config.paper
    verdicts = pd.read_csv(folder / "verdicts.csv", dtype=NAMES)
    claims = pd.read_csv(folder / "claims.csv", dtype=NAMES)
    answers = _answers(config.artefacts, verdicts, claims)
    reach = read_reach(config, CLAIMS)
    notes = [
        f"{note}; {OTHER_READINGS}: {reach[name, ''].text()}"
        if (name, "") in reach
        else note
        for name, note in zip(claims["id"], shown_notes(claims), strict=True)
    ]
    claims = claims.assign(shown=shown_verdicts(claims), note=notes)
    counted = published_counts(folder)
    lines = [
        f"# {paper.title}",
        "",
        f"{paper.authors} ({paper.year}), {paper.venue}.",
        *_beginning(config, folder),
        "",
        "The record of the full protocol: [verdicts.csv](verdicts.csv), "
        "[claims.csv](claims.csv), [statistics.csv](statistics.csv), "
        "[scores.csv.gz](scores.csv.gz), [provenance.json](provenance.json).",
    ]
    if (folder / PAGE).is_file():
        lines += [
            "",
            f"[Choose methods, data sets and the score]({PAGE}): a page that computes "
            "ranks, tests of every pair and cost anew. Download it and open it in a "
            "browser.",
        ]
    if len(verdicts) or len(claims):
        lines += [
            "",
            f"Published cells: {counts_text(verdicts)}. Verdicts that change if our "
            "standard deviation is assumed where the paper prints none: "
            f"{moved_text(own_numbers(verdicts))}. "
            + "".join(
                f"{author[0].upper()}{author[1:]}: {counts_of(shown_verdicts(each))}. "
                for author, each in by_author(claims).items()
            ).strip()
            + f" Different numbers, by other readings: {counted}." * bool(counted),
        ]
    # Pictures first, then numbers, and what is long is folded.
    artefacts = sorted(config.artefacts.items(), key=lambda a: a[1].kind != "figure")
    for name, artefact in artefacts:
        number = number_of(name)
        title = f"{number}: {artefact.title}" if number else artefact.title
        lines += ["", f'<a id="{name}"></a>', "", f"## {title}", ""]
        if name in answers:
            lines += [_said(answers[name]), ""]
        lines += _artefact_lines(name, artefact.kind, artefact.title, folder)
    if len(claims):
        head = ["claim", "section", "basis", "verdict", "evidence"]
        lines += ["", "## Claims", "", "<details>"]
        lines += [f"<summary>{len(claims)} claims with their evidence</summary>", ""]
        lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        lines += [
            f"| {row.claim} | {row.section} | {row.basis} | {row.shown} | {row.note} |"
            for row in claims.itertuples()
        ]
        lines += ["", "</details>"]
    lines += _readings_lines(config, folder)
    lines += ["", "## Core-seconds to choose and fit", ""]
    lines += _seconds_lines(config, read_scores(folder / "scores.csv.gz"))
    return "\n".join(lines) + "\n"


def _beginning(config: Paper, folder: Path) -> list[str]:
    """Return the first sentence of the documentation's page on a paper, if any."""
    docs, name = config.published.parents[3] / "docs", f"{config.paper.id}.md"
    for page in (docs / "papers" / name, docs / name):
        if page.is_file():
            text = page.read_text(encoding="utf-8")
            first, *_ = re.findall(r"^1\. (.*?)(?=^2\. |\n\n)", text, re.S | re.M)
            source = Path(os.path.relpath(page, folder)).as_posix()
            more = f"[More, with protocol and decisions]({source})"
            return ["", f"{' '.join(first.split())} {more}"]
    return []


def _answers(
    names: Iterable[str], verdicts: pd.DataFrame, claims: pd.DataFrame
) -> dict[str, Answer]:
    """Return the answer on each figure and table that has numbers or claims."""
    verdicts, claims = (each.assign(source=RECORD) for each in (verdicts, claims))
    places = [artefacts_of_section(each, names) for each in claims["section"]]
    found = {
        name: answer(
            verdicts[verdicts["artefact"] == name],
            claims.loc[[name in place for place in places]],
        )
        for name in names
    }
    return {name: each for name, each in found.items() if each.sources}


def _said(found: Answer) -> str:
    return f"**{'; '.join(found.words)}.** {found.sentence}"


def _artefact_lines(name: str, kind: str, title: str, folder: Path) -> list[str]:
    """Return a figure, or the text of a table, and where their files are."""
    if kind == "figure":
        shown = f"![{title}]({name}.svg)"
        return [shown, "", f"[pdf]({name}.pdf) · [numbers]({name}.csv)"]
    page = (folder / f"{name}.md").read_text(encoding="utf-8").strip()
    shown = page.partition("\n\n")[2]  # without its heading
    links = f"[csv]({name}.csv) · [tex]({name}.tex) · [on a page of its own]({name}.md)"
    return [shown, "", links]


def _readings_lines(config: Paper, folder: Path) -> list[str]:
    """Return the section on other readings of the protocol, if any were published."""
    if not (folder / READING_SCORES).is_file():
        return []
    lines = ["", "## Other readings of the protocol", ""]
    lines.append(f"Their scores are in [{READING_SCORES}]({READING_SCORES}).")
    for kind, ending in (("table", "md"), ("figure", "svg")):
        for path in sorted(folder.glob(f"*.{ending}")):
            name = path.stem
            if name not in config.artefacts and name != "README":
                title = name.replace("_", " ").capitalize()
                if kind == "table":
                    heading, *_ = path.read_text(encoding="utf-8").splitlines()
                    title = heading.partition(": ")[2]
                lines += ["", f"### {title}", ""]
                lines += _artefact_lines(name, kind, title, folder)
    return lines


def seconds_per_repeat(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the seconds that a repeat of each method took on each data set."""
    keys = ["experiment", "dataset", "method"]
    of_repeats = seconds_of_cells(scores).groupby([*keys, "repeat"], sort=False).sum()
    mean = of_repeats.groupby(keys, sort=False).mean()
    return mean.map(lambda seconds: float(f"{seconds:.3g}")).reset_index(name="seconds")


def _add_seconds(path: Path, scores: pd.DataFrame) -> None:
    """Add what was not measured before; the rest stays, and with it the plan."""
    keys = ["experiment", "dataset", "method"]
    tables = [seconds_per_repeat(scores)]
    if path.is_file():
        tables.insert(0, pd.read_csv(path))
    write_table(path, pd.concat(tables).drop_duplicates(keys))


def _add_memory(path: Path, measured: Mapping[str, Path]) -> None:
    memory = measured_memory(path) | largest_memory(measured)
    if memory:
        table = pd.DataFrame(sorted(memory.items()), columns=["job", "megabytes"])
        write_table(path, table.astype({"megabytes": int}))


def _seconds_lines(config: Paper, scores: pd.DataFrame) -> list[str]:
    """Return core-seconds by experiment and by method.

    Those of a cell's first computation, on one core, without the reading of data. All
    points tried and the choice among them are in them, the scoring is not.
    """
    seconds = seconds_of_cells(scores).reset_index(name="seconds")
    titles = {name: each.title for name, each in config.experiments.items()}
    labels = {name: each.label for name, each in config.methods.items()}
    lines: list[str] = []
    for column, names in {"experiment": titles, "method": labels}.items():
        shown = seconds[column].map(names)
        totals = seconds["seconds"].groupby(shown, sort=False).sum()
        lines += [f"| {column} | core-seconds |", "|---|---|"]
        lines += [f"| {name} | {value:,.0f} |" for name, value in totals.items()]
        lines += [f"| all | {totals.sum():,.0f} |", ""]
    return lines[:-1]


def _index(figures: Path) -> str:
    lines = [
        "# Gallery",
        "",
        "Results of the last full run of the paper tier, one folder per paper, "
        "written by `make publish`. [Rules behind the verdicts](../docs/verdicts.md).",
    ]
    table = [
        "",
        "## Counts",
        "",
        "| paper | printed numbers | that our standard deviation would change "
        "| different, by readings "
        "| the paper's claims | claims of ours |",
        "|---|---|---|---|---|---|",
    ]
    # There are other folders than those of papers, such as that of benchmarks.
    for record in sorted(figures.glob("*/verdicts.csv")):
        folder = record.parent
        page = (folder / "README.md").read_text(encoding="utf-8")
        title = page.splitlines()[0].removeprefix("# ")
        verdicts, claims = (
            pd.read_csv(folder / f"{name}.csv", dtype=NAMES).assign(source=RECORD)
            for name in ("verdicts", "claims")
        )
        link = f"[{title}]({folder.name}/README.md)"
        moved = moved_text(own_numbers(verdicts))
        reach = published_counts(folder) or "–"
        found = [counts_of(shown_verdicts(each)) for each in by_author(claims).values()]
        counts = [counts_text(verdicts), moved, reach, *found]
        table.append(f"| {link} | {' | '.join(counts)} |")
        lines += ["", f"## {link}"]
        overall = answer(verdicts, claims)
        if overall.sources:
            lines += ["", f"**{overall.word}.** {overall.sentence}"]
        titles = dict(_TITLES.findall(page))
        answers = _answers(titles, verdicts, claims)
        lines += _pictures(folder, titles, answers)
        lines += _tables(folder, titles, answers)
    return "\n".join([*lines, *table]) + "\n"


def _pictures(
    folder: Path, titles: Mapping[str, str], answers: Mapping[str, Answer]
) -> list[str]:
    """Return thumbnails of a paper's figures, with the answer on each.

    The cells hold Markdown, whose links and pictures the site finds.
    """
    paths = sorted(folder.glob("figure_*.svg"), key=_order)
    names = [path.stem for path in paths if path.stem in titles]
    lines = []
    for k, name in enumerate(names):
        title = titles[name]
        image = f"![{title}]({folder.name}/{name}.svg)"
        # As git hosts and the site name the heading.
        heading = re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        row = ["</tr>", "<tr>"] if k and k % _A_ROW == 0 else []
        lines += [*row, '<td width="33%" valign="top">', "", title, ""]
        lines += [f"[{image}]({folder.name}/README.md#{heading})", ""]
        lines += [_said(answers[name]), ""] if name in answers else []
        lines += ["</td>"]
    return ["", "<table>", "<tr>", *lines, "</tr>", "</table>"] if lines else []


def _tables(
    folder: Path, titles: Mapping[str, str], answers: Mapping[str, Answer]
) -> list[str]:
    """Return one line of links to a paper's tables, with the answer on each."""
    links = [
        f"[{title}]({folder.name}/{name}.md)"
        + (f" ({'; '.join(answers[name].words).lower()})" if name in answers else "")
        for name, title in titles.items()
        if (folder / f"{name}.md").is_file()
    ]
    return ["", f"Tables: {'; '.join(links)}."] if links else []


def _order(path: Path) -> tuple[float, str]:
    """Return a key by which the figures of the paper come first, as it numbers them."""
    number = re.search(r"\d+", path.stem)
    return (int(number[0]) if number else math.inf, path.stem)


class NotPublishedError(Exception):
    """Arrays or numbers of a step were asked for, which only a run of the paper has."""


def rejudge(
    configs: Sequence[Paper], figures: Path, *, settings: Run, cores: int = 1
) -> None:
    """Write what follows from the published scores of papers anew; no data are read.

    These are the tables, the figures that show nothing but scores, ``verdicts.csv``,
    ``claims.csv``, ``statistics.csv`` and the galleries. Scores and overlaps stay,
    and figures and claims on arrays of fits or on the numbers of a step. Readings have
    scores of their own, and tables and figures alone follow from them.
    If anything changed, ``provenance.json`` gets ``judged``: the code and the
    configuration of what was computed from the scores. All else in it is of them.
    """
    mains = [config for config in configs if config.readings is None]
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder)
        parts = [(_judge_artefacts, config) for config in configs]
        parts += [(_judge_record, config) for config in mains]
        where = (figures, staged, settings)
        if cores == 1:
            for part, config in parts:
                part(config, *where)
        else:
            # Another start would run the script of the job again.
            with ProcessPoolExecutor(cores, mp_context=get_context("fork")) as pool:
                # The comparison is last of the papers, and takes longest.
                found = [pool.submit(f, config, *where) for f, config in parts[::-1]]
            for each in found:
                each.result()
        # Nothing is written before all has been judged.
        for config in mains:
            _note_changes(config, staged / config.paper.id, figures / config.paper.id)
        shutil.copytree(staged, figures, dirs_exist_ok=True)
    write_galleries(configs, figures)


def _note_changes(config: Paper, staged: Path, published: Path) -> None:
    """Say in the provenance what judged the record, if files of it have changed."""
    files = [path.name for path in staged.iterdir()]
    if filecmp.cmpfiles(staged, published, files, shallow=False)[0] != files:
        provenance = read_json(PublishedFolder(published).provenance)
        provenance |= {"judged": of_the_code(config)}
        write_json(PublishedFolder(staged).provenance, provenance)


def _judge_artefacts(config: Paper, figures: Path, staged: Path, settings: Run) -> None:
    """Write tables, figures of scores, and of main protocols the verdicts."""
    context = _published_context(config, figures, settings)
    made = PublishedFolder(staged / config.paper.id)
    verdicts = []
    for name, artefact in config.artefacts.items():
        if isinstance(artefact, StepTable):
            continue
        table, shown = printed(context, name)
        verdicts.append(shown.verdicts)
        if table is not None:
            write_table_files(made, name, table, config.paper)
            continue
        # A figure of what is not published stays as it is.
        with suppress(NotPublishedError):
            write_figure_files(made, name, *drawn(name, _of_scores(context)))
    if config.readings is None:
        filled = [each for each in verdicts if len(each)] or verdicts[:1]
        table_of_all = pd.concat(filled, ignore_index=True)
        write_table(made.verdicts, table_of_all, digits=DERIVED_DIGITS)


def _judge_record(config: Paper, figures: Path, staged: Path, settings: Run) -> None:
    """Write claims and statistics."""
    context = _published_context(config, figures, settings)
    made = PublishedFolder(staged / config.paper.id)
    claims = published_claims(context, PublishedFolder(figures / config.paper.id))
    statistics = statistics_table(context, seed=settings.seed)
    write_claims(made, claims)
    write_table(made.statistics, statistics, digits=DERIVED_DIGITS)


def _published_context(config: Paper, figures: Path, settings: Run) -> Context:
    published = PublishedFolder(figures / config.paper.id, config.readings is not None)
    provenance = read_json(published.provenance)
    check_settings(provenance, tier=settings.tier, seed=settings.seed)
    return recorded_context(config, figures)


def _of_scores(context: Context) -> Context:
    """Return a context that refuses what is not published, and says nothing of gaps."""
    return replace(context, arrays=_NotPublished(), steps=_NotPublished())


class _NotPublished(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise NotPublishedError(key)

    def __iter__(self) -> Iterator[str]:
        raise NotPublishedError

    def __len__(self) -> int:
        raise NotPublishedError
