"""Where results come from: code, locked packages, data, machine, time by job."""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from mtmkl_suite.config.models import Paper, Run
from mtmkl_suite.data.fetch.integrity import sha256_of
from mtmkl_suite.errors import ConfigError

_ROOT = Path(__file__).resolve().parents[3]
_PACKAGES = ("mtmkl", "numpy", "scipy", "scikit-learn", "numba", "pandas", "matplotlib")

_OF_DATA = ("digest", "origin", "n", "n_tasks")
"""Keys kept of the description of a data set."""


def provenance(
    config: Paper,
    run: Run,
    data_infos: Iterable[Mapping[str, Any]],
    benchmarks: Mapping[str, Sequence[Mapping[str, str]]],
) -> dict[str, Any]:
    """Return the provenance of a paper's results."""
    return {
        "paper": config.paper.id,
        "tier": run.tier,
        "seed": run.seed,
        **({"changes": config.changes} if config.changes else {}),
        **of_the_code(config),
        "data": {
            info["id"]: (
                {key: info[key] for key in _OF_DATA if key in info}
                if info["status"] == "ok"
                else {"missing": info["reason"]}
            )
            for info in sorted(data_infos, key=lambda info: info["id"])
        },
        "machine": machine(),
        "seconds_by_job": {
            name: round(sum(float(row["s"]) for row in rows), 2)
            for name, rows in benchmarks.items()
            if rows
        },
    }


def machine() -> dict[str, Any]:
    """Return processor, kernels of BLAS, number of cores, system and Python's version.

    The digits of linear algebra depend on its kernels (:mod:`mtmkl_suite.arithmetic`).
    """
    blas = {
        library.get("architecture", library["internal_api"])
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return {
        "processor": _processor(),
        "blas": ", ".join(sorted(blas)),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def of_the_code(config: Paper) -> dict[str, Any]:
    """Return ``commit``, ``lock_sha256``, ``config_sha256`` and ``packages``."""
    # But for what tells where it lies.
    local = dict.fromkeys(("published", "seconds", "record"), True)
    document = config.given(but={**local, "readings": {"main": local}})
    text, lock = json.dumps(document, sort_keys=True), _ROOT / "requirements.lock"
    return {
        "commit": current_commit(),
        "lock_sha256": sha256_of(lock) if lock.is_file() else None,
        "config_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "packages": packages(),
    }


def packages() -> dict[str, str]:
    """Return the versions of the packages that compute."""
    return {name: metadata.version(name) for name in _PACKAGES}


def check_settings(provenance: Mapping[str, Any], *, tier: str, seed: int) -> None:
    """Check that settings are those of published scores."""
    paper = provenance["paper"]
    for name, ours in (("tier", tier), ("seed", seed)):
        if provenance[name] != ours:
            raise ConfigError(
                f"the published scores of {paper} are of {name} {provenance[name]}, "
                f"not {ours}: add --config {name}={provenance[name]}"
            )


def check_data(provenance: Mapping[str, Any], info: Mapping[str, Any]) -> None:
    """Check that a data set, as described here, is that of published scores."""
    theirs = provenance["data"].get(info["id"], {})
    if theirs.get("digest") != info["digest"]:
        raise ConfigError(
            f"data set {info['id']} is not the one behind the published scores of "
            f"{provenance['paper']} (digest {theirs.get('digest', 'missing')}, here "
            f"{info['digest']}): publish a run of it first"
        )


def commit_date(commit: str) -> str:
    """Return the day of a commit, as 2026-01-31; "" where git does not know it."""
    try:
        return _git("show", "--no-patch", "--format=%cs", commit.rstrip("+"), "--")
    except (OSError, subprocess.CalledProcessError):
        return ""


def current_commit() -> str | None:
    """Return the commit of the code, with ``+`` if files differ from it."""
    try:
        if Path(_git("rev-parse", "--show-toplevel")).resolve() != _ROOT:
            return None
        changed = _git("status", "--porcelain", "--", "src", "config", "workflow")
        return _git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(_ROOT), *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
