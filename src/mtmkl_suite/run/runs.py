"""Where the results of a run go, and that one run at a time writes them."""

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from mtmkl.documents import config_dir, read_yaml
from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.run.layout import RunFolder, cache
from mtmkl_suite.run.unfinished import discard_unfinished

_LONGEST_LABEL = 120
_SETTINGS = ("seed", "on_missing_data")


class ResultsInUseError(RuntimeError):
    """Another run is writing the same results."""


def run_label(
    run: Mapping[str, Any],
    *,
    experiments: Sequence[str] = (),
    methods: Sequence[str] = (),
    grid: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> str:
    """Return the name of a run's folder below ``results``.

    It is the tier, followed by whatever differs from what ``config/config.yaml`` says,
    joined by "+": ``quick``, ``paper+seed=7``, ``quick+argyriou2008+digits``. Where the
    data come from (the mirror, downloads) makes no difference: their content is
    checked.
    """
    usual = load_run_config(
        {**read_yaml(config_dir() / "config.yaml"), "tier": run["tier"]}
    )
    parts = [run["tier"]]
    if run["papers"] != usual["papers"]:
        parts += [Path(paper).stem for paper in run["papers"]]
    parts += [*experiments, *methods]
    if grid is not None:
        parts.append(f"grid-{_hash(json.dumps(grid, sort_keys=True))}")
    for key, value in (changes or {}).items():
        is_one = isinstance(value, str | int | float)
        text = str(value) if is_one else _hash(json.dumps(value, sort_keys=True))
        parts.append(f"{key}={text}" if is_one else f"{key}-{text}")
    if run["readings"]:
        factors = [] if run["readings"] is True else run["readings"]
        parts.append("=".join(["readings", *factors]))
    parts += [f"{key}={run[key]}" for key in _SETTINGS if run[key] != usual[key]]
    label = "+".join(re.sub(r"[^\w.=-]", ".", part) for part in parts)
    if len(label) > _LONGEST_LABEL:
        return f"{label[:_LONGEST_LABEL]}-{_hash(label)}"
    return label


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def lock_results(folder: RunFolder) -> IO[str]:
    """Keep other runs out of a folder of results, until this process ends.

    The kernel holds the lock and drops it with the process, however that ends: nothing
    is left to be removed by hand. What a killed run was writing here is deleted, and
    what it was writing to the cache, unless another run may be writing there.
    """
    started = time.time()
    folder.path.mkdir(parents=True, exist_ok=True)
    file = folder.lock.open("a+", encoding="ascii")
    try:
        # Not flock: its locks would live on in orphaned child processes.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise ResultsInUseError(
            f"another run (process {owner}) is writing {folder.path}: wait until it "
            "has finished, or stop it"
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    shared = [] if _others_run(folder) else [cache(folder.path.parent)]
    discard_unfinished(folder.path, *shared, before=started)
    return file


def _others_run(folder: RunFolder) -> bool:
    """Tell whether any other run below the same top folder holds its lock."""
    for path in folder.path.parent.glob(f"*/{folder.lock.name}"):
        if path == folder.lock:
            continue  # closing it would give our own lock back
        try:
            with path.open("a", encoding="ascii") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # held, or of somebody else
            return True
    return False
