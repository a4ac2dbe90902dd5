"""``mtmkl verify``: cells of the published record, computed anew."""

import argparse
import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from mtmkl_suite.cli.printing import print_table
from mtmkl_suite.cli.values import positive
from mtmkl_suite.config.against import published_folder, published_papers
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Tier
from mtmkl_suite.config.readings import has_readings, load_readings
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import make_folder, read_json, write_json
from mtmkl_suite.run.provenance import machine
from mtmkl_suite.run.verify import (
    CURRENT,
    OLDER,
    OUTCOMES,
    VERIFIED,
    Cell,
    Check,
    Record,
    cells_of,
    draw,
    excluded_rate,
    receipt,
    receipts_beside,
    standing,
    standing_of_artefacts,
    verify,
    worst,
)

_DESCRIPTION = """\
Draw cells of the published record at random, compute them anew from data and
configuration, and compare: equal (the same text), rounding (within 1e-8, with the same
hyper-parameters), or different. The record and the data are those of this checkout.
"""

_KINDS = (CURRENT, VERIFIED, OLDER)


def add_arguments(found: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    found.description = _DESCRIPTION
    found.epilog = "Ends with status 1 if a cell differs or none could be computed."
    found.add_argument(
        "--paper",
        action="append",
        metavar="NAME",
        help="only this record (may be repeated; default: all)",
    )
    found.add_argument(
        "--cells", type=positive, default=300, metavar="N", help="default: 300"
    )
    found.add_argument(
        "--seed", type=int, metavar="N", help="of the draw (default: by the clock)"
    )
    found.add_argument(
        "--minutes",
        type=float,
        default=15.0,
        metavar="M",
        help="then stop (default: 15)",
    )
    found.add_argument(
        "--cores", type=positive, default=1, help="processes to use (default: 1)"
    )
    found.add_argument(
        "--current",
        action="store_true",
        help="draw only cells that were made by the code as it is here",
    )
    found.add_argument(
        "--longest",
        type=float,
        default=math.inf,
        metavar="S",
        help="draw only cells that took at most so many seconds",
    )
    found.add_argument(
        "--receipt",
        type=Path,
        metavar="FILE",
        help="repeat exactly the cells of this receipt",
    )
    found.add_argument(
        "--status",
        action="store_true",
        help="compute nothing: say which artefacts are of the code as it is here",
    )
    found.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        help="folder for what is finished, and the receipt (default: results)",
    )
    found.set_defaults(
        run=_run, when_stopped="; finished cells are kept: give the same --seed"
    )


def _run(parsed: argparse.Namespace) -> int:
    if parsed.status:
        return _show_status(parsed.paper)
    records, cells, seed = _asked(parsed)
    if not cells and parsed.current:
        print("No such cell of the record is of the code as it is here.")
        return 0
    folder = parsed.results / "verify"
    make_folder(folder)
    begin = time.monotonic()
    print(f"{len(cells)} cells, seed {seed}, at most {parsed.minutes:g} minutes")
    with tqdm(total=len(cells), unit="cell", smoothing=0.1) as bar:

        def progress(cell: Cell, result: dict[str, Any]) -> None:
            bar.update()
            if result.get("outcome") == "differs":
                bar.write(_difference(cell, result))

        check = verify(
            records,
            cells,
            folder=folder / "cells",
            seconds=60.0 * parsed.minutes,
            cores=parsed.cores,
            progress=progress,
        )
    spent = time.monotonic() - begin
    path = folder / f"receipt-{seed}.json"
    write_json(path, receipt(records, check, seed=seed, seconds=spent))
    print(_conclusion(check, spent))
    differs = check.counts()["differs"] > 0
    if differs and any(map(_computes_otherwise, records)):
        print(
            "This processor has other routines of linear algebra than that of the "
            "record, on which the last digits depend: see docs/verify.md."
        )
    print(f"Receipt: {path}")
    return int(not check.results or differs)


