"""``mtmkl run``: run experiments without Snakemake."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl.errors import ConfigError
from mtmkl_suite.config import TIERS

if TYPE_CHECKING:
    from mtmkl_suite.run.runner import Finished

_OF_DATA = ("task", "target", "ignore", "min_examples", "outputs", "methods")
_OF_PAPERS = ("experiment", "artefact", "readings", "against")


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of ``mtmkl``."""
    run = commands.add_parser(
        "run", help="run a paper's experiments, tables, figures and report"
    )
    what = run.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--paper", help="folder in config/papers, or the path of a folder"
    )
    what.add_argument(
        "--data",
        metavar="FILE",
        help="your own data: .csv, .tsv, .parquet or .npz with columns for task and "
        "target, or package.module:function",
    )
    run.add_argument(
        "--experiment",
        action="append",
        metavar="NAME",
        help="only this one (may be repeated)",
    )
    run.add_argument(
        "--artefact",
        action="append",
        metavar="NAME",
        help="only this figure or table, and the experiments that it needs (may be "
        "repeated; mtmkl list artefacts)",
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
        "--against",
        choices=("published",),
        help="fit only the methods of --method, on the splits of the paper's published "
        "record, and compare them with its scores",
    )
    own = run.add_argument_group("with --data")
    own.add_argument("--task", metavar="COLUMN", help="whose values are the tasks")
    own.add_argument("--target", metavar="COLUMN", help="what is to be predicted")
    own.add_argument(
        "--ignore",
        action="append",
        metavar="COLUMN",
        help="is no input (may be repeated)",
    )
    own.add_argument(
        "--min-examples",
        type=_positive,
        metavar="N",
        help="leave out tasks with fewer examples",
    )
    own.add_argument(
        "--outputs",
        choices=("labels", "numbers"),
        help="of the target (default: labels, if it has two values)",
    )
    own.add_argument(
        "--methods",
        nargs="+",
        metavar="NAME",
        help="all, or names in config/own_data/experiments.yaml (default: all)",
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
    done = _run_data(parsed) if parsed.data is not None else _run_paper(parsed)
    for line in (*done.failures, *done.missing):
        print(f"mtmkl: {line}", file=sys.stderr)
    if done.failures:
        print(f"mtmkl: tracebacks: {done.logs}", file=sys.stderr)
    for line in done.warnings:
        print(f"mtmkl: {line}", file=sys.stderr)
    if done.warnings:
        print(f"mtmkl: all warnings: {done.logs}", file=sys.stderr)
    print(f"Report: {done.report.resolve().as_uri()}")
    is_asked_for = parsed.experiment or parsed.artefact
    return int(bool(done.failures or (is_asked_for and done.missing)))


def _run_paper(parsed: argparse.Namespace) -> "Finished":
    from mtmkl_suite.run.runner import run_against_record, run_paper

    for name in _OF_DATA:
        if getattr(parsed, name) is not None:
            option = "--" + name.replace("_", "-")
            raise ConfigError(f"{option} is for --data; a paper's data are configured")
    if parsed.artefact and parsed.experiment:
        raise ConfigError(
            "--artefact runs the experiments that it needs: leave out --experiment"
        )
    if parsed.artefact and parsed.against:
        raise ConfigError(
            "--against published shows the tables that compare methods: leave out "
            "--artefact"
        )
    if parsed.against is not None:
        if parsed.tier == "quick" or parsed.readings is not None:
            raise ConfigError(
                "--against published is of the paper tier and of the main protocol: "
                "leave out --tier and --readings; --repeats 2 makes it quick"
            )
        return run_against_record(
            parsed.paper,
            experiments=parsed.experiment,
            **_of_every_run(parsed),
        )
    return run_paper(
        parsed.paper,
        tier=parsed.tier or "quick",
        experiments=parsed.experiment,
        artefacts=parsed.artefact,
        readings=False if parsed.readings is None else (parsed.readings or True),
        **_of_every_run(parsed),
    )


def _run_data(parsed: argparse.Namespace) -> "Finished":
    from mtmkl_suite.run.runner import run_own_data

    for name in _OF_PAPERS:
        if getattr(parsed, name) is not None:
            raise ConfigError(f"--{name} is for --paper, not for data of your own")
    named = {name: getattr(parsed, name) for name in _OF_DATA if name != "methods"}
    options = {name: value for name, value in named.items() if value is not None}
    only = parsed.methods or []
    return run_own_data(
        parsed.data,
        options=options,
        only=[] if only == ["all"] else only,
        tier=parsed.tier or "quick",
        **_of_every_run(parsed),
    )


def _of_every_run(parsed: argparse.Namespace) -> dict[str, Any]:
    return {
        "methods": parsed.method,
        "grid": parsed.grid,
        "settings": parsed.settings,
        "repeats": parsed.repeats,
        "cores": parsed.cores,
        "results": parsed.results,
    }
