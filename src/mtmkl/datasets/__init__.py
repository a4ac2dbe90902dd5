"""Data sets: registry, download, loaders, tasks and splits."""

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataCorruptError, DataNotAvailableError
from mtmkl.datasets.protocols import AS_PUBLISHED, Protocol
from mtmkl.datasets.registry import Registry, default_registry, load
from mtmkl.datasets.splits import (
    Split,
    load_splits,
    make_split,
    make_splits,
    save_splits,
)
from mtmkl.datasets.tasks import by_group, one_vs_one, one_vs_rest

__all__ = [
    "AS_PUBLISHED",
    "DataCorruptError",
    "DataNotAvailableError",
    "MultiTaskData",
    "Protocol",
    "Registry",
    "Split",
    "by_group",
    "default_registry",
    "load",
    "load_splits",
    "make_split",
    "make_splits",
    "one_vs_one",
    "one_vs_rest",
    "save_splits",
]
