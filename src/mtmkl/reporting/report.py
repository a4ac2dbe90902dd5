"""The report: one self-contained HTML page for all papers of a run."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl.files import write_text
from mtmkl.layout import RunFolder
from mtmkl.reporting.numbers import DASH, p_text
from mtmkl.reporting.overview import MOSTLY, PARTLY
from mtmkl.reporting.paper_result import PaperResult, load_paper_result
from mtmkl.reporting.published_record import RECORD
from mtmkl.reporting.summary import program
from mtmkl.statistics import claims as claim_tests
from mtmkl.statistics import verdicts as verdict_rule
from mtmkl.statistics.pairs import FEW_UNITS, MIN_UNITS


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
        "number": _number,
        "p_value": p_text,
        "share": _share,
        "counted": _counted,
    }
    page = environment.get_template("report.html.j2").render(
        papers=papers,
        tier=tier,
        changes=changes or {},
        is_judged=tier == "paper" and not changes,
        verdict_names=verdict_rule.VERDICTS,
        claim_names=claim_tests.VERDICTS,
        not_judged=verdict_rule.NOT_JUDGED,
        record=RECORD,
        mostly=MOSTLY,
        partly=PARTLY,
        missing=sorted({name for paper in papers for name in paper.missing}),
        program=program(),
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


def _counted(found: Mapping[str, int]) -> str:
    """Say how often each verdict occurs that does."""
    return ", ".join(f"{name} {n}" for name, n in found.items() if n) or "none"


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z]+", text.lower()))


def _number(value: float) -> str:
    if math.isnan(value):
        return DASH
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def _share(value: float) -> str:
    return DASH if math.isnan(value) else f"{value:.2f}"
