import numpy as np

from mtmkl_suite.config.models import Variant
from mtmkl_suite.run import pipeline


def drawn(root, repeat, **options):
    variant = Variant("linear_synthetic", {"n_tasks": 4, **options})
    return pipeline.load_variant(variant, root, repeat=repeat)


def test_a_generator_draws_anew_each_repeat_and_alike_for_its_variants():
    one = drawn(7, 0)
    assert one.digest() == drawn(7, 0).digest()
    assert len({one.digest(), drawn(7, 1).digest(), drawn(8, 0).digest()}) == 3
    np.testing.assert_array_equal(one.y, drawn(7, 0, n_irrelevant=2).y)
    # A seed among the options fixes the draw.
    assert drawn(7, 0, seed=1).digest() == drawn(8, 1, seed=1).digest()


def test_a_file_of_ones_own_that_changes_is_looked_at_again(tmp_path):
    path = tmp_path / "own.csv"
    variant = Variant(str(path), {"task": "a", "target": "b"})
    assert pipeline.data_source(variant) == "missing"
    path.write_text("a,b")
    before = pipeline.data_source(variant)
    path.write_text("a,b,c")
    assert before != pipeline.data_source(variant) != "missing"
    assert variant.id == "own.csv[target=b,task=a]"
