"""The report: a first page, and one for each paper, method and data set."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl.files import write_text
from mtmkl.statistics.pairs import FEW_UNITS, LEVEL, MIN_UNITS
from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.report.pages.addresses import page_name
from mtmkl_suite.report.pages.data_uses import DataUse, title_of
from mtmkl_suite.report.pages.experiment_facts import duration
from mtmkl_suite.report.pages.fault_table import fault_rows
from mtmkl_suite.report.pages.method_uses import MethodUse, problem_in_words, totals
from mtmkl_suite.report.pages.overview import MOSTLY, PARTLY
from mtmkl_suite.report.pages.paper_result import PaperResult, load_paper_result
from mtmkl_suite.report.pages.summary import program
from mtmkl_suite.report.record.published_record import RECORD
from mtmkl_suite.report.tables.decision_rules import claim_tests_of
from mtmkl_suite.report.tables.numbers import DASH, is_number, p_text, with_minus
from mtmkl_suite.run.folders import RunFolder

FIRST = "report.html"
"""The name of the first page."""


def render_report(
    papers: Sequence[PaperResult],
    *,
    tier: str,
    changes: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Return the pages of the report, each of which loads nothing."""
    methods, datasets = _by_method(papers), _by_name(papers)
    documentation = papers[0].documentation
    shared = {
        "papers": papers,
        "methods": methods,
        "datasets": {name: title_of(uses) for name, uses in datasets.items()},
        "documentation": documentation,
        "has_errata": any(paper.errata for paper in papers),
        "tier": tier,
        "changes": changes or {},
        "is_judged": tier == "paper" and not changes,
        "verdict_names": verdict_rule.VERDICTS,
        "claim_names": claim_tests.VERDICTS,
        "not_judged": verdict_rule.NOT_JUDGED,
        "record": RECORD,
        "mostly": MOSTLY,
        "partly": PARTLY,
        "level": LEVEL,
        "min_units": MIN_UNITS,
        "few_units": FEW_UNITS,
    }
    show = _renderer(shared)
    pages = {
        FIRST: show(
            "first",
            missing=sorted({name for paper in papers for name in paper.missing}),
            program=program(),
        )
    }
    for paper in papers:
        pages[page_name("paper", paper.id)] = show("paper", paper=paper)
    for name, uses in methods.items():
        pages[page_name("method", name)] = show(
            "method",
            name=name,
            uses=uses,
            totals=totals(uses),
            problem=problem_in_words(name),
            address=documentation.method(name),
        )
    for data, data_uses in datasets.items():
        pages[page_name("data", data)] = show(
            "dataset", name=data, title=title_of(data_uses), uses=data_uses
        )
    found = claim_tests_of(paper.claims for paper in papers)
    pages["statistics.html"] = show("statistics", claim_tests=found)
    pages["provenance.html"] = show("provenance", faults=fault_rows())
    if shared["has_errata"]:
        pages["errata.html"] = show("errata")
    return pages


def write_report(
    configs: Sequence[Mapping[str, Any]], run: RunFolder, *, tier: str
) -> None:
    """Write the report on the papers of a run."""
    papers = [
        load_paper_result(config, run.paper(config["paper"]["id"]))
        for config in configs
    ]
    changes = {k: v for config in configs for k, v in config.get("changes", {}).items()}
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


def _renderer(shared: Mapping[str, Any]) -> Callable[..., str]:
    """Return the function that fills a template."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
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
        "percent": _percent,
        "counted": _counted,
        "duration": duration,
        "with_minus": with_minus,
    }
    environment.tests["a_number"] = is_number
    environment.globals |= {"page_name": page_name, **shared}

    def show(template: str, **values: Any) -> str:
        is_first = template == "first"
        page = environment.get_template(f"{template}.html.j2").render(
            is_first=is_first,
            # Of another page, and of what lies beside the report.
            page=lambda name: f"report/{name}" if is_first else name,
            beside=lambda found: found.removeprefix("../") if is_first else found,
            **values,
        )
        return page if page.endswith("\n") else page + "\n"

    return show


def _by_method(papers: Sequence[PaperResult]) -> dict[str, list[MethodUse]]:
    found = defaultdict(list)
    for paper in papers:
        for use in paper.methods:
            found[use.class_name].append(use)
    return dict(sorted(found.items()))


def _by_name(papers: Sequence[PaperResult]) -> dict[str, list[DataUse]]:
    found = defaultdict(list)
    for paper in papers:
        for use in paper.datasets:
            found[use.name].append(use)
    return dict(sorted(found.items(), key=lambda item: title_of(item[1]).lower()))


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


def _percent(value: float) -> str:
    return DASH if math.isnan(value) else f"{100 * value:.3g} %"
