"""Splits of a data set into training and test rows: stored data, never a method's.

A protocol says how to split; a split is keyed by (train size, repeat). Everything
random in it comes from ``(root seed, protocol id, data set name, train size, repeat)``
alone, so that all methods, and all variants of one data set, see the same splits. In
place of its name a file of one's own has its tasks and targets.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mtmkl.datasets.container import MultiTaskData
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.data.loaders.own import is_file
from mtmkl_suite.data.protocols import (
    WITH_VALIDATION,
    AnyProtocol,
    Protocol,
    check_protocol,
)
from mtmkl_suite.files import intact, write_npz

SplitKey = tuple[int, int]


_ROLES = ("train", "validation", "test")
_ARRAYS = (*_ROLES, "fold", "task_order")
_MAX_DEALS = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class Split:
    """Roles of the rows of one data set in one repeat.

    Rows of ``train``, ``validation``, which may be empty, and ``test`` are disjoint;
    ``fold`` numbers the cross-validation folds of the training rows. Slices of the
    permutation ``task_order`` are the tasks of experiments on fewer tasks.
    """

    train: IntArray
    validation: IntArray
    test: IntArray
    fold: IntArray
    task_order: IntArray

    def __post_init__(self) -> None:
        for label in _ARRAYS:
            values = np.array(getattr(self, label), dtype=np.intp)
            values.setflags(write=False)
            object.__setattr__(self, label, values)
        rows = np.concatenate([getattr(self, role) for role in _ROLES])
        values, counts = np.unique(rows, return_counts=True)
        if (counts > 1).any():
            raise ValueError(f"row {values[counts > 1][0]} has two roles")


def _in_seeds(data: MultiTaskData) -> bytes:
    """Return what draws depend on: a file's content, whatever its name and features."""
    if not is_file(data.name):
        return data.name.encode()
    order = np.unique(data.y, return_inverse=True)[1]
    return np.concatenate([data.task, order]).astype("<i8").tobytes()


def make_splits(
    data: MultiTaskData,
    protocol: AnyProtocol,
    seed: int,
    *,
    repeats: Iterable[int] | None = None,
) -> dict[SplitKey, Split]:
    """Return every split of a protocol, by (train size, repeat).

    The protocol has the keys of :class:`~mtmkl_suite.data.Protocol`, and ``id``, which
    names it in messages and in the seeds of its draws. ``repeats`` are those to make,
    for data that differ from repeat to repeat; by default all. Train size 0 stands for
    what the data decide (kinds ``published``, ``given``, ``given_roles`` and
    ``thirds``).
    """
    checked = check_protocol(protocol)
    chosen = range(checked.repeats) if repeats is None else list(repeats)
    return {
        (size, repeat): make_split(data, checked, seed, train_size=size, repeat=repeat)
        for size in checked.sizes
        for repeat in chosen
    }


def make_split(
    data: MultiTaskData,
    protocol: AnyProtocol,
    seed: int,
    *,
    train_size: int,
    repeat: int,
) -> Split:
    """Return one split of ``make_splits``, of data that differ by repeat, too."""
    checked = check_protocol(protocol)
    if train_size not in checked.sizes or not 0 <= repeat < checked.repeats:
        raise ValueError(
            f"protocol {checked.id!r} has no split (train size {train_size}, "
            f"repeat {repeat}): sizes {checked.sizes}, {checked.repeats} repeats"
        )
    root = np.random.SeedSequence(
        [
            seed,
            zlib.crc32(checked.id.encode()),
            zlib.crc32(_in_seeds(data)),
            train_size,
            repeat,
        ]
    )
    # One stream per purpose: another number of folds leaves the roles as they are.
    roles_rng, folds_rng, order_rng = (
        np.random.default_rng(child) for child in root.spawn(3)
    )
    validation = np.empty(0, dtype=np.intp)
    if checked.kind in WITH_VALIDATION:
        train, validation, test = (
            _given_roles(data)
            if checked.kind == "given_roles"
            else _drawn_roles(data, checked, train_size, roles_rng)
        )
        fold = np.zeros_like(train)
    else:
        is_train, is_test = _masks(data, checked.kind, train_size, repeat, roles_rng)
        train, test = np.flatnonzero(is_train), np.flatnonzero(is_test)
        n_samples, folds = np.unique(data.sample[train]).size, checked.folds or 1
        if folds > n_samples > 0:
            raise ValueError(
                f"protocol {checked.id!r}: folds is {checked.folds}, more than "
                f"the {n_samples} training samples of {data.name!r}; take fewer"
            )
        fold = _deal_folds(data, train, folds, folds_rng)
    for role, rows in (("training", train), ("test", test)):
        if rows.size == 0:
            raise ValueError(
                f"protocol {checked.id!r} leaves {data.name!r} no {role} rows"
            )
    return Split(
        train=train,
        validation=validation,
        test=test,
        fold=fold,
        task_order=order_rng.permutation(data.n_tasks),
    )


