"""Every configured figure of every paper says what is missing where it has no data."""

from dataclasses import replace
from importlib import import_module

import pytest
from made_scores import made_context

from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.report.artefacts import drawn

# What these show is computed, or printed.
OF_NO_DATA = {
    "argyriou2008": {"figure_1"}, "jebara2011": {"figure_5", "figure_6"},
    "widmer2015": {"figure_3a"},
    "yousefi2015": {"figure_ranks", "figure_theorem"},
}  # fmt: skip
FIGURES = [
    (paper, name)
    for paper in load_run_config().papers
    for name, each in load_paper(paper, "paper").artefacts.items()
    if each.kind == "figure" and name not in OF_NO_DATA.get(paper, ())
]


@pytest.fixture(scope="module")
def contexts():
    """No scores, as the data of every experiment are missing."""
    found = {}
    for paper in {paper for paper, _ in FIGURES}:
        config = load_paper(paper, "paper")
        missing = {
            variant.id: {"status": "missing", "reason": f"{variant.name} is absent"}
            for experiment in config.experiments.values()
            for variant in experiment.variants
        }
        found[paper] = made_context(config, data_info=missing)
    return found


@pytest.mark.parametrize(("paper", "name"), FIGURES)
def test_a_figure_without_data_says_so(contexts, paper, name):
    context = contexts[paper]
    steps = {
        step: getattr(import_module(f"mtmkl_suite.papers.{paper}.steps"), step)(context)
        for step in context.config.artefacts[name].steps
    }
    assert all(table.empty for table in steps.values())
    figure, numbers = drawn(name, replace(context, steps=steps))
    assert list(numbers) == ["no data"]
    reason = " ".join(numbers["no data"])
    assert paper == "comparison" or "is absent" in reason
    texts = [text.get_text() for axis in figure.axes for text in axis.texts]
    assert any("no data" in text for text in texts)
