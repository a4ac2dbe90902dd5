"""Data sets have the content that the published scores are of."""

from functools import cache

import pytest

from mtmkl_suite.config.load import load_paper, published_folder, published_papers
from mtmkl_suite.data import default_registry
from mtmkl_suite.files import read_json
from mtmkl_suite.run.pipeline import load_variant

OF_IMAGES = ("flowers17", "caltech101")  # their distances take minutes to compute


def published():
    """Return the variants of each data set, and of those that are drawn one."""
    found = {}
    # The comparison has small draws of many sets.
    for paper in sorted(published_papers(), key=lambda name: name != "comparison"):
        for variant in read_json(published_folder(paper) / "provenance.json")["data"]:
            name = variant.partition("[")[0]
            key = name if default_registry()[name].drawn else variant
            marks = [pytest.mark.nightly] * (name in OF_IMAGES)
            found.setdefault(key, pytest.param(paper, variant, marks=marks))
    return found.values()


@cache
def variants_of(paper):
    return {variant.id: variant for variant in load_paper(paper, "paper").variants}


@pytest.mark.parametrize(("paper", "variant"), published())
def test_content_is_that_of_the_published_record(paper, variant):
    if default_registry().locate(variant.partition("[")[0]) is None:
        pytest.skip(f"data set {variant!r} is neither in a mirror nor cached")
    record = read_json(published_folder(paper) / "provenance.json")
    data = load_variant(variants_of(paper)[variant], record["seed"])
    assert data.digest() == record["data"][variant]["digest"]
