"""``mtmkl datasets``: fetch and verify data sets."""

import argparse

from mtmkl_suite.cli.common import print_table
from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.fetch.small import fetch_small
from mtmkl_suite.run.pipeline import use_mirror


def add_arguments(datasets: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    actions = datasets.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "fetch", help="download what neither the mirror nor the cache has"
    )
    which = action.add_mutually_exclusive_group(required=True)
    which.add_argument("names", nargs="*", default=[], metavar="NAME")
    which.add_argument(
        "--small",
        action="store_true",
        help="all sets below 5 MB, within 15 seconds, unless config/config.yaml "
        "says otherwise; sets that cannot be reached are skipped",
    )
    action.set_defaults(run=_fetch)
    action = actions.add_parser("verify", help="check the hash of every available file")
    action.add_argument("names", nargs="*", metavar="NAME")
    action.set_defaults(run=_verify)


def _fetch(parsed: argparse.Namespace) -> int:
    if not parsed.small:
        print_table(default_registry().fetch(parsed.names))
    elif (run := load_run_config()).download == "small":
        use_mirror(run.mirror)
        fetch_small()
    return 0


def _verify(parsed: argparse.Namespace) -> int:
    rows = default_registry().verify(parsed.names or None)
    if not rows:
        print("No files to check: these data are built in, or generated")
    print_table(rows)
    return int(any(row["status"] == "corrupt" for row in rows))
