"""A results folder made up by formula: nothing in it was ever measured."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from configured import of
from regression_problems import make_problem, problem  # noqa: F401

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Run
from mtmkl_suite.data.splits import Split, save_splits
from mtmkl_suite.evaluation.cells import COLUMNS
from mtmkl_suite.files import write_json
from mtmkl_suite.judge.sample import dataset_options
from mtmkl_suite.report.artefacts import write_artefacts
from mtmkl_suite.report.record import write_record
from mtmkl_suite.run.fits import collect_scores, no_scores, write_fits
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.plan import fit_groups

SIZES = {  # data set: number of tasks, number of features, origin
    "linear_synthetic": (200, 11, "synthetic"),
    "nonlinear_synthetic": (200, 21, "synthetic"),
    "computer_survey": (180, 14, "original"),
    "school": (139, 27, "original"),
    "dermatology": (6, 34, "original"),
    "digits": (10, 62, "stand-in"),
}
N_TASK_ROWS = 12


@pytest.fixture(scope="session")
def paper():
    """The quick tier of the configured paper."""
    return load_paper("argyriou2008", "quick")


@pytest.fixture(scope="session")
def make_results() -> Callable[..., PaperFolder]:
    """Write a whole results folder of a paper, some data sets missing on request."""
    return fabricate


@pytest.fixture(scope="session")
def make_reported() -> Callable[..., PaperFolder]:
    """The same with all its tables, figures and judgements."""
    return lambda config, path: complete(config, fabricate(config, path))


@pytest.fixture(scope="session")
def results(paper, tmp_path_factory) -> PaperFolder:
    """Everything was run."""
    return fabricate(paper, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def empty_results(paper, tmp_path_factory) -> PaperFolder:
    """Nothing was run, for want of data."""
    folder = tmp_path_factory.mktemp("empty")
    return fabricate(paper, folder, missing=tuple(SIZES))


@pytest.fixture(scope="session")
def reported(paper, results) -> PaperFolder:
    """Everything was run and judged."""
    return complete(paper, results)


@pytest.fixture(scope="session")
def empty_reported(paper, empty_results) -> PaperFolder:
    """Results made of nothing."""
    return complete(paper, empty_results)


def complete(config, folder: PaperFolder) -> PaperFolder:
    write_artefacts(list(config.artefacts), config, folder)
    collect_scores(config, folder)
    write_record(config, folder, of(Run, {"tier": config.tier, "seed": 1}))
    return folder


def fabricate(config, path: Path, missing: tuple[str, ...] = ()) -> PaperFolder:
    folder = PaperFolder(path)
    rng = np.random.default_rng(0)
    for experiment in config.experiments.values():
        for variant in experiment.variants:
            _write_data_info(folder, variant, variant.name in missing)
            _write_splits(folder, experiment.protocol, variant.id)
    frames = [no_scores()]
    for group in fit_groups(config):
        tables, arrays = [no_scores()], {}
        for job in group.jobs:
            name = job.dataset.partition("[")[0]
            if name in missing:
                continue
            rows, kept = _job(config, job, SIZES[name], rng)
            tables.append(pd.DataFrame(rows, columns=list(COLUMNS)))
            arrays |= {f"{job.place}|{key}": array for key, array in kept.items()}
        frames += tables
        write_fits(folder, group.name, tables, arrays)
        benchmark = folder.seconds_of(group.name)
        benchmark.parent.mkdir(parents=True, exist_ok=True)
        benchmark.write_text("s\th:m:s\n2.5\t0:00:02\n")
    scores = pd.concat(frames, ignore_index=True).assign(paper=config.paper.id)
    scores.to_csv(folder.scores, index=False)
    write_json(folder.provenance, {"paper": config.paper.id})
    return folder


def level(method: str, dataset: str, n_tasks: int) -> float:
    """Return the made-up error of a method: falls with tasks, grows with variables."""
    options = [float(v) for v in dataset_options(dataset).values() if v[0].isdigit()]
    base = 0.5 + zlib.crc32(method.encode()) % 100 / 100
    if "independent" in method:
        base += 1.0
    return base + 0.05 * sum(options) + 1.0 / np.sqrt(n_tasks)


def _write_data_info(folder, variant, is_missing):
    n_tasks, d, origin = SIZES[variant.name]
    info = {"id": variant.id, "name": variant.name, "title": variant.name,
            "licence": "none", "citation": "Nobody (2000)."}  # fmt: skip
    if is_missing:
        info |= {"status": "missing", "reason": f"data set {variant.name!r} is absent"}
    else:
        info |= {
            "status": "ok", "reason": "", "origin": origin,
            "digest": f"{zlib.crc32(variant.id.encode()):016x}",
            "n": 100, "d": d, "n_tasks": n_tasks, "task_sizes": [5, 5.0, 5],
            "feature_names": [f"attribute {k + 1}" for k in range(d)],
            "task_names": [f"task {k + 1}" for k in range(n_tasks)],
        }  # fmt: skip
    write_json(folder.data_info(variant.id), info)


def _write_splits(folder, protocol, dataset):
    path = folder.splits(protocol, dataset)
    rows = np.arange(12)
    split = Split(
        train=rows[:8], validation=rows[:0], test=rows[8:], fold=rows[:8] % 2,
        task_order=rows[:3],
    )  # fmt: skip
    save_splits(path, {(0, 0): split, (0, 1): split})


def _job(config, job, size, rng):
    experiment = config.experiments[job.experiment]
    entry = experiment.entry(job.method)
    total, d, _ = size
    rows, arrays = [], {}
    is_path = experiment.mode == "path"
    for repeat in job.repeats:
        for n_tasks in entry.n_tasks or (total,):
            for subset in range(min(total // n_tasks, 3)):
                cell = {
                    "experiment": job.experiment, "dataset": job.dataset,
                    "method": job.method, "n_tasks": n_tasks, "subset": subset,
                    "train_size": 0, "repeat": repeat, "fold": 0, "setting": "",
                    "params": '{"gamma": 1.0}', "at_grid_edge": float(repeat == 0),
                    "fit_seconds": 0.25, "n_iter": 40, "gap": 1e-7,
                    "data_digest": f"d{repeat}", "code_version": "c0de",
                }  # fmt: skip
                settings = [""]
                if is_path:
                    points = config.method_of(entry).points
                    settings = [json.dumps(point) for point in points]
                for position, setting in enumerate(settings):
                    for metric in experiment.metrics:
                        rows += _metric_rows(
                            cell | {"setting": setting}, metric, experiment, rng,
                            n_features=max(d - position, 0),
                        )  # fmt: skip
                kept = experiment.arrays.repeats if experiment.arrays else []
                if repeat in kept and not is_path:
                    scale = 0.6 ** np.arange(d)[:, None]
                    key = f"0|{repeat}|{n_tasks}|{subset}"
                    arrays[f"A_|{key}"] = -scale * rng.random((d, n_tasks))
                    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
                    arrays[f"features_|{key}"] = basis
    return rows, arrays


def _metric_rows(cell, metric, experiment, rng, *, n_features):
    value = level(cell["method"], cell["dataset"], cell["n_tasks"])
    noise = 0.03 * rng.random()
    if metric == "n_features":
        return [cell | {"metric": metric, "task": "all", "value": n_features}]
    if metric == "row_norms":
        norms = 0.5 ** np.arange(1, 8)
        names = [f"row_norm_{k}" for k in range(1, 8)] + ["row_norm_top5"]
        return [
            cell | {"metric": name, "task": "all", "value": v + 0.001 * noise}
            for name, v in zip(names, [*norms, norms[:5].sum()], strict=True)
        ]
    if metric.startswith("explained_variance"):
        value = 0.4 / (1 + value)
    whole = cell | {"metric": metric, "task": "all", "value": value + noise}
    if not experiment.record_tasks:
        return [whole]
    blank = dict.fromkeys(("params", "at_grid_edge", "fit_seconds", "n_iter", "gap"))
    return [whole] + [
        cell | blank | {"metric": metric, "task": f"task {k}",
                        "value": value + 0.1 * rng.normal()}
        for k in range(N_TASK_ROWS)
    ]  # fmt: skip


@pytest.fixture
def config():
    """A paper of one method on the digits, its tier resolved."""
    return {
        "paper": {"id": "toy2000"},
        "tier": "paper",
        "published": Path("papers/toy2000/published"),
        "protocols": {
            "random": {"kind": "random", "train_samples": 60, "repeats": 2, "folds": 2}
        },
        "methods": {
            "ridge": {
                "label": "Ridge",
                "class": "IndependentRidgeRegressor",
                "grid": {"gamma": [0.1, 1.0]},
                "selection": "common",
            }
        },
        "experiments": {
            "digits": {
                "title": "Digits",
                "datasets": {"name": "digits", "options": {"n_per_class": 10}},
                "protocol": "random",
                "methods": [{"method": "ridge"}],
                "metrics": ["misclassified"],
            }
        },
        "artefacts": {},
        "claims": [],
    }
