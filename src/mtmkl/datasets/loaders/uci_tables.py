"""Multi-class tables of the UCI repository as one-vs-one tasks.

Each set is read once per process; a draw takes the same number from each class.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataCorruptError, check_expected
from mtmkl.datasets.options import Count, NotNegative, TaskKind
from mtmkl.datasets.tasks import ONE_VS_ONE, draw_per_class, of_classes
from mtmkl.typing import FloatArray

Table = tuple[FloatArray, NDArray[np.str_]]
"""Features (m, d) and the class of each row (m,), both read-only."""

VEHICLE_FEATURES = (
    "compactness",
    "circularity",
    "distance circularity",
    "radius ratio",
    "principal axis aspect ratio",
    "maximum length aspect ratio",
    "scatter ratio",
    "elongatedness",
    "principal axis rectangularity",
    "maximum length rectangularity",
    "scaled variance along the major axis",
    "scaled variance along the minor axis",
    "scaled radius of gyration",
    "skewness about the major axis",
    "skewness about the minor axis",
    "kurtosis about the minor axis",
    "kurtosis about the major axis",
    "hollows ratio",
)

IMAGE_FEATURES = (
    "region centroid column",
    "region centroid row",
    "region pixel count",
    "short line density 5",
    "short line density 2",
    "vertical edge mean",
    "vertical edge sd",
    "horizontal edge mean",
    "horizontal edge sd",
    "intensity mean",
    "raw red mean",
    "raw blue mean",
    "raw green mean",
    "excess red mean",
    "excess blue mean",
    "excess green mean",
    "value mean",
    "saturation mean",
    "hue mean",
)

_N_SENSORS, _N_COORDINATES = 24, 16
_VEHICLE_PARTS = tuple(f"xa{letter}.dat" for letter in "abcdefghi")
_IMAGE_PREAMBLE = 5  # two comments, a blank, the names of the features, a blank


def load_wall_following(
    files: Mapping[str, Path],
    *,
    n_per_class: Count | None = 200,
    tasks: TaskKind = ONE_VS_ONE,
    seed: NotNegative = 0,
) -> MultiTaskData:
    """Read the wall-following robot as six one-vs-one tasks.

    Parameters
    ----------
    files : mapping of str to Path
        ``sensor_readings_24.data``.
    n_per_class : int or None
        Examples of each of the four movements, drawn at random, at most 328, the size
        of the smallest class, which None and every larger number stand for.
    tasks : {"one_vs_one", "one_vs_rest"}
        Pairs of classes, or each class against all others.
    seed : int
        Of the draw.

    Returns
    -------
    MultiTaskData
        Six tasks of ``2 * n_per_class`` rows; the 24 ultrasound readings as stored.

    Raises
    ------
    DataCorruptError
        If a count is not the known one.
    ValueError
        If ``n_per_class`` is less than 1, or ``tasks`` is unknown.
    """
    table = _wall_following(files["sensor_readings_24.data"])
    names = tuple(f"sensor {k + 1}" for k in range(_N_SENSORS))
    return _drawn(table, n_per_class, tasks, seed, "wall_following", names)


def load_statlog_vehicle(
    files: Mapping[str, Path],
    *,
    n_per_class: Count | None = 200,
    tasks: TaskKind = ONE_VS_ONE,
    seed: NotNegative = 0,
) -> MultiTaskData:
    """Read Statlog vehicle silhouettes as six one-vs-one tasks.

    Parameters
    ----------
    files : mapping of str to Path
        ``xaa.dat`` to ``xai.dat``; other files are not read.
    n_per_class : int or None
        Silhouettes of each of the four vehicles, drawn at random, at most 199, the
        size of the smallest class, which None and every larger number stand for.
    tasks : {"one_vs_one", "one_vs_rest"}
        Pairs of classes, or each class against all others.
    seed : int
        Of the draw.

    Returns
    -------
    MultiTaskData
        Six tasks of ``2 * n_per_class`` rows, the 18 features as stored.

    Raises
    ------
    DataCorruptError
        If a count is not the known one.
    ValueError
        If ``n_per_class`` is less than 1, or ``tasks`` is unknown.
    """
    table = _statlog_vehicle(tuple(files[part] for part in _VEHICLE_PARTS))
    return _drawn(table, n_per_class, tasks, seed, "statlog_vehicle", VEHICLE_FEATURES)


def load_segmentation(
    files: Mapping[str, Path],
    *,
    n_per_class: Count | None = 200,
    tasks: TaskKind = ONE_VS_ONE,
    seed: NotNegative = 0,
) -> MultiTaskData:
    """Read image segmentation as 21 one-vs-one tasks of all seven classes.

    Parameters
    ----------
    files : mapping of str to Path
        ``segmentation.data`` and ``segmentation.test``, read as one table;
        ``segment.dat``, the same rows in another order, and ``segmentation.names`` are
        not read.
    n_per_class : int or None
        Regions of each class, drawn at random, at most 330, the size of each class,
        which None and every larger number stand for.
    tasks : {"one_vs_one", "one_vs_rest"}
        Pairs of classes, or each class against all others.
    seed : int
        Of the draw.

    Returns
    -------
    MultiTaskData
        21 tasks of ``2 * n_per_class`` rows; the 19 features as stored, of which the
        pixel count is constant. 224 of the 2310 rows repeat an earlier one.

    Raises
    ------
    DataCorruptError
        If a count is not the known one.
    ValueError
        If ``n_per_class`` is less than 1, or ``tasks`` is unknown.
    """
    table = _segmentation(files["segmentation.data"], files["segmentation.test"])
    return _drawn(table, n_per_class, tasks, seed, "segmentation", IMAGE_FEATURES)


def load_pendigits(
    files: Mapping[str, Path],
    *,
    n_per_class: Count | None = 200,
    tasks: TaskKind = ONE_VS_ONE,
    seed: NotNegative = 0,
) -> MultiTaskData:
    """Read pen-based digits as 45 one-vs-one tasks.

    Parameters
    ----------
    files : mapping of str to Path
        ``pendigits.tra`` and ``pendigits.tes``, read as one table.
    n_per_class : int or None
        Examples of each digit, drawn at random, at most 1055, the size of the smallest
        class, which None and every larger number stand for.
    tasks : {"one_vs_one", "one_vs_rest"}
        Pairs of classes, or each class against all others.
    seed : int
        Of the draw.

    Returns
    -------
    MultiTaskData
        45 tasks of ``2 * n_per_class`` rows; 16 features, the coordinates of eight
        points of the pen's way, 0 to 100.

    Raises
    ------
    DataCorruptError
        If a count or a range is not the known one.
    ValueError
        If ``n_per_class`` is less than 1, or ``tasks`` is unknown.
    """
    table = _pendigits(files["pendigits.tra"], files["pendigits.tes"])
    names = tuple(f"{axis} {k}" for k in range(1, 9) for axis in "xy")
    return _drawn(table, n_per_class, tasks, seed, "pendigits", names)


def _drawn(
    table: Table,
    n_per_class: int | None,
    tasks: str,
    seed: int,
    name: str,
    feature_names: Sequence[str],
) -> MultiTaskData:
    X, label = table
    rows = draw_per_class(label, n_per_class, seed)
    return of_classes(
        X[rows], label[rows], tasks, name=name, feature_names=feature_names
    )


@lru_cache(maxsize=1)
def _wall_following(path: Path) -> Table:
    rows = [line.split(",") for line in _lines(path)]
    sizes = {
        "Move-Forward": 2205,
        "Sharp-Right-Turn": 2097,
        "Slight-Left-Turn": 328,
        "Slight-Right-Turn": 826,
    }
    return _table("wall_following", rows, _N_SENSORS, sizes)


@lru_cache(maxsize=1)
def _statlog_vehicle(paths: tuple[Path, ...]) -> Table:
    rows = [line.split() for path in paths for line in _lines(path)]
    sizes = {"bus": 218, "opel": 212, "saab": 217, "van": 199}
    return _table("statlog_vehicle", rows, len(VEHICLE_FEATURES), sizes)


@lru_cache(maxsize=1)
def _segmentation(*paths: Path) -> Table:
    fields = [
        line.split(",")
        for path in paths
        for line in path.read_text(encoding="ascii").splitlines()[_IMAGE_PREAMBLE:]
        if line.strip()
    ]
    rows = [[*features, name.lower()] for name, *features in fields]
    classes = ("brickface", "cement", "foliage", "grass", "path", "sky", "window")
    sizes = dict.fromkeys(classes, 330)
    return _table("segmentation", rows, len(IMAGE_FEATURES), sizes)


@lru_cache(maxsize=1)
def _pendigits(*paths: Path) -> Table:
    rows = [line.split(",") for path in paths for line in _lines(path)]
    counts = (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055)
    sizes = {str(digit): count for digit, count in enumerate(counts)}
    X, label = _table("pendigits", rows, _N_COORDINATES, sizes)
    check_expected("pendigits", "range", (X.min(), X.max()), (0.0, 100.0))
    return X, label


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="ascii")
    return [line for line in text.splitlines() if line.strip()]


def _table(
    name: str,
    rows: Sequence[Sequence[str]],
    n_features: int,
    class_sizes: Mapping[str, int],
) -> Table:
    """Return the features and, from the last field, the class of each row."""
    widths = sorted({len(row) for row in rows})
    check_expected(name, "fields of a row", widths, [n_features + 1])
    classes = [row[-1].strip() for row in rows]
    check_expected(name, "class sizes", dict(Counter(classes)), dict(class_sizes))
    try:
        X = np.array([row[:-1] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise DataCorruptError(f"{name}: not a table of numbers: {error}") from None
    label = np.array(classes)
    for array in (X, label):
        array.setflags(write=False)
    return X, label
