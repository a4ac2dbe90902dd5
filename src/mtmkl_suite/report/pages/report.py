"""The report: a first page, and one for each paper, method and data set."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mtmkl.files import write_text
from mtmkl.statistics.pairs import FEW_UNITS, LEVEL, MIN_UNITS
from mtmkl_suite.config.models import Paper
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.report.pages.documentation import page_name
from mtmkl_suite.report.pages.experiments import title_of
from mtmkl_suite.report.pages.methods import problem_in_words, totals
from mtmkl_suite.report.pages.paper import PaperResult, load_paper_result
from mtmkl_suite.report.pages.rendering import environment
from mtmkl_suite.report.pages.summary import program
from mtmkl_suite.report.pages.verdicts import MOSTLY, PARTLY, claim_tests_of
from mtmkl_suite.report.record.record import RECORD
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
    methods = _by(lambda use: use.class_name, [paper.methods for paper in papers])
    datasets = _by(lambda use: use.variant.name, [paper.datasets for paper in papers])
    datasets = dict(sorted(datasets.items(), key=lambda d: title_of(d[1]).lower()))
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
    pages["provenance.html"] = show("provenance")
    if shared["has_errata"]:
        pages["errata.html"] = show("errata")
    return pages


def write_report(configs: Sequence[Paper], run: RunFolder, *, tier: str) -> None:
    """Write the report on the papers of a run."""
    papers = [
        load_paper_result(config, run.paper(config.paper.id)) for config in configs
    ]
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


def _renderer(shared: Mapping[str, Any]) -> Callable[..., str]:
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
