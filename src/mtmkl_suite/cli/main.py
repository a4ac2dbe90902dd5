"""The ``mtmkl`` command: run experiments, compare scores, manage data sets."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any

from mtmkl import __version__
from mtmkl.errors import unknown
from mtmkl_suite.arithmetic import pin
from mtmkl_suite.errors import (
    ConfigError,
    DataCorruptError,
    DataNotAvailableError,
    ResultsInUseError,
)
from mtmkl_suite.files import disk_problem
from mtmkl_suite.run.process import print_any_text, provide_folders

_DESCRIPTION = (
    "Run the experiments of papers on multi-task learning, compare methods by their "
    "scores, and manage data sets. mtmkl COMMAND --help explains a command."
)

_COMMANDS = {
    "run": "run a paper's experiments, tables, figures and report",
    "compare": "rank and test methods from a table of scores, yours or ours",
    "verify": "recompute fits of the published record and compare",
    "list": "list papers, experiments, methods, figures, metrics or data sets",
    "show": "show the settings of an experiment, figure or table",
    "datasets": "download or verify data sets",
    "certify": "check a solution against an independent interior-point solver",
}
"""Commands and their help; the module of each is loaded only when it is called."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns 0 for success; 1 if something was refused or is damaged, a method failed, or
    the data of a requested experiment are missing; 130 if interrupted.
    """
    pin()  # before NumPy is loaded
    given = sys.argv[1:] if arguments is None else list(arguments)
    command = given[0] if given else ""
    print_any_text()
    try:
        if command in _COMMANDS:
            provide_folders()
        parsed = parser(command).parse_args(given)
    except ModuleNotFoundError as error:
        remedy = 'pip install "mtmkl[suite]"'
        print(f"mtmkl: {error.name} is not installed: {remedy}", file=sys.stderr)
        return 1
    except (ConfigError, ImportError) as error:
        print(f"mtmkl: {error}", file=sys.stderr)
        return 1
    try:
        return int(parsed.run(parsed))
    except (
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
    except BrokenPipeError:  # the reader has seen enough, as head has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        problem = disk_problem(error)
        if problem is None:
            raise
        print(f"mtmkl: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"mtmkl: stopped{parsed.when_stopped}", file=sys.stderr)
        return 130


class _Parser(argparse.ArgumentParser):
    """A parser that offers the nearest spelling of a command, a value or a flag."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse an unknown flag before what is missing for it."""
        words = [word.partition("=")[0] for word in args]
        if self._subparsers is not None:  # what follows a command is its own
            words = list(takewhile(lambda word: word[:1] == "-", words))
        known = list(self._option_string_actions)
        for word in words:
            is_known = any(flag.startswith(word) for flag in known)
            if word[:2] == "--" and not is_known:
                self.error(unknown("flag", word, known))
        return super().parse_known_args(args, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            kind = str(action.metavar or "value").lower()
            text = unknown(kind, value, list(map(str, action.choices)))
            raise argparse.ArgumentError(action, text)


def parser(command: str) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options of one command."""
    found = _Parser(prog="mtmkl", description=_DESCRIPTION)
    found.add_argument("--version", action="version", version=f"mtmkl {__version__}")
    found.set_defaults(when_stopped="")
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    for name, text in _COMMANDS.items():
        own = commands.add_parser(name, help=text)
        if name == command:
            import_module(f"mtmkl_suite.cli.{name}").add_arguments(own)
    return found


if __name__ == "__main__":
    sys.exit(main())
