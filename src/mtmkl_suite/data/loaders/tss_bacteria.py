"""Transcription start sites of 13 bacteria: windows of 81 nucleotides."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

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
) -> MultiTaskData:
    """Read windows around transcription start sites, and others, one task per species.

    Words with one of the few letters other than A, C, G and T count nothing by default.
    Windows that overlap an earlier one of the same class on the same strand are left
    out: with parts of one site in training and test data, features without positions
    look better than they are.
    """
    spec = {"name": "weighted_degree", "degree": 4} if features is None else features
    transformer = features_from_spec(spec)
    if isinstance(spec, str) or "on_unknown" not in spec:
        transformer.set_params(on_unknown="skip")
    sequences, y, task = _windows(*(files[name] for name in files if name != _TREE))
    rows = np.arange(y.size)
    if n_per_class is not None:
        rows = draw_per_class(2 * task + (y < 0), n_per_class, seed, equal=False)
    tree = files[_TREE].read_text("utf-8")
    leaves = list(_SPECIES.values())
    names = [species.replace(".", ". ", 1) for species in _SPECIES]
    return MultiTaskData(
        X=transformer.fit_transform([sequences[row] for row in rows]),
        y=y[rows],
        task=task[rows],
        name="tss_bacteria",
        task_names=tuple(names),
        origin="stand-in",
        task_relations={
            "phylogeny": leaf_distances(tree, leaves),
            "tree_of_life": restrict_tree(tree, dict(zip(leaves, names, strict=True))),
        },
    )


@lru_cache(maxsize=1)
def _windows(*paths: Path) -> tuple[list[str], FloatArray, IntArray]:
    """Read windows that do not overlap, y and task; cached for the next draw."""
    rows = []
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
                    strand = number, label, accession, sign
                    rows.append((record.sequence, label, number, strand, int(place)))
    columns = ["sequence", "y", "task", "strand", "position"]
    table = pd.DataFrame(rows, columns=columns)
    strands = pd.factorize(table["strand"])[0]
    kept = table.iloc[_apart(strands, table["position"].to_numpy())]
    y, task = kept["y"].to_numpy(), kept["task"].to_numpy(dtype=np.intp)
    return kept["sequence"].tolist(), y, task


def _apart(strand: IntArray, position: IntArray) -> IntArray:
    """Return the windows that do not overlap the one kept before on their strand."""
    kept: list[int] = []
    for row in np.lexsort([position, strand]).tolist():
        is_next = kept and strand[row] == strand[kept[-1]]
        if not is_next or position[row] - position[kept[-1]] >= _LENGTH:
            kept.append(row)
    return np.sort(np.array(kept, dtype=np.intp))
