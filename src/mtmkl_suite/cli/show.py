"""``mtmkl show``: an experiment or artefact, and the hyper-parameters chosen."""

import argparse
import inspect
from pathlib import Path
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.cli.common import print_table
from mtmkl_suite.config.load import load_paper, load_run_config, published_folder
from mtmkl_suite.config.models import TIERS, Paper, Tier
from mtmkl_suite.config.overlay import settable
from mtmkl_suite.data import default_registry
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import read_json
from mtmkl_suite.judge.choices import chosen_parameters, grids_of
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.run.folders import PaperFolder, PublishedFolder, RunFolder

_FEW = 6
_NOT_SET = ("title", "section")  # texts


def add_arguments(show: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    show.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="experiment, figure or table; its paper before it if several have one",
    )
    show.add_argument("--paper", help="folder in config/papers, or the path of one")
    show.add_argument(
        "--tier",
        choices=TIERS,
        help="tier of the settings (default: paper); choices have that of their run",
    )
    show.add_argument(
        "--chosen",
        action="store_true",
        help="count how often each hyper-parameter value was chosen, with the share at "
        "the ends of the grid",
    )
    show.add_argument(
        "--run",
        type=Path,
        dest="folder",
        metavar="FOLDER",
        help="count in this run, such as results/paper, instead of the published "
        "record",
    )
    show.set_defaults(run=_show)


def _show(parsed: argparse.Namespace) -> int:
    if parsed.folder is not None and not parsed.chosen:
        raise ConfigError("--run needs --chosen: settings are not those of a run")
    if parsed.tier is not None and parsed.chosen:
        raise ConfigError("--tier: choices and grids are those of a run, in its tier")
    *papers, name = parsed.names
    if papers and parsed.paper:
        raise ConfigError(f"two papers, {parsed.paper!r} and {papers[0]!r}: name one")
    tier: Tier = parsed.tier or "paper"
    config = _config_with(name, parsed.paper or " ".join(papers), tier)
    artefact = config.artefacts.get(name)
    experiments = [name] if artefact is None else artefact.shown
    if artefact is not None:
        print(f"{artefact.title}\n  from      {', '.join(experiments)}\n")
    for experiment in experiments:
        if parsed.chosen:
            _show_chosen(config, experiment, parsed.folder)
        else:
            _show_settings(config, experiment)
    if artefact is not None:
        command = f"mtmkl run --paper {config.paper.id} --artefact {name}"
        print(f"To make it:  {command}")
        if tier == "paper":
            print("  with few repeats and folds; with those above: --tier paper")
    return 0


def _config_with(name: str, paper: str, tier: Tier) -> Paper:
    """Return the configuration of the paper that has an experiment or artefact."""
    papers = [paper] if paper else load_run_config().papers
    configs = [load_paper(each, tier) for each in papers]
    names = [[*config.experiments, *config.artefacts] for config in configs]
    found = [c for c, own in zip(configs, names, strict=True) if name in own]
    if not found:
        known = list(dict.fromkeys(each for own in names for each in own))
        raise ConfigError(unknown("experiment, figure or table", name, known))
    if len(found) > 1:
        those = " or ".join(config.paper.id for config in found)
        raise ConfigError(f"several papers have {name!r}: put {those} before it")
    return found[0]


def _show_settings(config: Paper, name: str) -> None:
    experiment = config.experiments[name]
    protocol = config.protocols[experiment.protocol].given(but={"repeats"})
    datasets = [variant.id for variant in experiment.variants]
    more = f" and {len(datasets) - 1} more variants" if len(datasets) > 1 else ""
    settings = ", ".join(f"{k} {v}" for k, v in protocol.items())
    print(f"{experiment.title} ({config.paper.id}, {config.tier} tier)")
    print(f"  data      {datasets[0]}{more}")
    print(f"  protocol  {settings}; repeats {config.n_repeats(name)}")
    print(f"  metrics   {', '.join(experiment.metrics)}")
    rows: list[dict[str, object]] = []
    grids = grids_of(config, name)
    for entry in experiment.methods:
        method = config.method_of(entry)
        points = len(method.points)
        tried = min(points, method.search.points if method.search else points)
        rows.append(
            {
                "name": entry.method,
                "label": config.methods[entry.method].label,
                "class": method.class_name,
                "selection": method.selection,
                "points tried": tried if method.grid else "",
                "grid": "; ".join(
                    f"{key} {_in_short(values)}"
                    for key, values in grids[entry.method].items()
                ),
            }
        )
    print_table(rows)
    _print_keys(config, name, next(iter(grids), "METHOD"))


def _print_keys(config: Paper, name: str, method: str) -> None:
    """Print the keys of an experiment that other values can be set to."""
    experiment = f"experiments.{name}."
    shown = (experiment, f"protocols.{config.experiments[name].protocol}.")
    hidden = tuple(experiment + key for key in _NOT_SET)
    print("\nKeys for mtmkl run --set KEY=VALUE")
    for key, value in settable(config).items():
        if not key.startswith(shown) or key.startswith(hidden):
            continue
        is_list = isinstance(value, list)
        print(f"  {key}={f'[{_in_short(value)}]' if is_list else value}")
    datasets = config.experiments[name].datasets
    loader = default_registry()[datasets.name].find_loader()
    takes = inspect.signature(loader).parameters.values()
    if options := [each.name for each in takes if each.kind is each.KEYWORD_ONLY]:
        form = ".NAME=VALUE" if datasets.options else "={NAME: VALUE}"
        print(f"  {experiment}datasets.options{form}, of {', '.join(options)}")
    print(f"  methods.{method}.grid.PARAMETER, and so on for the methods above\n")


def _in_short(values: list[Any]) -> str:
    """Return a few values, or the ends of many numbers."""
    are_numbers = all(isinstance(value, int | float) for value in values)
    if len(values) <= _FEW or not are_numbers:
        return ", ".join(map(str, values))
    return f"{len(values)} values from {min(values):g} to {max(values):g}"


def _show_chosen(config: Paper, name: str, folder: Path | None) -> None:
    path, config = _scores_file(config, folder)
    found = chosen_parameters(read_scores(path), name, grids_of(config, name))
    if found.empty:
        raise ConfigError(
            f"{path} has no choices in {name!r}: either it was not run there, or its "
            "methods record a path and choose nothing"
        )
    rows: list[dict[str, object]] = []
    for row in found.to_dict("records"):
        ends = [
            "" if share != share else f"{share:.0%}"
            for share in (row["at_low_end"], row["at_high_end"])
        ]
        rows.append(
            {
                "data set": row["dataset"],
                "train size": row["train_size"] or "",
                "method": config.methods[row["method"]].label,
                "parameter": row["parameter"],
                "choices": row["n"],
                "at low end": ends[0],
                "at high end": ends[1],
                "chosen (times)": ", ".join(
                    f"{value} ({times})" for value, times in row["chosen"].items()
                ),
            }
        )
    print(f"From {path}")
    print_table(rows)


def _scores_file(config: Paper, folder: Path | None) -> tuple[Path, Paper]:
    """Return the scores of the record or a run, and the settings that made them."""
    found: PaperFolder
    if folder is None:
        found = PublishedFolder(published_folder(config.paper.id))
    else:
        found = RunFolder(folder).paper(config.paper.id)
    for path in (found.scores, found.provenance):
        if not path.is_file():
            message = f"{path} does not exist: give the folder of a finished run"
            raise ConfigError(message)
    made = read_json(found.provenance)
    settings = made.get("changes")
    return found.scores, load_paper(config.folder, made["tier"], settings)
