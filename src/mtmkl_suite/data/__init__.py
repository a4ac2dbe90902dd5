"""Registered data sets: obtained, checked, read and split."""

from mtmkl_suite.data.protocols import AS_PUBLISHED, Protocol
from mtmkl_suite.data.registry import Registry, default_registry, load
from mtmkl_suite.data.splits import (
    Split,
    load_splits,
    make_split,
    make_splits,
    save_splits,
)
from mtmkl_suite.errors import DataCorruptError, DataNotAvailableError

__all__ = [
    "AS_PUBLISHED",
    "DataCorruptError",
    "DataNotAvailableError",
    "Protocol",
    "Registry",
    "Split",
    "default_registry",
    "load",
    "load_splits",
    "make_split",
    "make_splits",
    "save_splits",
]
