"""Values of options, and tables as commands print them."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.table import Table

_WIDTH_OF_A_FILE = 400


def positive(text: str) -> int:
    """Return a positive whole number, as argparse asks for it."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def json_of(kind: Any, wanted: str) -> Callable[[str], Any]:
    """Return a reader of JSON of a type, as argparse asks for it."""

    def read(text: str) -> Any:
        try:
            return TypeAdapter(kind).validate_json(text)
        except ValidationError:
            raise argparse.ArgumentTypeError(f"{text} is not {wanted}") from None

    return read


def print_table(rows: Iterable[dict[str, object]], width: int | None = None) -> None:
    """Print rows under their keys, in a file as wide as they need."""
    table = Table(box=None)
    for row in rows:
        for name in row if not table.columns else ():
            table.add_column(name, overflow="fold", no_wrap=name == "name")
        table.add_row(*(str(value) for value in row.values()))
    console = Console(width=width)
    if width is None and not console.is_terminal:
        # A file or a pipe has no width to fit into.
        console = Console(width=_WIDTH_OF_A_FILE)
    console.print(table)
