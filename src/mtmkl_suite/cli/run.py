"""``mtmkl run``: the workflow on a paper, on parts of it, or on data of one's own."""

import argparse
import sys
from pathlib import Path
from typing import Any

from mtmkl_suite.cli.common import json_of, positive
from mtmkl_suite.config.models import TIERS
from mtmkl_suite.config.own_data import TEMPLATE
from mtmkl_suite.data import load
from mtmkl_suite.data.loaders.own import is_file, remarks_on
from mtmkl_suite.documents import Some
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.run.workflow import run_workflow

_OF_DATA = (
    "task", "target", "ignore", "min_samples", "impute", "one_hot", "outputs",
    "methods",
)  # fmt: skip
_NEEDED = ("task", "target")
_OF_PAPERS = ("experiment", "artefact", "readings", "against")


def add_arguments(run: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
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
        help="run only this experiment (may be repeated)",
    )
    run.add_argument(
        "--artefact",
        action="append",
        metavar="NAME",
        help="make only this figure or table, and run only the experiments it needs "
        "(may be repeated; mtmkl list artefacts gives the names)",
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
        action="append",
        type=json_of(
            dict[str, Some[Any]],
            'a JSON object of non-empty lists, such as {"gamma": [1, 10]}',
        ),
        metavar="JSON",
        help='hyper-parameters to choose from, such as {"gamma": [1, 10]}: once for '
        "all --method, or once for each in the same order ({} for its defaults)",
    )
    run.add_argument(
        "--readings",
        nargs="*",
        metavar="FACTOR",
        help="run other readings of the protocol instead of the experiments: all, or "
        "those of the named factors",
    )
    run.add_argument(
        "--against",
        choices=("published",),
        help="fit only the methods of --method, on the splits of the paper's published "
        "record, and compare them with its scores",
    )
    own = run.add_argument_group("with --data")
    own.add_argument("--task", metavar="COLUMN", help="column that names the task")
    own.add_argument("--target", metavar="COLUMN", help="column to predict")
    own.add_argument(
        "--ignore",
        action="append",
        metavar="COLUMN",
        help="exclude from the features (may be repeated)",
    )
    own.add_argument(
        "--min-samples",
        type=positive,
        metavar="N",
        help="leave out tasks with fewer samples than this",
    )
    for name, text in (
        ("impute", "replace missing features by the median of the training rows"),
        ("one-hot", "encode each text column as one feature per value"),
    ):
        own.add_argument(f"--{name}", action="store_const", const=True, help=text)
    own.add_argument(
        "--outputs",
        choices=("labels", "numbers"),
        help="kind of target (default: labels if it has two values)",
    )
    own.add_argument(
        "--methods",
        nargs="+",
        metavar="NAME",
        help="methods of config/own_data/experiments.yaml (default: all)",
    )
    run.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="KEY=VALUE",
        help="change a key of config/config.yaml or of the paper's files, "
        "such as seed=7 or protocols.digits_random.train_samples=50 (may be repeated)",
    )
    run.add_argument(
        "--repeats",
        type=positive,
        metavar="N",
        help="repeats of every experiment (default: as configured)",
    )
    run.add_argument(
        "--tier",
        choices=TIERS,
        help="few repeats and short grids, or the full protocol (default: quick)",
    )
    run.add_argument(
        "--cores", type=positive, default=1, help="processes to use (default: 1)"
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


def _run(parsed: argparse.Namespace) -> int:
    _refuse_contradictions(parsed)
    done = run_workflow(
        cores=parsed.cores,
        tier=parsed.tier or ("paper" if parsed.against else "quick"),
        papers=[parsed.paper or TEMPLATE],
        data=_own_data(parsed) if parsed.data is not None else None,
        experiments=parsed.experiment,
        artefacts=parsed.artefact,
        readings=False if parsed.readings is None else (parsed.readings or True),
        against=parsed.against,
        methods=parsed.method,
        grid=parsed.grid[0] if len(parsed.grid or []) == 1 else parsed.grid,
        settings=parsed.settings,
        repeats=parsed.repeats,
        results=str(parsed.results),
    )
    is_asked_for = parsed.experiment or parsed.artefact
    missing = done.missing if is_asked_for else []
    for line in missing:
        print(f"mtmkl: {line}", file=sys.stderr)
    return done.status or int(bool(missing))


def _own_data(parsed: argparse.Namespace) -> dict[str, Any]:
    named = {name: getattr(parsed, name) for name in _OF_DATA if name != "methods"}
    options = {name: value for name, value in named.items() if value is not None}
    if is_file(parsed.data):
        lacking = [f"--{name} COLUMN" for name in _NEEDED if name not in options]
        if lacking:
            raise ConfigError(f"--data {parsed.data} needs {' and '.join(lacking)}")
        data = load(parsed.data, **options)
        for remark in [*data.remarks, *remarks_on(data)]:
            print(f"mtmkl: note: {remark}", file=sys.stderr)
    methods = [] if parsed.methods in (None, ["all"]) else parsed.methods
    return {"source": parsed.data, "options": options, "methods": methods}


def _refuse_contradictions(parsed: argparse.Namespace) -> None:
    of_others = _OF_DATA if parsed.data is None else _OF_PAPERS
    for name in of_others:
        if getattr(parsed, name) is not None:
            option = "--" + name.replace("_", "-")
            raise ConfigError(
                f"{option} is for --data; a paper's data are configured"
                if parsed.data is None
                else f"{option} is for --paper, not for data of your own"
            )
    if parsed.artefact and parsed.experiment:
        raise ConfigError(
            "--artefact runs the experiments that it needs: leave out --experiment"
        )
    if parsed.artefact and parsed.against:
        raise ConfigError(
            "--against published shows the tables that compare methods: leave out "
            "--artefact"
        )
