"""What ``make faults`` has found, for the report."""

import csv
from pathlib import Path

from mtmkl.documents import config_dir


def fault_rows(path: Path | None = None) -> list[dict[str, str]]:
    """Return the table of faults, none where it is not there.

    Returns ``test``, ``done`` (what is done, and what has to follow), ``count``,
    ``passed``, ``seconds``, ``note``, ``commit`` and ``date``, as texts.
    """
    if path is None:
        path = config_dir().parent / "figures" / "faults" / "faults.csv"
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [{**row, "done": row["what is done"]} for row in rows]
