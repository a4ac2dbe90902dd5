"""``mtmkl list``: papers, experiments, methods, artefacts, metrics, data sets."""

import argparse
import inspect
from collections.abc import Iterator
from typing import Any

from mtmkl.methods import REGISTRY
from mtmkl_suite.cli.common import print_table
from mtmkl_suite.config.load import load_paper, load_run_config, published_papers
from mtmkl_suite.config.models import Paper, Tier
from mtmkl_suite.data import default_registry
from mtmkl_suite.metrics import METRICS

Rows = Iterator[dict[str, Any]]


def add_arguments(listing: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    kinds = listing.add_subparsers(required=True, metavar="KIND")
    for name, rows, text in (
        ("papers", _papers, "papers, and whether their record is published"),
        ("experiments", _experiments, "experiments with data, protocol and repeats"),
        ("methods", _methods, "methods, and how each paper configures them"),
        ("artefacts", _artefacts, "figures and tables"),
        ("metrics", _metrics, "metrics, and their requirements"),
        ("datasets", _datasets, "data sets, and the place where each was found"),
    ):
        kind = kinds.add_parser(name, help=text)
        if name in ("experiments", "methods", "artefacts"):
            only = "limit the list to this paper"
            kind.add_argument("--paper", metavar="PAPER", help=argparse.SUPPRESS)
            kind.add_argument("paper", nargs="?", default=argparse.SUPPRESS, help=only)
        else:
            kind.set_defaults(paper=None)
        width = 100 if name == "artefacts" else None
        kind.set_defaults(run=_list, rows=rows, width=width)


def _list(parsed: argparse.Namespace) -> int:
    print_table(parsed.rows(parsed.paper), width=parsed.width)
    return 0


def _configs(paper: str | None, tier: Tier = "paper") -> Iterator[Paper]:
    for name in [paper] if paper else load_run_config().papers:
        yield load_paper(name, tier)


def _papers(paper: str | None) -> Rows:
    published = published_papers()
    for config in _configs(paper):
        cited = config.paper
        yield {
            "name": cited.id,
            "record": "published" if cited.id in published else "none",
            "experiments": len(config.experiments),
            "artefacts": len(config.artefacts),
            "claims": len(config.claims),
            "title": f"{cited.authors} ({cited.year}): {cited.title}",
        }


def _experiments(paper: str | None) -> Rows:
    for config, quick in zip(_configs(paper), _configs(paper, "quick"), strict=True):
        for name in {**config.experiments, **quick.experiments}:
            own = [each for each in (quick, config) if name in each.experiments]
            experiment = own[-1].experiments[name]
            repeats = [f"{each.n_repeats(name)} {each.tier}" for each in own]
            protocol = config.protocols[experiment.protocol]
            yield {
                "name": name,
                "paper": config.paper.id,
                "data set": experiment.datasets.name,
                "protocol": protocol.kind.replace("_", " "),
                "repeats": ", ".join(repeats),
                "methods": len(experiment.methods),
                "title": experiment.title,
            }


def _methods(paper: str | None) -> Rows:
    used: dict[str, list[str]] = {}
    for config in _configs(paper):
        for name, method in config.methods.items():
            place = f"{config.paper.id}: {name}"
            used.setdefault(method.class_name, []).append(place)
    for name in sorted({*used, *([] if paper else REGISTRY)}):
        yield {
            "name": name,
            "learns": _first_line(REGISTRY.get(name)),
            "configured as": "; ".join(used.get(name, [])),
        }


def _metrics(_: None) -> Rows:
    for name, found in METRICS.items():
        needs = ["labels −1 and +1"] if found.labels else []
        needs += [f"{found.truth!r} of the truth"] if found.truth else []
        yield {
            "name": name,
            "better": found.better or "neither",
            "needs": ", ".join(needs),
            "measures": _first_line(found.function),
        }


def _first_line(found: object) -> str:
    """Return the first line of a docstring, "" for None."""
    text = "" if found is None else inspect.getdoc(found)
    return (text or "").partition("\n")[0]


def _artefacts(paper: str | None) -> Rows:
    for config in _configs(paper):
        for name, artefact in config.artefacts.items():
            yield {
                "name": name,
                "paper": config.paper.id,
                "experiments": len(artefact.shown),
                "title": artefact.title,
            }


def _datasets(_: None) -> Rows:
    registry = default_registry()
    for entry in map(registry.__getitem__, registry):
        size = sum(file.bytes for file in entry.files)
        yield {
            "name": entry.name,
            "where": registry.locate(entry.name) or "missing",
            "MB": f"{size / 1e6:.1f}" if size else "",
            "origin": entry.origin,
            "title": entry.title,
        }
