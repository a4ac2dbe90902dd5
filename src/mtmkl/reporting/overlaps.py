"""How the repeats of an experiment share examples: from protocol, splits and pool."""

import inspect

import numpy as np

from mtmkl.datasets import default_registry
from mtmkl.datasets.splits import load_splits
from mtmkl.evaluation.plan import Variant, variants
from mtmkl.layout import PaperFolder
from mtmkl.reporting.context import Context
from mtmkl.statistics.overlap import Overlap, Place, share_of_pool

_SAME_ROLES = ("first_rows", "given", "given_roles")
"""Kinds of protocols where the data say which examples are for testing."""


def overlaps_of(context: Context, folder: PaperFolder) -> dict[Place, Overlap]:
    """Return how repeats overlap at every place of a paper's scores.

    It follows from the protocol's kind, the sizes of the splits, and whether repeats
    draw their data, and from how many examples.

    Parameters
    ----------
    context : Context
    folder : PaperFolder
        With splits; data sets without splits are left out.
    """
    overlaps: dict[Place, Overlap] = {}
    for name, experiment in context.config["experiments"].items():
        kind = context.config["protocols"][experiment["protocol"]]["kind"]
        for variant in variants(experiment):
            path = folder.splits(experiment["protocol"], variant.id)
            if not path.is_file():
                continue
            shares: dict[int, list[tuple[float, float]]] = {}
            for (size, _), split in load_splits(path).items():
                parts = len(split.test), len(split.train), len(split.validation)
                of_split = (parts[0] / sum(parts), parts[1] / sum(parts))
                shares.setdefault(size, []).append(of_split)
            pool_share = drawn_share(variant)
            info = context.data_info.get(variant.id, {})
            n_rows = info.get("n", 0)
            for size, of_repeats in shares.items():
                test_share, train_share = np.mean(of_repeats, axis=0).tolist()
                overlaps[name, variant.id, size] = Overlap(
                    pool_share=pool_share,
                    test_share=test_share,
                    train_share=train_share,
                    same_roles=pool_share == 1 and kind in _SAME_ROLES,
                    # Examples in several tasks have a row in each.
                    tasks_share=info.get("n_examples", n_rows) < n_rows,
                )
    return overlaps


def drawn_share(variant: Variant) -> float:
    """Return which share of the examples that there are a repeat's draw takes.

    Parameters
    ----------
    variant : Variant

    Returns
    -------
    float
        1 if all repeats have the same data, 0 if each has new ones.
    """
    entry = default_registry()[variant.name]
    options = dict(variant.options)
    if not entry.drawn or "seed" in options:
        return 1.0
    if not entry.pool:
        return 0.0
    [(option, sizes)] = entry.pool.items()
    usual = inspect.signature(entry.find_loader()).parameters[option].default
    n_drawn = options.get(option, usual)
    if n_drawn is None:
        n_drawn = min(sizes.values())
    return share_of_pool(n_drawn, sizes.values())
