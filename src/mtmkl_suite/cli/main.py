"""The ``mtmkl`` command: run experiments, compare scores, manage data sets."""

import argparse
import sys
from collections.abc import Sequence

from mtmkl import __version__
from mtmkl.errors import ConfigError
from mtmkl_suite.cli import audit, certify, compare, datasets, listing, run, show


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns 0 for success; 1 if something was refused or is damaged, a method failed, or
    the data of a requested experiment are missing; 130 if interrupted.
    """
    parsed = parser().parse_args(arguments)
    from mtmkl.datasets import DataCorruptError, DataNotAvailableError
    from mtmkl.files import disk_problem
    from mtmkl_suite.run.locks import ResultsInUseError

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
    except OSError as error:
        problem = disk_problem(error)
        if problem is None:
            raise
        print(f"mtmkl: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"mtmkl: stopped{parsed.when_stopped}", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(prog="mtmkl", description=__doc__)
    found.add_argument("--version", action="version", version=f"mtmkl {__version__}")
    found.set_defaults(when_stopped="")
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    for group in (run, compare, listing, show, datasets, audit, certify):
        group.add_parser(commands)
    return found


if __name__ == "__main__":
    sys.exit(main())
