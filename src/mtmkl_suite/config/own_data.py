"""The methods of the package on data of one's own, as an ordinary configuration."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtmkl.datasets.container import MultiTaskData
from mtmkl.errors import unknown
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import OwnData, Paper, Tier
from mtmkl_suite.config.overlay import Whole, overlaid
from mtmkl_suite.data.loaders.own import is_file, is_own, outputs_of
from mtmkl_suite.documents import config_dir
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import name_of

TEMPLATE = "own_data"
"""Folder of the configuration, below ``config``, in which the data are put."""

UNBALANCED = 1 / 3
"""Labels are ranked by the area under the ROC curve where the rarer one is less.

It is the mean over tasks of its share; the comparison's sets divide there.
"""


def own_data_config(
    own: OwnData, tier: Tier, settings: Mapping[str, Any] | None = None
) -> Paper:
    """Return the configuration of a run on data of one's own, which are read once."""
    from mtmkl_suite.data import load

    data, options, methods = own.source, own.options, own.methods
    if not is_own(data):
        raise ConfigError(
            f"--data {data!r} is neither a file that is read (.csv, .tsv, .parquet "
            "or .npz: save a spreadsheet as csv) nor package.module:function"
        )
    config = load_paper(config_dir() / TEMPLATE, tier, settings)
    name = str(Path(data).resolve()) if is_file(data) else data
    found = load(name, **options)
    outputs = outputs_of(found.y, options.get("outputs") if is_file(data) else None)
    if is_file(data):
        options = {**options, "unit_range": True}
    experiment = config.experiments[outputs]
    suitable = [entry.method for entry in experiment.methods]
    for method in methods:
        if method not in config.methods:
            raise ConfigError(f"--methods: {unknown('method', method, suitable)}")
        if method not in suitable:
            raise ConfigError(
                f"--methods: {method!r} is not for {outputs}, as the target is; for "
                f"these are {', '.join(suitable)}"
            )
    chosen = methods or suitable
    metrics, remark = experiment.metrics, ""
    is_asked = any(f"experiments.{outputs}.metrics" in key for key in config.changes)
    if outputs == "labels" and not is_asked:
        rarer = _share_of_rarer(found)
        if rarer < UNBALANCED:
            # Accuracy says little where most labels are right by chance.
            metrics = sorted(metrics, key=lambda name: name != "auc")
            remark = f", {rarer:.0%} of the rarer label"
    short = name_of(Path(data)) if is_file(data) else data
    identifier = re.sub(r"[^a-z0-9]+", "_", short.lower()).strip("_") or "data"
    others = dict.fromkeys(each for each in config.experiments if each != outputs)
    of_data = {
        "title": f"{short}: {found.n_tasks} tasks, {found.y.size} samples{remark}",
        "metrics": metrics,
        "datasets": Whole({"name": name, "options": options}),
        "methods": [each for each in experiment.methods if each.method in chosen],
    }
    overlay = {
        "paper": {"id": identifier, "title": f"Methods on {short}"},
        "experiments": {**others, outputs: of_data},
        "own": [],
    }
    made: Paper = overlaid(config, overlay)
    return made


def _share_of_rarer(data: MultiTaskData) -> float:
    positive = [float((data.y[data.task == t] > 0).mean()) for t in range(data.n_tasks)]
    return sum(min(share, 1 - share) for share in positive) / data.n_tasks
