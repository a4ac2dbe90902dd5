"""Run the tests of faults and write their table: ``python -m faults [MODULE ...]``."""

import argparse
import sys
import tempfile
from pathlib import Path

from faults import FAULTS
from faults.table import TABLE, merge, run


def main() -> int:
    """Run; return 1 if anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", choices=[[], *FAULTS])
    parser.add_argument("--trials", type=int, metavar="N", help="of each test")
    parsed = parser.parse_args()
    order = [fault.test for faults in FAULTS.values() for fault in faults]
    wanted = [fault for name in parsed.modules or FAULTS for fault in FAULTS[name]]
    problems: list[str] = []
    for number, fault in enumerate(wanted, start=1):
        count = parsed.trials or fault.many
        print(f"\n{number} of {len(wanted)}: {fault.test}, {count} trials ", end="")
        with tempfile.TemporaryDirectory() as scratch:
            row, found = run(fault, count, Path(scratch))
        print(f" {row['passed']} of {row['count']} {row['note']}", flush=True)
        merge(row, TABLE, order)
        problems += found
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
