"""Files of the cache that are not what was written."""

import shutil

import numpy as np

from faults.runs import Runs
from faults.table import fault

SEED = 17
KINDS = ("flipped", "cut", "emptied", "zeroed")


def damage(path, rng):
    """Damage a file somewhere in some way; return what was done."""
    content = bytearray(path.read_bytes())
    kind = KINDS[rng.integers(len(KINDS))]
    at = int(rng.integers(len(content)))
    if kind == "flipped":
        content[at] ^= 1 << int(rng.integers(8))
    elif kind == "cut":
        del content[at:]
    elif kind == "emptied":
        content.clear()
    else:
        end = min(at + 64, len(content))
        content[at:end] = bytes(255 - byte for byte in content[at:end])
    path.write_bytes(content)
    return f"{path.name} {kind} at byte {at} of {path.stat().st_size}"


@fault(
    "Finished cells damaged",
    "Every file of the cache flipped, cut, emptied or overwritten somewhere: noticed, "
    "computed again and said; the same scores, arrays and tables",
    few=1,
    many=100,
)
def cells(count, scratch):
    """Damage all finished cells at once, in several rounds, and take them again."""
    runs = Runs(scratch / "cells")
    status, shown = runs.finish()
    scores, products = runs.scores(), runs.products()
    trial = 0
    while trial < count:
        paths = sorted(runs.cache.rglob("*.npz"))
        rng = np.random.default_rng([SEED, trial])
        done = {path: damage(path, rng) for path in paths}
        shutil.rmtree(runs.run_folder)
        status, shown = runs.finish()
        said = runs.logs()
        is_same = status == 0 and (runs.scores(), runs.products()) == (scores, products)
        for path, what in done.items():
            trial += 1
            if not is_same:
                yield f"{what}: the run fails or has other scores: {shown[-300:]}"
            elif f"{path.name} is damaged" not in said:
                yield f"{what}: not said"
            else:
                yield ""
