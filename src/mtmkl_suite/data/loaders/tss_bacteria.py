"""Transcription start sites of 13 bacteria: windows of 81 nucleotides."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import draw_per_class
from mtmkl.kernels.task_trees import leaf_distances, restrict_tree
from mtmkl.sequences import read_fasta
from mtmkl.sequences.specs import features_from_spec
from mtmkl.typing import FloatArray, IntArray, Spec
from mtmkl_suite.documents import Count, NotNegative

_LENGTH = 81

# Folder, and leaf of the tree of life: of a relative where the species is not in it.
_SPECIES = {
    "B.amyloliquefaciens": "Bacillus_subtilis",
    "C.jejuni": "Campylobacter_jejuni",
    "C.pneumoniae": "Chlamydia_pneumoniae_CWL029",
    "E.coli": "Escherichia_coli_K12",
    "H.pylori": "Helicobacter_pylori_26695",
    "L.interrogans": "Leptospira_interrogans_L1-130",
    "L.phytofermentans": "Clostridium_acetobutylicum",
    "M.smegmatis": "Mycobacterium_tuberculosis_H37Rv",
    "R.capsulatus": "Caulobacter_crescentus",
    "S.Typhimurium": "Salmonella_typhimurium",
    "S.coelicolor": "Streptomyces_coelicolor",
    "S.oneidensis": "Shewanella_oneidensis",
    "S.pyogenes": "Streptococcus_pyogenes_M1",
}
_TREE = "phylogeny/itol_tree_of_life.nwk"

# "<accession> <description> <position> (<strand>)"; the strands of a genome may also
# have accessions of their own.
_HEADER = re.compile(r"(\S+) .* (-?\d+) ?\(([+-])\)")


def load_tss_bacteria(
    files: Mapping[str, Path],
    *,
    features: Spec | None = None,
    n_per_class: Count | None = None,
    seed: NotNegative = 0,
    overlapping: bool = False,
) -> MultiTaskData:
    """Read windows around transcription start sites, and others, one task per species.

    The published files divide each class into nine tenths for training and one tenth
    for testing. Here they are pooled, for splits of our own.

    By default ``features`` are weighted-degree features of degree 4, all sequences are
    taken (``n_per_class`` draws as many of each class and species), and words with one
    of the few letters other than A, C, G and T count nothing (``on_unknown``).

    Windows that overlap an earlier one of the same class on the same strand are left
    out: with parts of one site in training and test data, features without positions
    look better than they are. ``overlapping`` keeps them.

    ``task_relations`` has the distances ``phylogeny`` along the tree of life, and the
    ``tree_of_life`` as far as it joins these species; four of them are represented by a
    relative.
    """
    spec = {"name": "weighted_degree", "degree": 4} if features is None else features
    transformer = features_from_spec(spec)
    if isinstance(spec, str) or "on_unknown" not in spec:
        transformer.set_params(on_unknown="skip")
    windows = _windows(*(path for name, path in files.items() if name != _TREE))
    rows = np.arange(len(windows.sequences)) if overlapping else windows.apart
    if n_per_class is not None:
        label = 2 * windows.task[rows] + (windows.y[rows] < 0)
        rows = rows[draw_per_class(label, n_per_class, seed, equal=False)]
    tree = files[_TREE].read_text("utf-8")
    leaves = list(_SPECIES.values())
    names = [species.replace(".", ". ", 1) for species in _SPECIES]
    return MultiTaskData(
        X=transformer.fit_transform([windows.sequences[row] for row in rows]),
        y=windows.y[rows],
        task=windows.task[rows],
        name="tss_bacteria",
        task_names=tuple(names),
        origin="stand-in",
        task_relations={
            "phylogeny": leaf_distances(tree, leaves),
            "tree_of_life": restrict_tree(tree, dict(zip(leaves, names, strict=True))),
        },
    )


@dataclass(frozen=True)
class _Windows:
    """All windows of the published files; ``apart`` are those without overlaps."""

    sequences: tuple[str, ...]
    y: FloatArray
    task: IntArray
    apart: IntArray


@lru_cache(maxsize=1)
def _windows(*paths: Path) -> _Windows:
    """Read the files; cached for the next draw."""
    sequences: list[str] = []
    y, task, strand, position = [], [], [], []
    strands: dict[tuple[Any, ...], int] = {}
    for number, species in enumerate(_SPECIES):
        for label, end in ((1.0, "_p.txt"), (-1.0, "_n.txt")):
            mine = [
                path
                for path in paths
                if path.parent.name == species and path.name.endswith(end)
            ]
            # Training before test files.
            for path in sorted(mine, key=lambda path: path.name.startswith("test")):
                for record in read_fasta(path):
                    [(accession, place, sign)] = _HEADER.findall(record.header)
                    key = (number, label, accession, sign)
                    sequences.append(record.sequence)
                    y.append(label)
                    task.append(number)
                    strand.append(strands.setdefault(key, len(strands)))
                    position.append(int(place))
    apart = _apart(np.array(strand), np.array(position))
    return _Windows(tuple(sequences), np.array(y), np.array(task, dtype=np.intp), apart)


def _apart(strand: NDArray[np.intp], position: NDArray[np.intp]) -> IntArray:
    """Return the windows that do not overlap the one kept before on their strand."""
    kept = []
    last_strand, last_position = -1, 0
    for row in np.lexsort([position, strand]).tolist():
        is_next = strand[row] == last_strand
        if is_next and position[row] - last_position < _LENGTH:
            continue
        last_strand, last_position = strand[row], position[row]
        kept.append(row)
    return np.sort(np.array(kept, dtype=np.intp))
