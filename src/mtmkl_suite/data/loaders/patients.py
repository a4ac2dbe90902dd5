"""Medical tables of the UCI repository: Dermatology, Statlog heart, Parkinson's."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import one_vs_rest
from mtmkl.typing import FloatArray, IntArray

DERMATOLOGY_ATTRIBUTES = (
    "erythema", "scaling", "definite borders", "itching", "koebner phenomenon",
    "polygonal papules", "follicular papules", "oral mucosal involvement",
    "knee and elbow involvement", "scalp involvement", "family history",
    "melanin incontinence", "eosinophils in the infiltrate", "PNL infiltrate",
    "fibrosis of the papillary dermis", "exocytosis", "acanthosis", "hyperkeratosis",
    "parakeratosis", "clubbing of the rete ridges", "elongation of the rete ridges",
    "thinning of the suprapapillary epidermis", "spongiform pustule",
    "munro microabcess", "focal hypergranulosis", "disappearance of the granular layer",
    "vacuolisation and damage of basal layer", "spongiosis",
    "saw-tooth appearance of retes", "follicular horn plug",
    "perifollicular parakeratosis", "inflammatory mononuclear infiltrate",
    "band-like infiltrate", "age",
)  # fmt: skip

DISEASES = (
    "psoriasis",
    "seborrheic dermatitis",
    "lichen planus",
    "pityriasis rosea",
    "chronic dermatitis",
    "pityriasis rubra pilaris",
)

_AGE = DERMATOLOGY_ATTRIBUTES.index("age")


def load_dermatology(
    files: Mapping[str, Path], *, age: bool = False, bias: bool = True
) -> MultiTaskData:
    """Read Dermatology as six one-vs-rest tasks: one disease against all others.

    33 attributes of 366 patients (0 to 3, family history 0 or 1), then the age in years
    and a column of ones as wanted; eight unknown ages become the median of the others.
    """
    table, label = dermatology_table(files["dermatology.data"])
    columns, names = [table[:, :_AGE]], [*DERMATOLOGY_ATTRIBUTES[:_AGE]]
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


def dermatology_table(path: Path) -> tuple[FloatArray, IntArray]:
    """Return the 34 attributes of 366 patients, and the numbers of their diseases.

    Diseases are numbered from 1, in the order of ``DISEASES``; unknown ages are nan.
    """
    values = np.genfromtxt(path, delimiter=",")
    return values[:, :-1], values[:, -1].astype(np.intp)


HEART_ATTRIBUTES = (
    "age", "sex", "chest pain type", "resting blood pressure", "serum cholesterol",
    "fasting blood sugar over 120 mg/dl", "resting electrocardiogram",
    "maximum heart rate", "exercise induced angina", "ST depression",
    "slope of the ST segment", "vessels coloured by fluoroscopy", "thal",
)  # fmt: skip


def load_heart(files: Mapping[str, Path]) -> MultiTaskData:
    """Read Statlog heart as ten tasks of 27 patients, from the youngest to the oldest.

    They are sorted by age, those of one age in the order of the file, as in section 11
    of Jebara (2011). Features are scaled to [0, 1] over all patients.
    """
    table = np.loadtxt(files["heart.dat"])
    table = table[np.argsort(table[:, 0], kind="stable")]
    X = table[:, :-1]
    blocks = X[:, 0].reshape(10, 27)
    return MultiTaskData(
        X=(X - X.min(axis=0)) / np.ptp(X, axis=0),
        y=np.where(table[:, -1] == 2.0, 1.0, -1.0),
        task=np.repeat(np.arange(10), 27),
        name="statlog_heart",
        task_names=tuple(
            f"block {k + 1}, age {ages.min():.0f} to {ages.max():.0f}"
            for k, ages in enumerate(blocks)
        ),
        feature_names=HEART_ATTRIBUTES,
    )


_SCORES = {"motor_UPDRS": "motor", "total_UPDRS": "total"}
_VOICE = {
    "age": "age", "sex": "sex", "test_time": "test time", "Jitter(%)": "jitter, %",
    "Jitter(Abs)": "jitter, absolute", "Jitter:RAP": "jitter, RAP",
    "Jitter:PPQ5": "jitter, PPQ5", "Jitter:DDP": "jitter, DDP", "Shimmer": "shimmer",
    "Shimmer(dB)": "shimmer, dB", "Shimmer:APQ3": "shimmer, APQ3",
    "Shimmer:APQ5": "shimmer, APQ5", "Shimmer:APQ11": "shimmer, APQ11",
    "Shimmer:DDA": "shimmer, DDA", "NHR": "noise to harmonics",
    "HNR": "harmonics to noise", "RPDE": "RPDE", "DFA": "DFA", "PPE": "PPE",
}  # fmt: skip


def load_parkinsons(files: Mapping[str, Path]) -> MultiTaskData:
    """Read the telemonitoring data: the motor, then the total scores of 42 patients.

    Age (years), sex (0 male, 1 female), days since recruitment and 16 measures of the
    voice are as they are stored; age and sex are constant within a task. ``sample`` is
    the recording, which the two tasks of a patient share.
    """
    path = files["parkinsons_updrs.data"]
    header = path.read_text(encoding="ascii").splitlines()[0].split(",")
    columns = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    table = dict(zip(header, columns, strict=True))
    patient = table["subject#"].astype(np.intp) - 1
    order = np.argsort(patient, kind="stable")
    return MultiTaskData(
        X=np.tile(np.column_stack([table[name] for name in _VOICE])[order], (2, 1)),
        y=np.concatenate([table[score][order] for score in _SCORES]),
        task=np.concatenate([patient[order], patient[order] + 42]),
        sample=np.tile(order, 2),
        name="parkinsons_telemonitoring",
        task_names=tuple(
            f"patient {k + 1}, {score} score"
            for score in _SCORES.values()
            for k in range(42)
        ),
        feature_names=tuple(_VOICE.values()),
    )
