"""What figures, tables and the report draw on: all results of one paper."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mtmkl.evaluation.cells import COLUMNS
from mtmkl.evaluation.plan import fit_jobs, variants
from mtmkl.files import intact, read_json
from mtmkl.pipeline import FAILED, UNSUPPORTED, complete_methods
from mtmkl.statistics.sample import average, read_scores, select

Array = NDArray[Any]

NO_SCORES = "no scores"
"""Reason where nothing is known but that scores are missing."""

_JOB_COLUMNS = ("experiment", "dataset", "seconds")


@dataclass(frozen=True)
class Context:
    """Results of one paper in one tier.

    Attributes
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    scores : DataFrame
        Long format, see ``mtmkl.evaluation.cells.COLUMNS``.
    arrays : mapping of str to mapping
        "experiment/dataset/method" -> arrays kept of its fits, by
        "name|train size|repeat|n_tasks|subset".
    data_info : mapping of str to mapping
        What is known of each data set variant, see ``mtmkl.pipeline.describe_data``.
    published : mapping of str to DataFrame
        File name -> the paper's printed numbers.
    """

    config: Mapping[str, Any]
    scores: pd.DataFrame
    arrays: Mapping[str, Mapping[str, Array]]
    data_info: Mapping[str, Mapping[str, Any]]
    published: Mapping[str, pd.DataFrame]

    @property
    def is_judged(self) -> bool:
        """Whether numbers and claims get verdicts: only full protocols do."""
        return bool(self.config["tier"] == "paper")

    def label(self, method: str) -> str:
        """Return a method's printed name."""
        return str(self.config["methods"][method]["label"])

    def rows(
        self, experiment: str, metric: str, where: Mapping[str, Any]
    ) -> pd.DataFrame:
        """Return the matching scores over all tasks."""
        return select(self.scores, where, experiment=experiment, metric=metric)

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
        n_tasks: int | None = None,
        train_size: int | None = None,
    ) -> Array | None:
        """Return an array kept of the first stored repeat, None if there is none.

        Parameters
        ----------
        experiment, dataset, method : str
        name : str
            The fitted attribute, ``A_``.
        n_tasks : int or None
            None takes the largest number of tasks stored.
        train_size : int or None
            None takes the smallest stored.
        """
        stored = self.arrays.get(f"{experiment}/{dataset}/{method}", {})
        found = []
        for key in stored:
            label, *numbers = key.split("|")
            size, repeat, tasks, subset = (int(number) for number in numbers)
            wanted = n_tasks in (None, tasks) and train_size in (None, size)
            if label == name and wanted:
                found.append((repeat, -tasks, size, subset, key))
        return np.asarray(stored[min(found)[-1]]) if found else None

    def datasets(self, experiment: str) -> list[str]:
        """Return the ids of an experiment's data sets; none if it is not configured."""
        if experiment not in self.config["experiments"]:
            return []
        configured = self.config["experiments"][experiment]
        return [variant.id for variant in variants(configured)]

    def origin(self, experiment: str) -> str:
        """Return where an experiment's data are from, "" if they are missing."""
        infos = [self.data_info.get(name, {}) for name in self.datasets(experiment)]
        origins = dict.fromkeys(
            info["origin"] for info in infos if info.get("status") == "ok"
        )
        return ", ".join(origins)

    def missing_reason(self, experiment: str, method: str | None = None) -> str:
        """Say why an experiment, or a method in it, has no scores."""
        configured = self.config["experiments"].get(experiment)
        if configured is None:
            return f"experiment {experiment} is not part of this run"
        for name in self.datasets(experiment):
            info = self.data_info.get(name, {})
            if info.get("status") == "missing":
                return str(info["reason"])
        methods = [entry["method"] for entry in configured["methods"]]
        if method is not None and method not in methods:
            return "not run in this tier"
        gaps = self.scores[
            (self.scores["experiment"] == experiment)
            & (self.scores["method"] == method)
            & self.scores["metric"].isin([UNSUPPORTED, FAILED])
        ]
        if len(gaps):
            return str(json.loads(gaps["params"].iloc[0])["reason"])
        return NO_SCORES


