"""Results of one paper, on which figures, tables and pages draw."""

import inspect
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mtmkl_suite.config.models import Paper, Readings, Variant
from mtmkl_suite.config.names import NAMES
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.splits import load_splits
from mtmkl_suite.files import intact, read_json, read_table
from mtmkl_suite.judge.comparison import joined
from mtmkl_suite.judge.overlap import Overlap, Overlaps, Place, share_of_pool
from mtmkl_suite.judge.sample import average, read_scores, select
from mtmkl_suite.report.published_reach import ReachOfCells
from mtmkl_suite.run.fits import FAILED, UNSUPPORTED, complete_methods, no_scores
from mtmkl_suite.run.folders import PaperFolder, published_results
from mtmkl_suite.run.plan import fit_groups, steps

Array = NDArray[Any]

NO_SCORES = "no scores"
"""Reason for missing scores of which nothing else is known."""

NOT_IN_TIER = "not run in this tier"

_DENSE_ONLY = re.compile(r"X is sparse, and .* dense features only: .* would need (.+)")
"""Refusal of sparse features, in the words of methods, which speak to programmers."""

_SAME_ROLES = ("first_rows", "given", "given_roles")
"""Kinds of protocols where the data say which samples are for testing."""

_PLACE = ("experiment", "dataset", "train_size")

COLUMNS = (*_PLACE, *(field.name for field in fields(Overlap)))
"""Columns of ``overlaps.csv``."""


@dataclass(frozen=True)
class Context:
    """Results of one paper in one tier.

    ``scores`` are in the long format of :data:`mtmkl_suite.evaluation.cells.COLUMNS`.
    ``arrays`` returns those kept of the fits of "experiment/dataset/method", named
    "name|train size|repeat|n_tasks|subset". ``published`` are the printed numbers by
    file name, ``steps`` the numbers that steps of the paper computed. Without
    ``overlaps`` repeats count as independent. ``reach`` is that of the numbers of the
    artefact that is made, as published.
    """

    config: Paper
    scores: pd.DataFrame
    data_info: Mapping[str, Mapping[str, Any]]
    published: Mapping[str, pd.DataFrame]
    arrays: Callable[[str], Mapping[str, Array]] = lambda place: {}
    steps: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    overlaps: Overlaps | None = None
    reach: ReachOfCells = field(default_factory=dict)

    @property
    def readings(self) -> Readings:
        """Readings of a run of them."""
        assert self.config.readings is not None
        return self.config.readings

    @property
    def is_judged(self) -> bool:
        """True for a full protocol: only its numbers and claims get verdicts."""
        return bool(self.config.tier == "paper" and not self.config.changes)

    def label(self, method: str) -> str:
        """Return a method's printed name."""
        return str(self.config.methods[method].label)

    def rows(
        self, experiment: str, metric: str, where: Mapping[str, Any]
    ) -> pd.DataFrame:
        """Return the matching scores over all tasks."""
        mine = self.by_experiment.get(experiment, self.scores[:0])
        return select(mine, {"metric": metric, **where})

    @cached_property
    def by_experiment(self) -> dict[str, pd.DataFrame]:
        """Return the scores of each experiment that has any."""
        of = self.scores.groupby("experiment", sort=False)
        return {str(name): rows for name, rows in of}

    def by_repeat(
        self, experiment: str, metric: str, where: Mapping[str, Any]
    ) -> pd.Series:
        """Return the value of each repeat, its subsets averaged."""
        return average(self.rows(experiment, metric, where), ["repeat"])

    def array(
        self,
        experiment: str,
        dataset: str,
        method: str,
        name: str,
        *,
        train_size: int | None = None,
    ) -> Array | None:
        """Return an array of the first repeat and the most tasks, None for none."""
        stored = self.arrays(f"{experiment}/{dataset}/{method}")
        found = []
        for key in stored:
            label, *numbers = key.split("|")
            size, repeat, tasks, subset = map(int, numbers)
            if label == name and train_size in (None, size):
                found.append((repeat, -tasks, size, subset, key))
        return np.asarray(stored[min(found)[-1]]) if found else None

    def datasets(self, experiment: str) -> list[str]:
        """Return the ids of an experiment's data sets; none if it is not configured."""
        if experiment not in self.config.experiments:
            return []
        configured = self.config.experiments[experiment]
        return [variant.id for variant in configured.variants]

    def origin(self, experiment: str) -> str:
        """Return where an experiment's data are from, "" if they are missing."""
        infos = [self.data_info.get(name, {}) for name in self.datasets(experiment)]
        # A set that is missing has the origin that it would have.
        origins = dict.fromkeys(
            info["origin"] for info in infos if info.get("status") == "ok"
        )
        return ", ".join(origins)

    def missing_reason(
        self, experiment: str, method: str | Sequence[str] | None = None
    ) -> str:
        """Say why an experiment, or a method or several in it, have no scores."""
        configured = self.config.experiments.get(experiment)
        if configured is None:
            return NOT_IN_TIER
        for name in self.datasets(experiment):
            info = self.data_info.get(name, {})
            if info.get("status") == "missing":
                return str(info["reason"])
        methods = [entry.method for entry in configured.methods]
        sought = [method] if isinstance(method, str) else method
        if sought is not None and not set(sought) & set(methods):
            return NOT_IN_TIER
        mine = self.by_experiment.get(experiment, self.scores[:0])
        gaps = mine[mine["metric"].isin([UNSUPPORTED, FAILED])]
        gaps = gaps[gaps["method"].isin(sought or [])]
        if len(gaps):
            reason = str(json.loads(gaps["params"].iloc[0])["reason"])
            return _DENSE_ONLY.sub(r"needs dense features (\1)", reason)
        return NO_SCORES


