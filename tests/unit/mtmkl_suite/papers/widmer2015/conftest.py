"""Made scores of the paper's experiments, and figures drawn from them."""

from dataclasses import replace

import pandas as pd
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.evaluation.cells import COLUMNS
from mtmkl_suite.papers.widmer2015 import steps
from mtmkl_suite.report.artefacts import drawn
from mtmkl_suite.report.context import Context

REPEATS = 5


@pytest.fixture(scope="session")
def paper():
    return load_paper("widmer2015", "paper")


@pytest.fixture(scope="session")
def rows():
    """Values of five repeats around a level, with noise that the repeat decides."""

    def make(experiment, method, metric, level, dataset="made up", **more):
        blank = dict.fromkeys(COLUMNS, 0)
        return [
            blank
            | {
                "experiment": experiment, "dataset": dataset, "method": method,
                "metric": metric, "setting": "", "task": "all", "params": "",
                "repeat": repeat, "value": level + 0.001 * repeat,
            }
            | more
            for repeat in range(REPEATS)
        ]  # fmt: skip

    return make


@pytest.fixture(scope="session")
def methods_of(paper):
    def find(experiment):
        entries = paper.experiments[experiment].methods
        return [entry.method for entry in entries]

    return find


@pytest.fixture(scope="session")
def context_of(paper):
    def make(table):
        scores = pd.DataFrame(table, columns=list(COLUMNS))
        return Context(
            config=paper, scores=scores, arrays={}, data_info={}, published={}
        )

    return make


@pytest.fixture(scope="session")
def draw():
    def run(name, context):
        names = context.config.artefacts[name].steps
        computed = {step: getattr(steps, step)(context) for step in names}
        return drawn(name, replace(context, steps=computed))

    return run