def load_context(
    config: Mapping[str, Any],
    results: Path,
    *,
    of_fits: bool = False,
) -> Context:
    """Read the results of a paper's configured experiments.

    Parameters
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    results : Path
        ``results/<tier>/<paper>``.
    of_fits : bool
        Read the scores of the fit jobs, not the table of the whole paper, which may
        not be finished yet.

    Raises
    ------
    FileNotFoundError
        If there is no scores table, or an artefact's published file is missing.
    """
    folder = Path(config["published"])
    return Context(
        config=config,
        scores=(
            _read_fits(config, results / "fits")
            if of_fits
            else read_scores(results / "scores.csv.gz")
        ),
        arrays=_StoredArrays(results / "fits"),
        data_info=_read_data_info(config, results / "data"),
        published={
            path.name: pd.read_csv(path) for path in sorted(folder.glob("*.csv"))
        },
    )


def _read_data_info(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Read what is known of the configured data sets; older files may lie beside."""
    configured = dict.fromkeys(
        variant.id
        for experiment in config["experiments"].values()
        for variant in variants(experiment)
    )
    paths = {name: folder / f"{name}.json" for name in configured}
    return {name: read_json(path) for name, path in paths.items() if path.is_file()}


def _read_fits(config: Mapping[str, Any], folder: Path) -> pd.DataFrame:
    tables = [read_scores(folder / f"{job.stem}.csv.gz") for job in fit_jobs(config)]
    filled = [table for table in tables if len(table)]
    if not filled:
        return tables[0] if tables else pd.DataFrame(columns=list(COLUMNS))
    return complete_methods(pd.concat(filled, ignore_index=True))


def split_ratios(config: Mapping[str, Any], results: Path) -> dict[str, float]:
    """Return n_test / n_train of each experiment's stored splits.

    Parameters
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    results : Path
        ``results/<tier>/<paper>``.

    Returns
    -------
    dict of experiment to float
        The mean over its splits; experiments without splits are left out.
    """
    from mtmkl.datasets.splits import load_splits

    ratios = {}
    for name, experiment in config["experiments"].items():
        folder = results / "splits" / experiment["protocol"]
        paths = [folder / f"{variant.id}.npz" for variant in variants(experiment)]
        found = [
            len(split.test) / len(split.train)
            for path in paths
            if path.is_file()
            for split in load_splits(path).values()
        ]
        if found:
            ratios[name] = float(np.mean(found))
    return ratios


class _StoredArrays(Mapping[str, Mapping[str, Array]]):
    """Arrays under ``fits/``, read when asked for: most artefacts need one file."""

    def __init__(self, folder: Path) -> None:
        self._paths: dict[str, list[Path]] = {}
        for path in sorted(folder.rglob("*.npz")):
            experiment, dataset, name = path.relative_to(folder).parts
            method = name.removesuffix(".npz").rpartition(".")[0]
            key = f"{experiment}/{dataset}/{method}"
            self._paths.setdefault(key, []).append(path)

    def __getitem__(self, key: str) -> dict[str, Array]:
        merged: dict[str, Array] = {}
        for path in self._paths[key]:
            with intact(path), np.load(path, allow_pickle=False) as stored:
                merged |= {name: stored[name] for name in stored.files if "|" in name}
        return merged

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def read_jobs(config: Mapping[str, Any], folder: Path) -> pd.DataFrame:
    """Return how long the configured fit jobs took, where the workflow measured it.

    Parameters
    ----------
    config : mapping
        The paper's configuration, its tier resolved.
    folder : Path
        Of Snakemake's benchmark files, ``experiment__dataset__method__chunk.tsv``, or
        ``experiment__dataset.tsv`` where all methods share a job.

    Returns
    -------
    DataFrame
        ``experiment, dataset, seconds``, one row a job of the workflow.
    """
    places = {}
    for job in fit_jobs(config):
        place = (job.experiment, job.dataset)
        shared = "__".join(place)
        places[shared] = places[f"{shared}__{job.method}__{job.chunk}"] = place
    rows = []
    for stem, place in places.items():
        path = folder / f"{stem}.tsv"
        if path.is_file():
            seconds = pd.read_csv(path, sep="\t")["s"].sum()
            rows.append((*place, float(seconds)))
    return pd.DataFrame(rows, columns=list(_JOB_COLUMNS))
