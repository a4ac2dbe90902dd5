"""Run the tests of faults and write their table: ``python -m faults [MODULE ...]``.

Rows that this very commit has already are kept: an interrupted run goes on.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from faults import FAULTS
from faults.table import TABLE, measured, merge, run


def main() -> int:
    """Run; return 1 if anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", choices=[[], *FAULTS])
    parser.add_argument("--few", action="store_true", help="as many as `make test`")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--scratch", type=Path, help="folder for temporary files")
    parser.add_argument(
        "--again", action="store_true", help="also rows that this commit has"
    )
    for module in FAULTS:
        parser.add_argument(f"--{module}", type=int, metavar="N", help="trials of each")
    parsed = parser.parse_args()
    order = [fault.test for faults in FAULTS.values() for fault in faults]
    problems: list[str] = []
    wanted = []
    for module in parsed.modules or FAULTS:
        for fault in FAULTS[module]:
            usual = fault.few if parsed.few else fault.many
            if count := getattr(parsed, module) or usual:
                wanted.append((fault, count))
    for number, (fault, count) in enumerate(wanted, start=1):
        place = f"{number} of {len(wanted)}: {fault.test}"
        if not parsed.again and measured(fault, count, parsed.table):
            print(f"\n{place}: measured at this commit already", flush=True)
            continue
        print(f"\n{place}, {count} trials ", end="", flush=True)
        with tempfile.TemporaryDirectory(dir=parsed.scratch) as scratch:
            row, found = run(fault, count, Path(scratch))
        print(f" {row['passed']} of {row['count']} {row['note']}")
        merge([row], parsed.table, order)
        problems += found
    print(f"\nTable: {parsed.table}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
