from mtmkl_suite.evaluation.seeds import data_seed, derived_seed


def test_seeds_differ_by_purpose_and_repeat_not_by_variant():
    seeds = {data_seed(1, name, repeat) for name in ("a", "b") for repeat in range(50)}
    assert len(seeds) == 100
    assert derived_seed(1, "method", "x", 0) == derived_seed(1, "method", "x", 0)
    assert derived_seed(1, "method", "x", 0) != derived_seed(2, "method", "x", 0)
