"""Made scores of the paper's experiments, and figures drawn from them."""

from dataclasses import replace

import pytest
from made_scores import made_context, made_row

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.papers.widmer2015 import steps
from mtmkl_suite.report.artefacts import drawn

REPEATS = 5


@pytest.fixture(scope="session")
def paper():
    return load_paper("widmer2015", "paper")


@pytest.fixture(scope="session")
def rows():
    """Values of five repeats around a level, with noise that the repeat decides."""

    def make(experiment, method, metric, level, dataset="made up", **more):
        return [
            made_row(
                experiment, method, metric, level + 0.001 * repeat, repeat=repeat,
                dataset=dataset, **more,
            )
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
    return lambda rows: made_context(paper, rows)


@pytest.fixture(scope="session")
def draw():
    def run(name, context):
        names = context.config.artefacts[name].steps
        computed = {step: getattr(steps, step)(context) for step in names}
        return drawn(name, replace(context, steps=computed))

    return run
