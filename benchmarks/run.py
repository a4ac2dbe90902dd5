"""Run the benchmarks, and write their tables and figures.

    python benchmarks/run.py [NAME ...] [--quick] [--output figures/benchmarks]
        [--against figures/benchmarks]

Without names all: heart, methods, users, growth, overhead. ``--quick`` takes the
smallest size of each, once, to see that everything runs: no numbers to quote.
docs/benchmarks.md says what is measured and how. ``--against`` names the ratios to
baselines that fell by a third since that folder was written, and ends with status 1.
"""

import argparse
import csv
import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mtmkl_suite.arithmetic import pin

pin()  # before NumPy is loaded

import measuring  # noqa: E402
from figures import write_page  # noqa: E402

NAMES = ("heart", "methods", "users", "growth", "overhead")


PLACE = ("series", "axis", "size", "baseline")
FALLEN = 2 / 3
"""Share of its former value below which a ratio to a baseline is named."""


def ratios(path: Path) -> dict[tuple[str, ...], float]:
    """Return how many times our seconds each baseline takes."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            tuple(row[name] for name in PLACE): float(row["ratio"])
            for row in csv.DictReader(file)
            if row["ratio"] and not row["baseline"].startswith("ours")
        }


def fallen(name: str, new: Path, old: Path) -> list[str]:
    """Return the ratios of a benchmark that fell by a third, in words."""
    now, before = (ratios(folder / f"{name}.csv") for folder in (new, old))
    return [
        f"{name}, {', '.join(place)}: {before[place]:.3g} times, now {ratio:.3g}"
        for place, ratio in now.items()
        if place in before and ratio < FALLEN * before[place]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="only see that all runs")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="default: figures/benchmarks; with --quick results/benchmarks",
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="series whose names have this text"
    )
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="published benchmarks"
    )
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no benchmark {name!r}: {', '.join(NAMES)}")
    parts = ("results" if options.quick else "figures", "benchmarks")
    output = options.output or measuring.ROOT.joinpath(*parts)
    from threadpoolctl import threadpool_limits

    # One thread, so that times compare algorithms.
    with threadpool_limits(1):
        for name in options.names or NAMES:
            begin = time.perf_counter()
            module = importlib.import_module(name)
            table = measuring.Table(name, module.TITLE)
            print(f"== {module.TITLE}", flush=True)
            if hasattr(module, "measure"):
                module.measure(table, quick=options.quick)
            else:
                for series in module.SERIES:
                    if options.only.lower() not in series.name.lower():
                        continue
                    measuring.run(series, table, quick=options.quick)
                    if series.has_peaks and not options.quick:
                        measuring.add_peaks(name, series, table)
            measuring.write(table, output, quick=options.quick)
            print(f"   {time.perf_counter() - begin:.0f} s", flush=True)
    write_page(output, measuring.provenance(), options.quick)
    print(f"Tables and figures: {output}")
    if options.against is None:
        return 0
    # Of "overhead" nothing has a baseline.
    names = [name for name in options.names or NAMES if name != "overhead"]
    found = [line for n in names for line in fallen(n, output, options.against)]
    print("\n".join(["Ratios that fell by a third:", *(found or ["none"])]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
