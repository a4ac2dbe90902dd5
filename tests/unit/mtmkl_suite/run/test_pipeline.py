import gzip

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.config.models import Variant
from mtmkl_suite.files import write_bytes, write_table
from mtmkl_suite.run import pipeline


def test_a_generator_draws_anew_each_repeat_and_alike_for_its_variants():
    base = {"n_tasks": 4}
    one = pipeline.load_variant(Variant("linear_synthetic", base), 7, repeat=0)
    same = pipeline.load_variant(Variant("linear_synthetic", base), 7, repeat=0)
    other = pipeline.load_variant(Variant("linear_synthetic", base), 7, repeat=1)
    wider = pipeline.load_variant(
        Variant("linear_synthetic", base | {"n_irrelevant": 2}), 7, repeat=0
    )
    assert one.digest() == same.digest() != other.digest()
    np.testing.assert_array_equal(one.y, wider.y)


def test_tables_have_bytes_that_depend_on_content_alone(tmp_path):
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    for name in ("one.csv.gz", "two.csv.gz"):
        write_table(tmp_path / name, table)
    one, two = ((tmp_path / f"{n}.csv.gz").read_bytes() for n in ("one", "two"))
    assert one == two
    assert gzip.decompress(one) == b"a,b\n1,x\n2,\n"


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    with pytest.raises(TypeError):
        write_bytes(path, "new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_seed_among_the_options_fixes_the_draw():
    variant = Variant("digits_pairs", {"n_per_class": 10, "seed": 1})
    first, second = (pipeline.load_variant(variant, 5, repeat=r) for r in range(2))
    assert first.digest() == second.digest()


def test_a_file_of_ones_own_that_changes_is_looked_at_again(tmp_path):
    path = tmp_path / "own.csv"
    variant = Variant(str(path), {"task": "a", "target": "b"})
    assert pipeline.data_source(variant) == "missing"
    path.write_text("a,b")
    before = pipeline.data_source(variant)
    path.write_text("a,b,c")
    assert before != pipeline.data_source(variant) != "missing"
    assert variant.id == "own.csv[target=b,task=a]"
