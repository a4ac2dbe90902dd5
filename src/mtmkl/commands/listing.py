"""``mtmkl list``: what there is."""

import argparse
from typing import Any

from mtmkl.commands.printing import print_table


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of ``mtmkl``."""
    listing = commands.add_parser("list", help="list what there is")
    kinds = listing.add_subparsers(required=True, metavar="KIND")
    kind = kinds.add_parser("datasets", help="data sets, and where each was found")
    kind.set_defaults(run=_datasets)


def _datasets(parsed: argparse.Namespace) -> int:
    from mtmkl.datasets import default_registry

    registry = default_registry()
    rows: list[dict[str, object]] = []
    for entry in map(registry.__getitem__, registry):
        size = sum(file.size for file in entry.files)
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
