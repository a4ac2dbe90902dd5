"""Data of a run: where they are, what is known of them, their draws and splits."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mtmkl.datasets import MultiTaskData
from mtmkl.sparse import is_sparse
from mtmkl_suite.config.models import Paper, Record, Variant
from mtmkl_suite.data import DataNotAvailableError, default_registry, load
from mtmkl_suite.data.loaders.own import is_file
from mtmkl_suite.data.protocols import NamedProtocol
from mtmkl_suite.data.splits import Split, SplitKey, make_splits, save_splits
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.evaluation.cells import derived_seed
from mtmkl_suite.files import read_json, write_json
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.provenance import check_data


def use_mirror(folder: str | None) -> None:
    """Take data sets from a folder, here and in the processes started from here."""
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise ConfigError(
            f"config/config.yaml: key 'mirror': {folder!r} is not a folder"
        )
    os.environ["MTMKL_DATA_MIRROR"] = str(Path(folder).resolve())


def load_variant(
    variant: Variant, seed: int, *, repeat: int = 0, download: bool = False
) -> MultiTaskData:
    """Load a data set, or the draw of one repeat where repeats differ.

    ``seed``: The root seed; like ``repeat`` it matters for drawn sets alone (``drawn``
    in the registry), unless the options of the variant hold a seed. Variants of one
    generator share it, so that a curve over an option compares the same draws.
    """
    options = dict(variant.options)
    if default_registry()[variant.name].drawn:
        drawn = derived_seed(seed, "data", variant.name, repeat)
        options.setdefault("seed", drawn)
    return load(variant.name, download=download, **options)


def describe_data(
    variant: Variant, seed: int, *, download: bool, on_missing: str
) -> dict[str, Any]:
    """Return what reports say of a data set, there or not; of draws, of the first."""
    entry = default_registry()[variant.name]
    info = {"id": variant.id, "name": entry.name, **entry.describe()}
    try:
        data = load_variant(variant, seed, download=download)
    except DataNotAvailableError as error:
        if on_missing == "fail":
            raise
        return info | {"status": "missing", "reason": str(error)}
    sizes = data.task_sizes
    return info | {
        "status": "ok",
        "reason": "",
        "origin": data.origin,
        "notes": [*info["notes"], *data.remarks],
        "digest": data.digest(),
        "n": int(data.X.shape[0]),
        "n_samples": int(np.unique(data.sample).size),
        "d": int(data.X.shape[1]),
        **({"nonzeros": int(data.X.nnz)} if is_sparse(data.X) else {}),
        "n_tasks": data.n_tasks,
        "task_sizes": [int(sizes.min()), float(np.median(sizes)), int(sizes.max())],
        "feature_names": list(data.feature_names),
        "task_names": list(data.task_names),
    }


DataNeed = tuple[Variant, list[NamedProtocol]]
"""A data set, and the protocols that split it."""


def data_needs(config: Paper, datasets: Iterable[Variant]) -> list[DataNeed]:
    """Return what :func:`prepare_data` has to know of some data sets."""
    protocols: dict[str, dict[str, NamedProtocol]] = {}
    for experiment in config.experiments.values():
        name = experiment.protocol
        for variant in experiment.variants:
            own = protocols.setdefault(variant.id, {})
            own[name] = config.protocols[name].named(name)
    return [(each, list(protocols[each.id].values())) for each in datasets]


def prepare_data(
    needs: Iterable[DataNeed],
    folder: PaperFolder,
    *,
    seed: int,
    download: bool,
    on_missing: str,
    record: Record | None = None,
) -> None:
    """Write what is known of data sets, and their splits; none if data are missing.

    Data have to be those of a published record that the scores are compared with.
    """
    for variant, protocols in needs:
        info = describe_data(variant, seed, download=download, on_missing=on_missing)
        is_here = info["status"] == "ok"
        if record is not None and is_here:
            check_data(read_json(record.folder / "provenance.json"), info)
        write_json(folder.data_info(variant.id), info)
        is_drawn = default_registry()[variant.name].drawn
        for protocol in protocols:
            splits: dict[SplitKey, Split] = {}
            for repeat in range(protocol.repeats if is_drawn else 1) if is_here else ():
                data = load_variant(variant, seed, repeat=repeat)
                own = [repeat] if is_drawn else None
                splits |= make_splits(data, protocol, seed, repeats=own)
            save_splits(folder.splits(protocol.id, variant.id), splits)


def data_source(variant: Variant) -> str:
    """Return where a data set would come from, without reading it.

    One of "built-in", "mirror", "cache" and "missing", or size and time of a file of
    one's own: a change makes the workflow look again.
    """
    if is_file(variant.name) and Path(variant.name).is_file():
        found = Path(variant.name).stat()
        return f"{found.st_size} bytes, {found.st_mtime_ns}"
    return default_registry().locate(variant.name) or "missing"


def missing_data(config: Paper, folder: PaperFolder) -> dict[str, str]:
    """Return by name why data sets of a paper are missing, and how to get them."""
    paths = [folder.data_info(variant.id) for variant in config.variants]
    infos = [read_json(path) for path in paths if path.is_file()]
    missing = [info for info in infos if info["status"] == "missing"]
    return {info["name"]: info["reason"] for info in missing}