def load_context(
    config: Paper, folder: PaperFolder, *, of_fits: bool = False
) -> Context:
    """Read the results of a paper's configured experiments."""
    paths = {each.id: folder.data_info(each.id) for each in config.variants}
    data_info = {name: read_json(p) for name, p in paths.items() if p.is_file()}
    return Context(
        config=config,
        scores=_read_fits(config, folder) if of_fits else read_scores(folder.scores),
        arrays=partial(_stored_arrays, config, folder),
        data_info=data_info,
        published=_read_printed(config),
        steps={
            name: read_table(folder.step(name), float_precision="round_trip")
            for name in steps(config)
            if folder.step(name).is_file()
        },
        overlaps=stored_overlaps(config, data_info, folder),
    )


def recorded_context(config: Paper, figures: Path) -> Context:
    """Read what is published of a paper: its scores, and no arrays and steps."""
    folder = published_results(config, figures)
    return Context(
        config=config,
        scores=read_scores(folder.scores),
        data_info={
            name: {"status": "missing", "reason": info["missing"]}
            if "missing" in info
            else {"status": "ok", **info}
            for name, info in read_json(folder.provenance)["data"].items()
        },
        published=_read_printed(config),
        overlaps=read_overlaps(folder.overlaps),
    )


def _read_printed(config: Paper) -> dict[str, pd.DataFrame]:
    return {
        path.name: pd.read_csv(path, dtype=NAMES)
        for path in sorted(config.published.glob("*.csv"))
    }


def _read_fits(config: Paper, folder: PaperFolder) -> pd.DataFrame:
    tables = [read_scores(folder.scores_of(g.name)) for g in fit_groups(config)]
    return complete_methods(joined(tables, no_scores().columns))


def _stored_arrays(config: Paper, folder: PaperFolder, place: str) -> dict[str, Array]:
    """Return the arrays kept of fits, read when asked for: most artefacts need none."""
    found: dict[str, Array] = {}
    for group in fit_groups(config):
        path = folder.arrays_of(group.name)
        if place in [job.place for job in group.jobs] and path.is_file():
            with intact(path), np.load(path, allow_pickle=False) as stored:
                own = [name for name in stored.files if name.startswith(f"{place}|")]
                found |= {name.partition("|")[2]: stored[name] for name in own}
    return found


def stored_overlaps(
    config: Paper, data_info: Mapping[str, Mapping[str, Any]], folder: PaperFolder
) -> dict[Place, Overlap]:
    """Return the overlap at each place of a paper's scores, from the stored splits.

    They follow from the protocol's kind, the sizes of the splits, and whether repeats
    draw their data, and from how many samples. Data sets without splits are left out.
    """
    found = {}
    for name, experiment in config.experiments.items():
        kind = config.protocols[experiment.protocol].kind
        for variant in experiment.variants:
            path = folder.splits(experiment.protocol, variant.id)
            if not path.is_file():
                continue
            info = data_info.get(variant.id, {})
            shares = defaultdict(list)
            for (size, _), split in load_splits(path).items():
                parts = len(split.test), len(split.train), len(split.validation)
                n = info.get("n", sum(parts))  # published roles may leave some out
                shares[size].append((parts[0] / n, parts[1] / n))
            pool_share = drawn_share(variant)
            same_roles = pool_share == 1 and kind in _SAME_ROLES
            # Samples in several tasks have a row in each.
            tasks_share = info.get("n_samples", math.inf) < info.get("n", 0)
            for size, of_repeats in shares.items():
                test, train = np.mean(of_repeats, axis=0).tolist()
                overlap = Overlap(pool_share, test, train, same_roles, tasks_share)
                found[name, variant.id, size] = overlap
    return found


def overlaps_table(overlaps: Overlaps) -> pd.DataFrame:
    """Return overlaps as a table, ``overlaps.csv``."""
    rows = [(*place, *asdict(overlap).values()) for place, overlap in overlaps.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read_overlaps(path: Path) -> dict[Place, Overlap]:
    """Return the overlaps of ``overlaps.csv``."""
    table = read_table(path)
    return {
        (experiment, dataset, size): Overlap(*shares)
        for experiment, dataset, size, *shares in table[list(COLUMNS)].itertuples(
            index=False, name=None
        )
    }


def drawn_share(variant: Variant) -> float:
    """Return which share of the samples that there are a repeat's draw takes."""
    entry = default_registry()[variant.name]
    options = dict(variant.options)
    if not entry.drawn or "seed" in options:
        return 1.0
    if not entry.pool:
        return 0.0
    if not isinstance(entry.pool, Mapping):
        return entry.pool
    [(option, sizes)] = entry.pool.items()
    usual = inspect.signature(entry.find_loader()).parameters[option].default
    n_drawn = options.get(option, usual)
    if n_drawn is None:
        n_drawn = min(sizes.values())
    return share_of_pool(n_drawn, sizes.values())
