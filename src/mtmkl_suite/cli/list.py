"""``mtmkl list``: papers, experiments, methods, artefacts, metrics, data sets."""

import argparse
import inspect
from collections.abc import Iterator

from mtmkl.methods import REGISTRY
from mtmkl_suite.cli.printing import print_table
from mtmkl_suite.config.against import published_papers
from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import Paper, Tier
from mtmkl_suite.data import default_registry
from mtmkl_suite.metrics import METRICS


def add_arguments(listing: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    kinds = listing.add_subparsers(required=True, metavar="KIND")
    kind = kinds.add_parser(
        "papers", help="papers, and whether their record is published"
    )
    kind.set_defaults(run=_papers)
    for name, run, text in (
        ("experiments", _experiments, "experiments with data, protocol and repeats"),
        ("methods", _methods, "methods, and how each paper configures them"),
        ("artefacts", _artefacts, "figures and tables"),
    ):
        kind = kinds.add_parser(name, help=text)
        only = "limit the list to this paper"
        kind.add_argument("--paper", metavar="PAPER", help=argparse.SUPPRESS)
        kind.add_argument("paper", nargs="?", default=argparse.SUPPRESS, help=only)
        kind.set_defaults(run=run)
    kind = kinds.add_parser("metrics", help="metrics, and their requirements")
    kind.set_defaults(run=_metrics)
    kind = kinds.add_parser(
        "datasets", help="data sets, and the place where each was found"
    )
    kind.set_defaults(run=_datasets)


def _configs(paper: str | None, tier: Tier = "paper") -> Iterator[Paper]:
    for name in [paper] if paper else load_run_config().papers:
        yield load_paper(name, tier)


def _papers(parsed: argparse.Namespace) -> int:
    published = published_papers()
    rows: list[dict[str, object]] = []
    for config in _configs(None):
        paper = config.paper
        rows.append(
            {
                "name": paper.id,
                "record": "published" if paper.id in published else "none",
                "experiments": len(config.experiments),
                "artefacts": len(config.artefacts),
                "claims": len(config.claims),
                "title": f"{paper.authors} ({paper.year}): {paper.title}",
            }
        )
    print_table(rows)
    return 0


def _experiments(parsed: argparse.Namespace) -> int:
    rows: list[dict[str, object]] = []
    for config, quick in zip(
        _configs(parsed.paper), _configs(parsed.paper, "quick"), strict=True
    ):
        for name in {**config.experiments, **quick.experiments}:
            own = [each for each in (quick, config) if name in each.experiments]
            experiment = own[-1].experiments[name]
            protocol = config.protocols[experiment.protocol]
            rows.append(
                {
                    "name": name,
                    "paper": config.paper.id,
                    "data set": experiment.datasets.name,
                    "protocol": protocol.kind.replace("_", " "),
                    "repeats": ", ".join(
                        f"{each.n_repeats(name)} {each.tier}" for each in own
                    ),
                    "methods": len(experiment.methods),
                    "title": experiment.title,
                }
            )
    print_table(rows)
    return 0


def _methods(parsed: argparse.Namespace) -> int:
    used: dict[str, list[str]] = {}
    for config in _configs(parsed.paper):
        for name, method in config.methods.items():
            place = f"{config.paper.id}: {name}"
            used.setdefault(method.class_name, []).append(place)
    rows: list[dict[str, object]] = []
    for name in sorted({*used, *([] if parsed.paper else REGISTRY)}):
        found = REGISTRY.get(name)
        rows.append(
            {
                "name": name,
                "learns": _first_line(found),
                "configured as": "; ".join(used.get(name, [])),
            }
        )
    print_table(rows)
    return 0


def _metrics(parsed: argparse.Namespace) -> int:
    rows: list[dict[str, object]] = []
    for name, found in METRICS.items():
        needs = ["labels −1 and +1"] if found.labels else []
        needs += [f"{found.truth!r} of the truth"] if found.truth else []
        rows.append(
            {
                "name": name,
                "better": found.better or "neither",
                "needs": ", ".join(needs),
                "measures": _first_line(found.function),
            }
        )
    print_table(rows)
    return 0


def _first_line(found: object) -> str:
    """Return the first line of a docstring, "" for None."""
    text = "" if found is None else inspect.getdoc(found)
    return (text or "").partition("\n")[0]


def _artefacts(parsed: argparse.Namespace) -> int:
    print_table(
        [
            {
                "name": name,
                "paper": config.paper.id,
                "experiments": len(artefact.shown),
                "title": artefact.title,
            }
            for config in _configs(parsed.paper)
            for name, artefact in config.artefacts.items()
        ],
        width=100,
    )
    return 0


def _datasets(parsed: argparse.Namespace) -> int:
    registry = default_registry()
    rows: list[dict[str, object]] = []
    for entry in map(registry.__getitem__, registry):
        size = sum(file.bytes for file in entry.files)
        rows.append(
            {
                "name": entry.name,
                "where": registry.locate(entry.name) or "missing",
                "MB": f"{size / 1e6:.1f}" if size else "",
                "origin": entry.origin,
                "title": entry.title,
            }
        )
    print_table(rows)
    return 0
