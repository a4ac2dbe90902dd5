import pytest
from configured import paper_of, toy

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.runs import with_method, with_repeats
from mtmkl_suite.errors import ConfigError


@pytest.fixture
def config():
    return toy()


def test_ones_own_method_joins_an_experiment_and_its_table(config):
    grid = {"gamma": [1, 2]}
    joined = with_method(paper_of(config), "real", "my.module:Own", grid=grid)
    assert "own" not in config["methods"]
    assert joined.experiments["real"].entry("own").settings is None
    assert joined.methods["own"].points == [{"gamma": 1}, {"gamma": 2}]
    assert joined.methods["own"].selection == "common"
    assert joined.artefacts["table_1"].extra_rows == {"Own": {"method": "own"}}


def test_ones_own_method_chooses_as_the_others_do_and_replaces_none_of_its_name():
    paper = load_paper("yousefi2015", "quick")
    joined = with_method(paper, "digits", "my.module:CMTL", grid={"C": [1, 2]})
    assert joined.methods["cmtl_own"].selection == "validation"
    assert joined.methods["cmtl"] == paper.methods["cmtl"]
    entries = [entry.method for entry in joined.experiments["digits"].methods]
    assert entries[-1] == "cmtl_own"
    assert entries.count("cmtl") == 1


def test_repeats_of_all_experiments(config):
    config["experiments"]["curve"]["repeats"] = 2
    config = paper_of(config)
    changed = with_repeats(config, 7)
    assert {changed.n_repeats(name) for name in changed.experiments} == {7}
    assert changed.changes == {"repeats": 7}
    assert config.n_repeats("curve") == 2


@pytest.mark.parametrize(("grid", "mark"), [(None, " (untuned)"), ({"C": [1]}, "")])
def test_a_method_that_joins_is_known_and_marked_if_it_is_not_tuned(config, grid, mark):
    joined = with_method(paper_of(config), "curve", "own.module:Class", grid=grid)
    joined = with_method(joined, "real", "own.module:Class", grid=grid)
    joined = with_method(joined, "real", "PerTask(sklearn.svm:SVC)", grid=grid)
    assert joined.own == ["class", "pertask_svc"]
    assert joined.methods["class"].label == f"Class{mark}"
    assert joined.methods["pertask_svc"].label == f"PerTask(SVC){mark}"


def test_equal_labels_are_told_apart_by_the_module():
    paper = load_paper("yousefi2015", "quick")
    taken = next(m.label for m in paper.methods.values() if m.label.isidentifier())
    joined = with_method(paper, "digits", f"a.module:{taken}")
    for module in ("a", "b", "c"):
        joined = with_method(joined, "digits", f"{module}:Mine")
    labels = [joined.methods[name].label for name in joined.own]
    assert labels == [
        f"a.module:{taken} (untuned)",
        "Mine (untuned)", "b:Mine (untuned)", "c:Mine (untuned)",
    ]  # fmt: skip
    assert len(set(joined.own)) == 4


def joined_everywhere(name, paper="comparison", tier="quick"):
    config = load_paper(paper, tier)
    for experiment in config.experiments:
        config = with_method(config, experiment, name)
    return config


def test_ones_own_method_has_a_column_in_each_comparison_of_its_experiments():
    usual = load_paper("comparison", "quick")
    names = [n for n in usual.artefacts if n.endswith("_classification")]
    joined = with_method(usual, "on_digits", "my.module:Own")
    for name, artefact in joined.artefacts.items():
        columns = artefact.comparison.columns
        before = usual.artefacts[name].comparison.columns
        more = {"Own (untuned)": ["own"]} if name in names else {}
        assert columns == {**before, **more}
        assert artefact.comparison.pairs == (usual.artefacts[name].comparison.pairs)
    everywhere = joined_everywhere("my.module:Own")
    for artefact in everywhere.artefacts.values():
        assert list(artefact.comparison.columns).count("Own (untuned)") == 1


def test_a_configured_method_fills_its_column_or_is_refused():
    usual = load_paper("comparison", "quick")
    table = "table_ranks_classification"
    joined = with_method(usual, "on_digits", "cmtl")
    assert joined.artefacts[table] == usual.artefacts[table]
    with pytest.raises(ConfigError, match="'svm' has its column 'Independent SVMs'"):
        with_method(usual, "on_digits", "svm_images")


def test_a_label_that_is_another_column_is_marked():
    usual = load_paper("comparison", "quick")
    columns = usual.artefacts["table_ranks_classification"].comparison.columns
    labels = {name: method.label for name, method in usual.methods.items()}
    name, label = next(
        (k, v) for k, v in labels.items() if v in columns and k not in columns[v]
    )
    joined = with_method(usual, "on_digits", name)
    found = joined.artefacts["table_ranks_classification"].comparison.columns
    assert found[label] == columns[label]
    assert found[f"{label} (joined)"] == [name]


def test_no_method_joins_the_ranks_that_a_paper_printed():
    usual = load_paper("yousefi2015", "paper")
    joined = joined_everywhere("my.module:Own", "yousefi2015", "paper")
    name = next(n for n, a in usual.artefacts.items() if a.comparison)
    assert joined.artefacts[name] == usual.artefacts[name]
