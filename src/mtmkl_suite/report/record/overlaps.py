"""Overlap of an experiment's repeats, from protocol, splits and pool."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mtmkl.datasets import default_registry
from mtmkl.datasets.splits import load_splits
from mtmkl.files import read_table
from mtmkl_suite.config.models import Paper, Variant
from mtmkl_suite.judge.overlap import Overlap, Overlaps, Place, share_of_pool
from mtmkl_suite.run.folders import PaperFolder

_SAME_ROLES = ("first_rows", "given", "given_roles")
"""Kinds of protocols where the data say which examples are for testing."""

_PLACE = ("experiment", "dataset", "train_size")
COLUMNS = (*_PLACE, *(field.name for field in fields(Overlap)))
"""Columns of ``overlaps.csv``."""


class StoredOverlaps(Mapping[Place, Overlap]):
    """Overlaps at the places of a paper's scores; splits are read when asked for.

    They follow from the protocol's kind, the sizes of the splits, and whether repeats
    draw their data, and from how many examples. Data sets without splits are left out.
    """

    def __init__(
        self,
        config: Paper,
        data_info: Mapping[str, Mapping[str, Any]],
        folder: PaperFolder,
    ) -> None:
        self._config, self._data_info, self._folder = config, data_info, folder
        self._variants = {
            (name, variant.id): variant
            for name, experiment in config.experiments.items()
            for variant in experiment.variants
        }
        self._known: dict[tuple[str, str], dict[int, Overlap]] = {}

    def __getitem__(self, place: Place) -> Overlap:
        experiment, dataset, size = place
        try:
            return self._of(experiment, dataset)[size]
        except KeyError:
            raise KeyError(
                f"no splits of {dataset} with train size {size} in {experiment}, so it "
                "is not known how its repeats overlap"
            ) from None

    def __iter__(self) -> Iterator[Place]:
        for experiment, dataset in self._variants:
            for size in self._of(experiment, dataset):
                yield experiment, dataset, size

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _of(self, experiment: str, dataset: str) -> dict[int, Overlap]:
        """Return the overlap of each train size."""
        if (experiment, dataset) not in self._known:
            variant = self._variants[experiment, dataset]
            self._known[experiment, dataset] = self._read(experiment, variant)
        return self._known[experiment, dataset]

    def _read(self, experiment: str, variant: Variant) -> dict[int, Overlap]:
        protocol = self._config.experiments[experiment].protocol
        path = self._folder.splits(protocol, variant.id)
        if not path.is_file():
            return {}
        shares: dict[int, list[tuple[float, float]]] = {}
        for (size, _), split in load_splits(path).items():
            parts = len(split.test), len(split.train), len(split.validation)
            of_split = (parts[0] / sum(parts), parts[1] / sum(parts))
            shares.setdefault(size, []).append(of_split)
        pool_share = drawn_share(variant)
        info = self._data_info.get(variant.id, {})
        n_rows = info.get("n", 0)
        found = {}
        for size, of_repeats in shares.items():
            test_share, train_share = np.mean(of_repeats, axis=0).tolist()
            found[size] = Overlap(
                pool_share=pool_share,
                test_share=test_share,
                train_share=train_share,
                same_roles=pool_share == 1
                and self._config.protocols[protocol].kind in _SAME_ROLES,
                # Examples in several tasks have a row in each.
                tasks_share=info.get("n_examples", n_rows) < n_rows,
            )
        return found


def overlaps_table(overlaps: Overlaps) -> pd.DataFrame:
    """Return overlaps as a table, ``overlaps.csv``."""
    rows = [(*place, *asdict(overlap).values()) for place, overlap in overlaps.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read_overlaps(path: Path) -> dict[Place, Overlap]:
    """Return the overlaps of ``overlaps.csv``."""
    table = read_table(path)
    return {
        (experiment, dataset, size): Overlap(*shares)
        for experiment, dataset, size, *shares in table[list(COLUMNS)].itertuples(
            index=False, name=None
        )
    }


def drawn_share(variant: Variant) -> float:
    """Return which share of the examples that there are a repeat's draw takes."""
    entry = default_registry()[variant.name]
    options = dict(variant.options)
    if not entry.drawn or "seed" in options:
        return 1.0
    if not entry.pool:
        return 0.0
    if not isinstance(entry.pool, Mapping):
        return entry.pool
    [(option, sizes)] = entry.pool.items()
    usual = inspect.signature(entry.find_loader()).parameters[option].default
    n_drawn = options.get(option, usual)
    if n_drawn is None:
        n_drawn = min(sizes.values())
    return share_of_pool(n_drawn, sizes.values())
