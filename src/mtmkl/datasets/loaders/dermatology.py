"""Dermatology: six erythemato-squamous diseases from clinical attributes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataCorruptError, check_expected
from mtmkl.datasets.tasks import one_vs_rest
from mtmkl.typing import FloatArray, IntArray

ATTRIBUTES = (
    "erythema",
    "scaling",
    "definite borders",
    "itching",
    "koebner phenomenon",
    "polygonal papules",
    "follicular papules",
    "oral mucosal involvement",
    "knee and elbow involvement",
    "scalp involvement",
    "family history",
    "melanin incontinence",
    "eosinophils in the infiltrate",
    "PNL infiltrate",
    "fibrosis of the papillary dermis",
    "exocytosis",
    "acanthosis",
    "hyperkeratosis",
    "parakeratosis",
    "clubbing of the rete ridges",
    "elongation of the rete ridges",
    "thinning of the suprapapillary epidermis",
    "spongiform pustule",
    "munro microabcess",
    "focal hypergranulosis",
    "disappearance of the granular layer",
    "vacuolisation and damage of basal layer",
    "spongiosis",
    "saw-tooth appearance of retes",
    "follicular horn plug",
    "perifollicular parakeratosis",
    "inflammatory mononuclear infiltrate",
    "band-like infiltrate",
    "age",
)

DISEASES = (
    "psoriasis",
    "seborrheic dermatitis",
    "lichen planus",
    "pityriasis rosea",
    "chronic dermatitis",
    "pityriasis rubra pilaris",
)

_CLASS_SIZES = [112, 61, 72, 49, 52, 20]
_N_UNKNOWN_AGES = 8
_AGE = ATTRIBUTES.index("age")


def load_dermatology(
    files: Mapping[str, Path], *, age: bool = False, bias: bool = True
) -> MultiTaskData:
    """Read Dermatology as six one-vs-rest tasks.

    Parameters
    ----------
    files : mapping of str to Path
        ``dermatology.data``.
    age : bool
        Keep the age in years, unknown for eight patients, who get the median of the
        others.
    bias : bool
        Add a column of ones, the last.

    Returns
    -------
    MultiTaskData
        Six tasks of the same 366 patients, y = +1 for the task's disease and -1 for
        all others; 33 attributes other than age (0 to 3, family history 0 or 1), then
        age and the bias column as wanted.

    Raises
    ------
    DataCorruptError
        If a count or a range is not the known one.
    """
    table, label = load_dermatology_table(files)
    columns, names = [table[:, :_AGE]], [*ATTRIBUTES[:_AGE]]
    if age:
        years = table[:, _AGE]
        columns.append(np.where(np.isnan(years), np.nanmedian(years), years)[:, None])
        names.append("age")
    if bias:
        columns.append(np.ones((len(table), 1)))
        names.append("bias")
    return one_vs_rest(
        np.hstack(columns),
        label,
        name="dermatology",
        class_names=DISEASES,
        feature_names=names,
    )


def load_dermatology_table(
    files: Mapping[str, Path],
) -> tuple[FloatArray, IntArray]:
    """Read the attributes and classes of the 366 patients.

    Parameters
    ----------
    files : mapping of str to Path
        ``dermatology.data``.

    Returns
    -------
    table : ndarray of shape (366, 34)
        ``ATTRIBUTES``; an unknown age is nan.
    label : ndarray of int of shape (366,)
        1 to 6, the classes ``DISEASES`` in order.

    Raises
    ------
    DataCorruptError
        If a count or a range is not the known one.
    """
    text = files["dermatology.data"].read_text(encoding="ascii")
    try:
        rows = [
            [np.nan if field.strip() == "?" else float(field) for field in line]
            for line in (line.split(",") for line in text.splitlines() if line.strip())
        ]
        values = np.array(rows)
    except ValueError as error:
        raise DataCorruptError(
            f"dermatology: not a table of numbers: {error}"
        ) from None
    check_expected("dermatology", "shape", values.shape, (366, len(ATTRIBUTES) + 1))
    table, label = values[:, :-1], values[:, -1].astype(np.intp)
    degrees = np.unique(table[:, :_AGE]).tolist()
    check_expected("dermatology", "values of the attributes", degrees, [0, 1, 2, 3])
    unknown = int(np.isnan(table[:, _AGE]).sum())
    check_expected("dermatology", "number of unknown ages", unknown, _N_UNKNOWN_AGES)
    sizes = np.bincount(label, minlength=7)[1:].tolist()
    check_expected("dermatology", "class sizes", sizes, _CLASS_SIZES)
    return table, label
