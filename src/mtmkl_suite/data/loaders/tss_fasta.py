"""Sequences of several organisms, from a folder of FASTA files."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import vstack

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import draw_per_class
from mtmkl.sequences import FastaRecord, read_fasta
from mtmkl.sequences.specs import features_from_spec
from mtmkl.typing import FloatArray, Spec
from mtmkl_suite.documents import Count, NotNegative
from mtmkl_suite.errors import DataNotAvailableError

_FILE = re.compile(
    r"(?P<organism>.+)_(?P<kind>positive|negative)\.(fasta|fa)(\.gz)?", re.IGNORECASE
)
_LAYOUT = (
    "name the files <organism>_positive.fasta and <organism>_negative.fasta (or .fa; "
    "also .gz)"
)


def load_tss_fasta(
    *,
    folder: str | None = None,
    distances: str = "distances.csv",
    features: Spec = "weighted_degree",
    n_per_class: Count | None = None,
    seed: NotNegative = 0,
) -> MultiTaskData:
    """Read a FASTA file of positives and one of negatives per organism.

    Sequences that come twice in a file are taken once, with a warning that counts them.
    ``distances`` is a CSV file in the folder, with the names of the organisms as header
    and first column, in any order; the default one need not exist.
    """
    if folder is None or not Path(folder).is_dir():
        what = "no folder is named" if folder is None else f"{folder} is no folder"
        raise DataNotAvailableError(
            f"data set 'tss_fasta' is not available: {what}. Give its option 'folder' "
            f"a folder of FASTA files; {_LAYOUT}"
        )
    found = _organisms(Path(folder))
    transformer = features_from_spec(features)
    parts: list[Any] = []
    y, task = [], []
    for number, files in enumerate(found.values()):
        seen: dict[str, tuple[Path, FastaRecord]] = {}
        for kind, label in (("positive", 1.0), ("negative", -1.0)):
            path = files[kind]
            sequences = _distinct(path, seen)
            try:
                if not parts:
                    transformer.fit(sequences)
                parts.append(transformer.transform(sequences))
            except ValueError as error:
                raise ValueError(
                    f"{path}, its different sequences X counted from 0: {error}"
                ) from None
            y.append(np.full(len(sequences), label))
            task.append(np.full(len(sequences), number, dtype=np.intp))
    X, outputs, tasks = vstack(parts, format="csr"), np.hstack(y), np.hstack(task)
    if n_per_class is not None:
        classes = 2 * tasks + (outputs < 0)
        rows = draw_per_class(classes, n_per_class, seed, equal=False)
        X, outputs, tasks = X[rows], outputs[rows], tasks[rows]
    matrix = Path(folder) / distances
    relations = {}
    if matrix.exists() or distances != "distances.csv":
        relations["distances"] = _distances(matrix, list(found))
    return MultiTaskData(
        X=X,
        y=outputs,
        task=tasks,
        name="tss_fasta",
        task_names=tuple(found),
        task_relations=relations,
    )


def _organisms(folder: Path) -> dict[str, dict[str, Path]]:
    """Return the files of each organism, by kind."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        match = _FILE.fullmatch(path.name)
        if match is None:
            continue
        files = found.setdefault(match["organism"], {})
        kind = match["kind"].lower()
        if kind in files:
            raise ValueError(
                f"{path} and {files[kind].name} are both the {kind}s of "
                f"{match['organism']}: keep one"
            )
        files[kind] = path
    if not found:
        raise ValueError(f"{folder} has no FASTA files of this layout: {_LAYOUT}")
    for organism, files in found.items():
        for kind in ("positive", "negative"):
            if kind not in files:
                raise ValueError(
                    f"{folder} has no {kind}s of {organism}: add the file "
                    f"{organism}_{kind}.fasta, or remove {next(iter(files.values()))}"
                )
    return dict(sorted(found.items()))


def _distinct(path: Path, seen: dict[str, tuple[Path, FastaRecord]]) -> list[str]:
    """Return the sequences of a file, each once; ``seen`` has those of the organism."""
    out = []
    records = read_fasta(path)
    for record in records:
        sequence = record.sequence.upper()
        if sequence not in seen:
            seen[sequence] = (path, record)
            out.append(sequence)
        elif seen[sequence][0] != path:
            other, first = seen[sequence]
            raise ValueError(
                f"{path}, line {record.line}: the sequence of {record.header[:40]!r} "
                f"is in {other.name}, line {first.line}, too: remove it from one class"
            )
    if len(out) < len(records):
        warnings.warn(
            f"{path}: {len(records) - len(out)} of {len(records)} sequences come twice "
            "and are left out",
            stacklevel=3,
        )
    return out


def _distances(path: Path, organisms: list[str]) -> FloatArray:
    if not path.is_file():
        raise ValueError(f"{path} does not exist: write it, or leave out 'distances'")
    try:
        table = pd.read_csv(path, index_col=0, dtype=str, encoding="utf-8-sig")
    except pd.errors.EmptyDataError:
        table = pd.DataFrame()
    table = table.rename(index=str.strip, columns=str.strip).fillna("")
    for where, names in (("column", table.columns), ("row", table.index)):
        missing = [name for name in organisms if name not in names]
        if missing:
            raise ValueError(
                f"{path} has no {where} {missing[0]!r}: rows and columns must have the "
                f"names of the FASTA files, {', '.join(organisms)}"
            )
    table = table.loc[organisms, organisms]
    out = table.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    for s, t in np.argwhere(~np.isfinite(out) | (out != out.T)):
        raise ValueError(
            f"{path}: the distance of {organisms[s]!r} and {organisms[t]!r} is "
            f"{table.iloc[s, t]!r}, and the other way round {table.iloc[t, s]!r}; both "
            "must be one finite number"
        )
    return out
