"""The division of samples into training, validation and test rows."""

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.typing import FloatArray, IntArray


def labels_of(
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


def three_roles(
    data: MultiTaskData,
    kind: str,
    train_size: int,
    rng: np.random.Generator,
    *,
    stratified: bool,
    shared: bool,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return training, validation and test rows; all rows of a sample share a role.

    Samples of the same tasks are a group (one-vs-rest: all of them; one-vs-one: a
    class; separate tasks: a task), and those of a group with the same labels in all its
    tasks are a stratum. Except for fractions, a task must be one group.

    ``train_size`` counts samples per group, in percent for "fractions"; "thirds" has
    none. If ``stratified``, the roles share every stratum alike; if not ``shared``,
    every row counts as an example of its own, whatever its tasks have in common.
    """
    example, label, group = labels_of(data, shared=shared)
    member = np.zeros((group.max() + 1, data.n_tasks), dtype=bool)
    member[group[example], data.task] = True
    divided = np.flatnonzero(member.sum(axis=0) > 1)
    if divided.size and kind != "fractions":
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
        }[kind]
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
        if stratified:
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
