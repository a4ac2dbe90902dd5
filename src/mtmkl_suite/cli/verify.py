"""``mtmkl verify``: fits of the published record, recomputed."""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtmkl_suite.cli.common import positive, print_table
from mtmkl_suite.config.load import published_papers
from mtmkl_suite.files import make_folder, write_json
from mtmkl_suite.run.provenance import machine
from mtmkl_suite.run.verify import (
    DIFFERS,
    NO_DATA,
    Cell,
    Record,
    computed_cells,
    counted,
    draw,
    excluded_rate,
    published_records,
    receipt,
    shortest_first,
)

_DESCRIPTION = """\
Draw fits of the published record at random, recompute them from data and configuration,
the shortest first, and compare: equal (the same text), rounding (within 1e-8, with the
same hyper-parameters), or different. Short and long fits are drawn in proportion; what
--minutes leaves no time for is counted. The record is that of this checkout.
"""
_FOLDER = Path("results", "verify")


def add_arguments(found: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    found.description = _DESCRIPTION
    found.epilog = "Exits with status 1 if a fit differs or none could be computed."
    found.add_argument(
        "--paper",
        action="append",
        metavar="NAME",
        help="paper whose record is checked (may be repeated; default: all)",
    )
    found.add_argument(
        "--cells",
        type=positive,
        default=300,
        metavar="N",
        help="number of fits to draw (default: 300)",
    )
    found.add_argument(
        "--seed",
        type=_seed,
        metavar="TEXT",
        help="number or hash that seeds the draw (default: time-based)",
    )
    found.add_argument(
        "--minutes",
        type=positive,
        default=15,
        metavar="M",
        help="time limit (default: 15)",
    )
    found.add_argument(
        "--cores", type=positive, default=1, help="processes to use (default: 1)"
    )
    found.set_defaults(run=_run)


def _seed(text: str) -> str:
    if not text.isalnum():
        raise argparse.ArgumentTypeError(f"{text!r}: letters and digits only")
    return text


def _run(parsed: argparse.Namespace) -> int:
    until = time.monotonic() + 60 * parsed.minutes
    seed = parsed.seed or str(int(time.time()))
    records = published_records(parsed.paper or published_papers())
    seconds = {cell: s for record in records for cell, s in record.seconds().items()}
    cells = shortest_first(draw(seconds, parsed.cells, seed), seconds)
    path = _FOLDER / f"receipt-{seed}.json"
    make_folder(path.parent)
    print(f"{len(cells)} fits, seed {seed}")
    results = {}
    for cell, result in computed_cells(records, cells, until=until, cores=parsed.cores):
        results[cell] = result
        print(*_lines(cell, result), sep="\n", flush=True)
        write_json(path, receipt(records, seed, cells, results))
    print_table(_table(cells, results))
    print(*_conclusion(records, cells, results), sep="\n")
    if results:
        print(f"Receipt: {path}")
    counts = counted(results.values())
    return int(counts[DIFFERS] > 0 or counts[NO_DATA] == len(results))


def _lines(cell: Cell, result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the outcome of a cell, and its scores with those of the record."""
    yield f"{result['outcome']:8} {cell}, {result['seconds']} s"
    for each in result["scores"]:
        both = f"published {each['published']}, here {each['here']}"
        yield f"{'':9}{each['what']}: {both}"
    more = result["n_different"] - len(result["scores"])
    if more > 0:
        yield f"{'':9}and {more} more values"


def _table(
    cells: Sequence[Cell], results: Mapping[Cell, Mapping[str, Any]]
) -> list[dict[str, object]]:
    """Return the number of cells of each paper with each outcome."""
    rows: list[dict[str, object]] = []
    papers = sorted({cell.paper for cell in cells})
    for name in [*papers, "all"]:
        own = [cell for cell in cells if name in (cell.paper, "all")]
        done = [results[cell] for cell in own if cell in results]
        no_time = len(own) - len(done)
        rows.append({"paper": name, **counted(done), "no time": no_time})
    return rows


def _conclusion(
    records: Sequence[Record],
    cells: Sequence[Cell],
    results: Mapping[Cell, Mapping[str, Any]],
) -> Iterator[str]:
    """Yield a bound on the share of different fits, and causes of differences."""
    counts = counted(results.values())
    n = len(results) - counts[NO_DATA]
    if n:
        rate = excluded_rate(counts[DIFFERS], n)
        some = "" if n == len(cells) else " as short, and on data as small, as these"
        yield f"With 95 % confidence, fewer than {rate:.1%} of the fits{some} differ."
    if counts[DIFFERS]:
        found = {
            (str(each["commit"])[:12], each["machine"]["blas"])
            for each in (record.provenance for record in records)
        }
        for commit, blas in sorted(found):
            yield (
                f"The record was computed at commit {commit} with BLAS {blas} (here "
                f"{machine()['blas']}): docs/verify.md explains the differences."
            )
