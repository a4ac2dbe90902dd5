"""``mtmkl datasets``: fetch and verify data sets."""

import argparse

from mtmkl.datasets import default_registry
from mtmkl_suite.cli.printing import print_table


def add_arguments(datasets: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    actions = datasets.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "fetch", help="download what neither the mirror nor the cache has"
    )
    action.add_argument("names", nargs="+", metavar="NAME")
    action.set_defaults(run=_fetch)
    action = actions.add_parser("verify", help="check the hash of every available file")
    action.add_argument("names", nargs="*", metavar="NAME")
    action.set_defaults(run=_verify)


def _fetch(parsed: argparse.Namespace) -> int:
    print_table(default_registry().fetch(parsed.names))
    return 0


def _verify(parsed: argparse.Namespace) -> int:
    rows = default_registry().verify(parsed.names or None)
    print_table(rows)
    return int(any(row["status"] == "corrupt" for row in rows))
