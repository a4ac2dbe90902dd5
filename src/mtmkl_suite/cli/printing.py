"""Tables, as commands print them."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

_WIDTH_OF_A_FILE = 400


def print_table(rows: Sequence[dict[str, object]], width: int | None = None) -> None:
    """Print rows under their keys; columns of names are never broken.

    Without a ``width`` lines are as long as the terminal, or in a file as they need.
    """
    table = Table(box=None)
    for name in rows[0] if rows else ():
        table.add_column(name, overflow="fold", no_wrap=name == "name")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console = Console(width=width)
    if width is None and not console.is_terminal:
        # A file or a pipe has no width to fit into.
        console = Console(width=_WIDTH_OF_A_FILE)
    console.print(table)
