"""The ``mtmkl`` command: manage data sets, and run experiments without Snakemake."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from mtmkl import __version__
from mtmkl.config import TIERS, ConfigError

_WIDTH_OF_A_FILE = 400


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str or None
        Words after ``mtmkl``; None takes them from the command line.

    Returns
    -------
    int
        0 for success; 1 if something was refused or is damaged, a method failed, or
        the data of a requested experiment are missing; 130 if interrupted.
    """
    parsed = _parser().parse_args(arguments)
    from mtmkl.datasets import DataCorruptError, DataNotAvailableError
    from mtmkl.runs import ResultsInUseError

    try:
        return int(parsed.run(parsed))
    except (
        ConfigError,
        DataCorruptError,
        DataNotAvailableError,
        ResultsInUseError,
        LookupError,
        ValueError,
        ImportError,
    ) as error:
        message = error.args[0] if error.args else error
        print(f"mtmkl: {message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        message = "mtmkl: stopped"
        if parsed.run is _run_paper:
            message += "; finished cells are kept: run the same command to resume"
        print(message, file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mtmkl", description=__doc__)
    parser.add_argument("--version", action="version", version=f"mtmkl {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    datasets = commands.add_parser("datasets", help="list, fetch or verify data sets")
    actions = datasets.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "list", help="list every data set and where it was found"
    )
    action.set_defaults(run=_list_datasets)
    action = actions.add_parser(
        "fetch", help="download what neither the mirror nor the cache has"
    )
    action.add_argument("names", nargs="+", metavar="NAME")
    action.set_defaults(run=_fetch_datasets)
    action = actions.add_parser("verify", help="check the hash of every available file")
    action.add_argument("names", nargs="*", metavar="NAME")
    action.set_defaults(run=_verify_datasets)

    audit = commands.add_parser(
        "audit",
        help="recompute a paper's printed ranks and tests from its printed accuracies",
    )
    audit.add_argument("paper", help="folder in config/papers")
    audit.set_defaults(run=_audit_paper)

    run = commands.add_parser(
        "run", help="run a paper's experiments, tables, figures and report"
    )
    run.add_argument(
        "--paper",
        required=True,
        help="folder in config/papers, or the path of a folder",
    )
    run.add_argument(
        "--experiment",
        action="append",
        metavar="NAME",
        help="only this one (may be repeated)",
    )
    run.add_argument(
        "--method",
        action="append",
        default=[],
        metavar="NAME",
        help="add a configured method, or package.module:Class, to the experiments",
    )
    run.add_argument(
        "--grid",
        type=_json_object,
        metavar="JSON",
        help='values to choose from for each --method: {"gamma": [1, 10]}',
    )
    run.add_argument(
        "--readings",
        nargs="*",
        metavar="FACTOR",
        help="run other readings of the protocol in place of the experiments: all, or "
        "those of these factors",
    )
    run.add_argument(
        "--tier",
        choices=TIERS,
        default="quick",
        help="how much to run (default: quick)",
    )
    run.add_argument(
        "--cores", type=_positive, default=1, help="processes to use (default: 1)"
    )
    run.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        help="folder for the results (default: results)",
    )
    run.set_defaults(run=_run_paper)
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _json_object(text: str) -> dict[str, list[object]]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(value, dict) or not all(
        isinstance(v, list) and v for v in value.values()
    ):
        raise argparse.ArgumentTypeError(
            'not an object of non-empty lists, such as {"gamma": [1, 10]}'
        )
    return value


def _list_datasets(parsed: argparse.Namespace) -> int:
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
    _print_table(rows)
    return 0


def _fetch_datasets(parsed: argparse.Namespace) -> int:
    from mtmkl.datasets import default_registry

    _print_table(default_registry().fetch(parsed.names))
    return 0


def _verify_datasets(parsed: argparse.Namespace) -> int:
    from mtmkl.datasets import default_registry

    rows = default_registry().verify(parsed.names or None)
    _print_table(rows)
    return int(any(row["status"] == "corrupt" for row in rows))


def _print_table(rows: Sequence[dict[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in rows[0] if rows else ():
        table.add_column(name, overflow="fold", no_wrap=name == "name")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console = Console()
    if not console.is_terminal:
        # A file or a pipe has no width to fit into.
        console = Console(width=_WIDTH_OF_A_FILE)
    console.print(table)


def _audit_paper(parsed: argparse.Namespace) -> int:
    from mtmkl.config import config_dir
    from mtmkl.statistics.audit import (
        AuditError,
        audit,
        audit_text,
        auditable_papers,
        read_comparisons,
    )

    papers = config_dir() / "papers"
    try:
        comparisons = read_comparisons(papers / parsed.paper / "published")
    except AuditError as error:
        known = ", ".join(auditable_papers(papers))
        raise AuditError(
            f"paper {parsed.paper!r}: {error}; papers that can be audited: {known}"
        ) from error
    for printed in comparisons:
        found = audit(printed)
        print("\n".join(audit_text(found)))
        _print_table(
            [
                {
                    str(name): value if isinstance(value, str) else f"{value:.4g}"
                    for name, value in row.items()
                }
                for row in found.differences.to_dict("records")
            ]
        )
    return 0


def _run_paper(parsed: argparse.Namespace) -> int:
    from mtmkl.runner import run_paper

    done = run_paper(
        parsed.paper,
        tier=parsed.tier,
        experiments=parsed.experiment,
        methods=parsed.method,
        grid=parsed.grid,
        readings=False if parsed.readings is None else (parsed.readings or True),
        cores=parsed.cores,
        results=parsed.results,
    )
    for line in (*done.failures, *done.missing):
        print(f"mtmkl: {line}", file=sys.stderr)
    if done.failures:
        print(f"mtmkl: tracebacks: {done.logs}", file=sys.stderr)
    print(f"Report: {done.report.resolve().as_uri()}")
    return int(bool(done.failures or (parsed.experiment and done.missing)))


if __name__ == "__main__":
    sys.exit(main())