def _asked(parsed: argparse.Namespace) -> tuple[list[Record], list[Cell], int]:
    """Return the records, the cells to compute, and the seed that drew them."""
    if parsed.receipt is None:
        records = records_of(parsed.paper or published_papers())
        seed = parsed.seed if parsed.seed is not None else int(time.time())
        seconds = {
            cell: each
            for record in records
            for cell, each in record.seconds().items()
            if each <= parsed.longest or math.isnan(each)
        }
        if parsed.current:
            current = set[Cell]().union(*(record.current() for record in records))
            seconds = {cell: each for cell, each in seconds.items() if cell in current}
        return records, draw(seconds, parsed.cells, seed), seed
    if parsed.paper or parsed.seed is not None or parsed.current:
        raise ConfigError(
            "--receipt says which cells: leave out --paper, --seed and --current"
        )
    document = read_json(parsed.receipt)
    cells = cells_of(document)
    records = records_of(sorted({cell.paper for cell in cells}))
    known = {cell for record in records for cell in record.seconds()}
    for cell in cells:
        if cell not in known:
            raise ConfigError(
                f"{cell} is not in the record here: check out the commit of the "
                f"receipt, {document['commit']}"
            )
    return records, cells, int(document["seed"])


def records_of(papers: Sequence[str]) -> list[Record]:
    """Return the published records of papers, with their other readings."""
    found = []
    for paper in papers:
        folder = published_folder(paper)
        tier: Tier = read_json(folder / "provenance.json")["tier"]
        found.append(Record(load_paper(paper, tier), folder))
        if has_readings(paper) and (folder / "readings.csv.gz").is_file():
            found.append(Record(load_readings(paper, tier), folder, "readings"))
    return found


def _computes_otherwise(record: Record) -> bool:
    """Tell whether a record was made with other kernels than those used here."""
    here = machine()["blas"]
    return record.machine.get("blas", here) != here


def _difference(cell: Cell, result: dict[str, Any]) -> str:
    lines = [f"differs: {cell}, {result['n_differences']} of its values"]
    lines += [
        f"  {each['what']}: published {each['published']}, here {each['here']}"
        for each in result["differences"]
    ]
    return "\n".join(lines)


def _conclusion(check: Check, seconds: float) -> str:
    counts, n = check.counts(), len(check.results)
    words = {
        "equal": "equal",
        "rounding": "equal but for rounding",
        "differs": "differ",
    }
    lines = [
        f"{n} cells in {seconds / 60:.1f} minutes: "
        + ", ".join(f"{counts[name]} {words[name]}" for name in OUTCOMES)
        + "."
    ]
    if n:
        rate = excluded_rate(counts["differs"], n)
        lines.append(
            f"If {rate:.1%} of the record or more differed, a draw like this would "
            "have shown more such cells with a probability of 95 %."
        )
    names = sorted({cell.dataset.partition("[")[0] for cell in check.no_data})
    for cells, reason in (
        (len(check.no_data), f"their data are not here ({', '.join(names)})"),
        (len(check.late), "there was no time"),
    ):
        if cells:
            lines.append(f"{cells} were not computed: {reason}.")
    return "\n".join(lines)


def _show_status(papers: Sequence[str] | None) -> int:
    rows: list[dict[str, object]] = []
    total: Counter[str] = Counter()
    for record in records_of(papers or published_papers()):
        found = standing(record, receipts_beside(record))
        total += sum(found.values(), Counter[str]())
        for name, counts in standing_of_artefacts(record, found).items():
            row: dict[str, object] = {kind: counts[kind] for kind in _KINDS}
            place = {"paper": record.config.paper.id, "artefact": name}
            rows.append({**place, "cells": worst(counts), **row})
    print_table(rows)
    print(
        f"{total[CURRENT]} of {total.total()} cells are of this code, "
        f"{total[VERIFIED]} were verified with it"
    )
    return 0