def save_splits(path: str | Path, splits: Mapping[SplitKey, Split]) -> None:
    """Write splits to an ``.npz`` file; the same splits give the same bytes."""
    arrays = {
        f"{label}|{size}|{repeat}": getattr(split, label).astype("<i8")
        for (size, repeat), split in sorted(splits.items())
        for label in _ARRAYS
    }
    write_npz(Path(path), arrays)


def load_splits(path: str | Path) -> dict[SplitKey, Split]:
    """Read the splits that ``save_splits`` wrote."""
    fields: dict[SplitKey, dict[str, NDArray[Any]]] = {}
    with intact(Path(path)), np.load(path, allow_pickle=False) as stored:
        for key in stored.files:
            label, size, repeat = key.split("|")
            fields.setdefault((int(size), int(repeat)), {})[label] = stored[key]
        return {key: Split(**arrays) for key, arrays in fields.items()}


def _masks(
    data: MultiTaskData, kind: str, train_size: int, repeat: int, rng: Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the rows for training and testing; for kinds of protocols with folds."""
    if kind == "published":
        is_train = _mark(data, f"train_{repeat + 1}", kind)
        if f"test_{repeat + 1}" not in data.truth:
            return is_train, ~is_train
        return is_train, _mark(data, f"test_{repeat + 1}", kind)
    if kind == "given":
        is_test = _mark(data, "is_test", kind)
        return ~is_test, is_test
    if kind == "first_rows":
        is_test = _mark(data, "test_block", kind)
        return _first_rows(data, is_test, train_size), is_test
    if kind == "random":
        _, example = np.unique(data.sample, return_inverse=True)
        part = np.zeros(example.max() + 1, dtype=np.intp)
    else:
        example, labels, part = _labels_of(data)
        if kind == "per_class":
            labels = np.nan_to_num(labels)
            part = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    is_drawn = np.zeros(part.size, dtype=bool)
    for number in range(part.max() + 1):
        mine = np.flatnonzero(part == number)
        if train_size >= mine.size:
            task = data.task_names[data.task[np.isin(example, mine)][0]]
            of_task = "" if kind == "random" else f"{task!r} of "
            raise ValueError(
                f"{train_size} training samples leave none of the {mine.size} of "
                f"{of_task}{data.name!r} for testing"
            )
        is_drawn[rng.permutation(mine)[:train_size]] = True
    return is_drawn[example], ~is_drawn[example]


def _first_rows(
    data: MultiTaskData, is_test: NDArray[np.bool_], train_size: int
) -> NDArray[np.bool_]:
    is_train = np.zeros_like(is_test)
    for task in range(data.n_tasks):
        rows = data.rows_of(task)
        rows = rows[~is_test[rows]]
        if rows.size < train_size:
            raise ValueError(
                f"{data.task_names[task]!r} of {data.name!r} has {rows.size} rows "
                f"outside its test block, fewer than the {train_size} wanted"
            )
        is_train[rows[:train_size]] = True
    return is_train


def _given_roles(data: MultiTaskData) -> tuple[IntArray, IntArray, IntArray]:
    is_validation, is_test = (
        _mark(data, f"is_{role}", "given_roles") for role in ("validation", "test")
    )
    roles = (~is_validation & ~is_test, is_validation, is_test)
    train, validation, test = (np.flatnonzero(role) for role in roles)
    if not validation.size:
        raise ValueError(f"no row of {data.name!r} is marked for validation")
    return train, validation, test


def _mark(data: MultiTaskData, key: str, kind: str) -> NDArray[np.bool_]:
    if key not in data.truth:
        raise ValueError(
            f"{data.name!r} has no {key!r} in its truth, which protocols of kind "
            f"{kind!r} need here"
        )
    return np.asarray(data.truth[key], dtype=bool)


def _labels_of(
    data: MultiTaskData, *, shared: bool = True
) -> tuple[IntArray, FloatArray, IntArray]:
    """Return the example of each row; of each sample its targets, and its group.

    Targets (m, T) are nan for tasks without the example. Samples that belong to the
    same tasks are a group. If not ``shared``, every row is an example of its own.
    """
    identity = data.sample if shared else np.arange(data.y.size)
    samples, example = np.unique(identity, return_inverse=True)
    label = np.full((samples.size, data.n_tasks), np.nan)
    label[example.ravel(), data.task] = data.y
    _, group = np.unique(~np.isnan(label), axis=0, return_inverse=True)
    return example.ravel(), label, group.ravel()


def _drawn_roles(
    data: MultiTaskData, protocol: Protocol, train_size: int, rng: Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Return training, validation and test rows; all rows of a sample share a role.

    Samples of the same tasks are a group (one-vs-rest: all of them; one-vs-one: a
    class; separate tasks: a task), and those of a group with the same labels in all its
    tasks are a stratum. Except for fractions, a task must be one group.

    ``train_size`` counts samples per group, in percent for "fractions"; "thirds" has
    none. If stratified, the roles share every stratum alike; if not shared, every row
    counts as an example of its own, whatever its tasks have in common.
    """
    example, label, group = _labels_of(data, shared=protocol.shared)
    member = np.zeros((group.max() + 1, data.n_tasks), dtype=bool)
    member[group[example], data.task] = True
    divided = np.flatnonzero(member.sum(axis=0) > 1)
    if divided.size and protocol.kind != "fractions":
        raise ValueError(
            f"{data.task_names[divided[0]]!r} of {data.name!r} shares some of its "
            "samples with other tasks, which must share all or none here"
        )
    role = np.empty(group.size, dtype=np.intp)
    for number in range(group.max() + 1):
        mine = np.flatnonzero(group == number)
        wanted = {
            "halves": train_size,
            "thirds": mine.size // 3,
            "fractions": (2 * train_size * mine.size + 100) // 200,
        }[protocol.kind]
        task = data.task_names[int(np.flatnonzero(member[number])[0])]
        if wanted > mine.size - 2:
            raise ValueError(
                f"{wanted} training samples leave too few of the {mine.size} of "
                f"{task!r} of {data.name!r} for validation and testing"
            )
        if wanted == 0:
            raise ValueError(
                f"{train_size} % of {mine.size} samples of {task!r} of "
                f"{data.name!r} are none: take a larger train_percent"
            )
        stratum = np.zeros(mine.size, dtype=np.intp)
        if protocol.stratified:
            labels = label[np.ix_(mine, np.flatnonzero(member[number]))]
            stratum = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
        shuffled = rng.permutation(mine.size)
        order = shuffled[np.argsort(stratum[shuffled], kind="stable")]
        quota = _quota(np.bincount(stratum), wanted)
        first = np.cumsum(np.bincount(stratum)) - np.bincount(stratum)
        rank = np.empty(mine.size, dtype=np.intp)
        rank[order] = np.arange(mine.size) - first[stratum[order]]
        is_train = rank < quota[stratum]
        # The others in turns, from one stratum to the next, so that halves are equal.
        others = order[~is_train[order]]
        role[mine[is_train]] = 0
        role[mine[others[0::2]]] = 1
        role[mine[others[1::2]]] = 2
    train, validation, test = (
        np.flatnonzero(role[example] == each) for each in range(3)
    )
    return train, validation, test


def _quota(sizes: IntArray, wanted: int) -> IntArray:
    """Divide ``wanted`` samples among strata in proportion to their sizes.

    By largest remainders; a stratum of three or more gives at least one and keeps two.
    """
    share = wanted * sizes / sizes.sum()
    least = np.where(sizes >= 3, 1, 0)
    most = np.where(sizes >= 3, sizes - 2, sizes)
    quota = np.clip(np.floor(share).astype(np.intp), least, most)
    while quota.sum() != wanted:
        if quota.sum() < wanted:
            lag = np.where(quota < most, share - quota, -np.inf)
            chosen, step = int(np.argmax(lag)), 1
        else:
            lead = np.where(quota > least, quota - share, -np.inf)
            chosen, step = int(np.argmax(lead)), -1
        if not np.isfinite(lag[chosen] if step > 0 else lead[chosen]):
            # So few are wanted, or so many, that some stratum must do without.
            least, most = np.zeros_like(sizes), sizes
            continue
        quota[chosen] += step
    return quota


def _deal_folds(
    data: MultiTaskData, train: IntArray, n_folds: int, rng: Generator
) -> IntArray:
    """Deal training samples to folds, evenly within every task.

    Samples that belong to the same set of tasks form a group (one-vs-rest: one group;
    one-vs-one: the classes; separate tasks: the tasks). Each group is shuffled and
    dealt round, where the group before it stopped; so the folds of a group, and those
    of the whole, differ in size by at most one, and all rows of a sample share one.
    """
    samples, example = np.unique(data.sample[train], return_inverse=True)
    member = np.zeros((samples.size, data.n_tasks), dtype=bool)
    member[example, data.task[train]] = True
    _, group = np.unique(np.packbits(member, axis=1), axis=0, return_inverse=True)
    sizes = np.bincount(data.task[train], minlength=data.n_tasks)
    # Only overlapping tasks of two or three rows can need a second deal.
    for _ in range(_MAX_DEALS):
        shuffled = rng.permutation(samples.size)
        order = shuffled[np.argsort(group.ravel()[shuffled], kind="stable")]
        fold_of = np.empty(samples.size, dtype=np.intp)
        fold_of[order] = np.arange(samples.size) % n_folds
        fold = fold_of[example]
        counts = np.zeros((data.n_tasks, n_folds), dtype=np.intp)
        np.add.at(counts, (data.task[train], fold), 1)
        lumped = np.flatnonzero((sizes >= 2) & (counts.max(axis=1) == sizes))
        if lumped.size == 0:
            return fold
    raise ValueError(
        f"no deal of {n_folds} folds parts the {sizes[lumped[0]]} training rows of "
        f"{data.task_names[lumped[0]]!r}"
    )
