"""``mtmkl run``: run experiments without Snakemake."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from mtmkl.config import TIERS


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of ``mtmkl``."""
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
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="KEY=VALUE",
        help="another value of a key of config/config.yaml or of the paper's files, "
        "such as seed=7 or protocols.digits_random.train_samples=50 (may be repeated)",
    )
    run.add_argument(
        "--repeats",
        type=_positive,
        metavar="N",
        help="of every experiment (default: as configured)",
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
    run.set_defaults(
        run=_run,
        when_stopped="; finished cells are kept: run the same command to resume",
    )


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


def _run(parsed: argparse.Namespace) -> int:
    from mtmkl.runner import run_paper

    done = run_paper(
        parsed.paper,
        tier=parsed.tier,
        experiments=parsed.experiment,
        methods=parsed.method,
        grid=parsed.grid,
        readings=False if parsed.readings is None else (parsed.readings or True),
        settings=parsed.settings,
        repeats=parsed.repeats,
        cores=parsed.cores,
        results=parsed.results,
    )
    for line in (*done.failures, *done.missing):
        print(f"mtmkl: {line}", file=sys.stderr)
    if done.failures:
        print(f"mtmkl: tracebacks: {done.logs}", file=sys.stderr)
    print(f"Report: {done.report.resolve().as_uri()}")
    return int(bool(done.failures or (parsed.experiment and done.missing)))
