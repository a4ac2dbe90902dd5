"""Seeds for every purpose from one root seed."""

import json
import zlib

import numpy as np


def data_seed(root: int, name: str, repeat: int) -> int:
    """Return the seed of a generator's draw.

    Variants of one generator share it, so that a curve over an option compares the
    same draws.
    """
    return derived_seed(root, "data", name, repeat)


def derived_seed(root: int, *key: str | int) -> int:
    """Return a 32-bit seed for a purpose, from the root seed and the purpose's key."""
    text = json.dumps(key)
    sequence = np.random.SeedSequence([root, zlib.crc32(text.encode())])
    return int(sequence.generate_state(1)[0])
