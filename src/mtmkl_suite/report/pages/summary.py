"""Summary at the end of a run."""

import sys
from collections.abc import Iterable
from pathlib import Path

from mtmkl_suite.config.models import Paper
from mtmkl_suite.files import read_table
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.claims import counts_of
from mtmkl_suite.report.context import load_context
from mtmkl_suite.report.figures.main_claims import main_answer
from mtmkl_suite.report.record import published_record
from mtmkl_suite.report.tables.standing import standings
from mtmkl_suite.run.fits import counted_warnings
from mtmkl_suite.run.folders import PaperFolder, RunFolder
from mtmkl_suite.run.pipeline import missing_data

_BEST = 5
"""Methods shown at the end of a run."""


def closing_summary(configs: Iterable[Paper], run: RunFolder) -> str:
    """Return verdicts and claims by paper, missing data, warnings, the report.

    Of a run of parts, and of methods or data of one's own, the best methods too; of
    changed settings, no verdicts; of a whole paper, the record's main claim.
    """
    lines = []
    missing: dict[str, str] = {}
    for config in configs:
        paper = config.paper
        folder = run.paper(paper.id)
        lines += ["", f"{paper.title} ({paper.authors}, {paper.year})"]
        is_part = config.own is not None or bool(config.parts)
        best = _best_methods(config, folder) if is_part else []
        counted = {
            "published numbers": verdict_rule.counts_text(read_table(folder.verdicts)),
            "sentences": counts_of(read_table(folder.claims)["verdict"]),
        }
        lines += best if is_part else _main_claim(config)
        lines += [
            f"  {title + ':':<20}{text}"
            for title, text in counted.items()
            if not (config.changes or text == "none")
        ]
        lines += [f"  {line}" for line in config.remarks]
        shown = {name: config.artefacts.get(name) for name in config.parts}
        for name, artefact in shown.items():
            if artefact is not None:
                ending = "png" if artefact.kind == "figure" else "md"
                lines.append(f"  {name}: {folder.artefact(name, ending).resolve()}")
        missing |= missing_data(config, folder)
    lines.append("")
    if missing:
        names = " ".join(sorted(missing))
        lines += [
            f"Missing data: {names.replace(' ', ', ')}",
            f"  Download them:  {program()} datasets fetch {names}",
            "  or set MTMKL_DATA_MIRROR to a folder that holds them; then run again.",
            "",
        ]
    if warned := counted_warnings(sorted(run.logs.rglob("*.log"))):
        lines += [*warned, f"All warnings: {run.logs}", ""]
    lines.append(f"Report: {run.report.resolve().as_uri()}")
    return "\n".join(lines)


def _main_claim(config: Paper) -> list[str]:
    """Return what the published record says of the main claim of a paper."""
    record = published_record(config) if config.main_claim else None
    if record is None:
        return []
    main = main_answer(record.context, record.claims, record.claim_settings)
    if main is None:
        return []
    return [f"  {main.main.says}", f"    In the record: {main.words}."]


def _best_methods(config: Paper, folder: PaperFolder) -> list[str]:
    """Return where the methods of a run stand, over all experiments or in the first."""
    context = load_context(config, folder)
    found = standings(context, read_table(folder.statistics))
    if not found:
        return []
    first, table = found[0], found[0].table
    others = [table.rows[k] for k in first.own if k >= _BEST]
    lines = [table.header, *table.rows[:_BEST], *others]
    best = [[line[k] for k in first.brief] for line in lines]
    widths = [max(map(len, column)) for column in zip(*best, strict=True)]
    return [
        *(f"  {sentence}" for sentence in first.sentences),
        *("    " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in best),
    ]


def program() -> str:
    """Return how to call ``mtmkl`` from here."""
    command = Path(sys.executable).with_name("mtmkl")
    if command.is_relative_to(Path.cwd()):
        return str(command.relative_to(Path.cwd()))
    return str(command) if command.is_file() else "mtmkl"
