"""Made-up scores, contexts of them, jobs of fits, and fits of one configured method."""

from pathlib import Path

import pandas as pd
from configured import of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Experiment, Method, MethodEntry
from mtmkl_suite.data.splits import make_splits
from mtmkl_suite.evaluation.cells import COLUMNS, FitJob, Job, drawn_points
from mtmkl_suite.metrics import metric
from mtmkl_suite.report.context import Context
from mtmkl_suite.run.fits import run_fit
from mtmkl_suite.run.pipeline import load_variant

_BLANK = dict.fromkeys(COLUMNS, 0) | {
    "dataset": "made up", "setting": "", "task": "all", "params": "",
}  # fmt: skip


def made_row(experiment, method, metric, value, **more):
    """Return a row of a table of scores."""
    named = {"experiment": experiment, "method": method, "metric": metric}
    return _BLANK | named | {"value": value} | more


def made_context(config, rows=(), *, origin=None, **more):
    """Return the context of a paper whose scores are these rows, data of one origin."""
    scores = rows
    if not isinstance(rows, pd.DataFrame):
        scores = pd.DataFrame(rows, columns=list(COLUMNS))
    others = {"data_info": {}, "published": {}}
    if origin:
        about = {"status": "ok", "origin": origin}
        others["data_info"] = {each.id: about for each in config.variants}
    return Context(config=config, scores=scores, **others | more)


def published_numbers(config):
    """Return the printed numbers of a paper, as a context has them."""
    return {
        path.name: pd.read_csv(path) for path in sorted(config.published.glob("*.csv"))
    }


def made_job(cache: Path, method_class, *, method, entry=None, experiment=None, **more):
    """Return a job of one method on a data set that is called toy."""
    experiment = of(Experiment, experiment or {})
    method = of(Method, {"selection": "none", "class": "x:M"} | method)
    settings = {
        "paper": "p", "plan": FitJob("e", "toy", "m", 0, (0, 1, 2)), "seed": 1,
        "code_version": "v1", "held": {}, "grid": drawn_points(method, "m", 1),
        "metrics": {name: metric(name) for name in experiment.metrics},
    }  # fmt: skip
    return Job(
        method=method, entry=of(MethodEntry, {"method": "m"} | (entry or {})),
        method_class=method_class, cache=cache, experiment=experiment,
        **settings | more,
    )  # fmt: skip


def digits_fitted(folder: Path):
    """Return a function that fits single-task MKL on digits under a selection."""
    config = load_paper("yousefi2015", "quick")
    experiment = config.experiments["digits"]
    (variant,) = experiment.variants
    protocol = config.protocols["percent"].named("percent")
    splits = make_splits(load_variant(variant, 1), protocol, 1)

    def scores(selection, grid, **of_experiment):
        stl = {"selection": selection, "grid": grid}
        stl = config.methods["stl"].model_copy(update=stl)
        digits = {"record_tasks": True, **of_experiment}
        digits = experiment.model_copy(update=digits)
        methods = {**config.methods, "stl": stl}
        update = {"methods": methods, "experiments": {"digits": digits}}
        changed = config.model_copy(update=update)
        plan = FitJob("digits", variant.id, "stl", 0, (0,))
        cache = folder / selection
        given = {"splits": splits, "cache": cache, "version": "v1"}
        return run_fit(changed, plan, seed=1, **given)[0]

    return scores
