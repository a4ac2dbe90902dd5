import inspect
from collections.abc import Mapping

import numpy as np
import pytest

from mtmkl.datasets import default_registry, load
from mtmkl.datasets.loaders.class_tables import DIGITS, OCR_LETTERS, ClassTable
from mtmkl.files import write_table
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Variant
from mtmkl_suite.report.context import load_context
from mtmkl_suite.report.record.overlaps import (
    StoredOverlaps,
    drawn_share,
    overlaps_table,
    read_overlaps,
)
from mtmkl_suite.run.folders import PaperFolder


def test_overlap_follows_from_protocol_and_data(paper, results, tmp_path):
    context = load_context(paper, results)
    overlaps = context.overlaps
    assert {name for name, _, _ in overlaps} == set(paper.experiments)
    # Made-up splits: four of twelve rows are for testing.
    shares = [each.test_share for each in overlaps.values()]
    np.testing.assert_allclose(shares, 1 / 3)
    school = overlaps["school", "school", 0]
    assert (school.pool_share, school.same_roles) == (1.0, False)
    survey = overlaps["survey", "computer_survey", 0]
    assert (survey.pool_share, survey.same_roles) == (1.0, True)
    drawn = overlaps["linear_synthetic", "linear_synthetic[n_irrelevant=6]", 0]
    assert (drawn.pool_share, drawn.same_roles) == (0.0, False)
    none = StoredOverlaps(paper, context.data_info, PaperFolder(tmp_path))
    assert len(none) == 0
    with pytest.raises(KeyError, match="no splits of school with train size 0"):
        none["school", "school", 0]


def test_overlaps_are_kept_in_the_record(paper, results, tmp_path):
    overlaps = load_context(paper, results).overlaps
    write_table(tmp_path / "overlaps.csv", overlaps_table(overlaps))
    assert read_overlaps(tmp_path / "overlaps.csv") == dict(overlaps)


def test_tasks_that_have_examples_in_common(paper, results):
    context = load_context(paper, results)
    for info in context.data_info.values():
        assert "n_examples" not in info
    context.data_info["school"]["n_examples"] = context.data_info["school"]["n"] - 1
    overlaps = context.overlaps
    assert overlaps["school", "school", 0].tasks_share
    assert not overlaps["survey", "computer_survey", 0].tasks_share


@pytest.mark.parametrize(
    ("variant", "share"),
    [
        (Variant("school"), 1.0),
        (Variant("linear_synthetic"), 0.0),
        (Variant("toy_tree", {"seed": 3}), 1.0),
        (Variant("segmentation", {"n_per_class": 33}), 0.1),
        (Variant("segmentation", {"n_per_class": None}), 1.0),
        # By default 2000 of the 4449 rows for each joint.
        (Variant("sarcos"), 2000 / 4449),
    ],
    ids=str,
)
def test_share_of_the_examples_that_a_draw_takes(variant, share):
    assert drawn_share(variant) == pytest.approx(share)


def test_every_set_that_draws_published_data_has_a_pool():
    registry = default_registry()
    for entry in (registry[name] for name in registry):
        assert bool(entry.pool) == (entry.drawn and entry.origin != "synthetic")
        for option in entry.pool if isinstance(entry.pool, Mapping) else ():
            assert option in inspect.signature(entry.find_loader()).parameters


def test_the_share_of_landmine_that_a_balanced_draw_takes(data_mirror):
    whole = load("landmine", mirror=data_mirror)
    mines = np.bincount(whole.task, whole.y > 0)
    clutter = np.bincount(whole.task, whole.y < 0)
    share = (mines + mines**2 / clutter).sum() / (2 * mines.sum())
    variant = Variant("landmine_balanced")
    assert drawn_share(variant) == pytest.approx(share, abs=5e-4)


def test_a_configured_experiment_of_drawn_data():
    config = load_paper("yousefi2015", "paper")
    [robot] = config.experiments["robot"].variants
    sizes = np.array([2205, 2097, 328, 826])
    assert drawn_share(robot) == pytest.approx((200 / sizes).mean())


def test_pool_of_the_bundled_digits_is_what_the_package_has():
    from sklearn.datasets import load_digits

    counts = np.bincount(load_digits().target)
    [sizes] = default_registry()["digits_pairs"].pool.values()
    assert list(sizes.values()) == counts.tolist()
    assert load("digits_pairs").n_tasks == len(sizes) * (len(sizes) - 1) // 2


def test_pools_are_the_sizes_that_loaders_check():
    registry = default_registry()
    tables = {"ocr_letters": OCR_LETTERS, "digits_pairs": DIGITS}
    for name in registry:
        loader = registry[name].find_loader() if registry[name].loader else None
        if isinstance(table := getattr(loader, "__self__", None), ClassTable):
            tables[name] = table
    assert len(tables) == 7
    for name, table in tables.items():
        assert registry[name].pool["n_per_class"] == table.class_sizes
