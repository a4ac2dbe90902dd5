import shutil

import pytest
import yaml

from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import ReadingsFigure
from mtmkl_suite.config.readings import FILE, has_readings, load_readings
from mtmkl_suite.config.runs import load_papers
from mtmkl_suite.data.splits import make_splits
from mtmkl_suite.documents import config_dir
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.run.checks import check_names
from mtmkl_suite.run.pipeline import load_variant
from mtmkl_suite.run.plan import fit_jobs, method_specs

PAPERS = sorted(folder.name for folder in (config_dir() / "papers").iterdir())

READINGS = """
readings:
  strata:
    label: Strata
    main: each class divided alike
    alternatives:
      none:
        label: without strata
        basis: ours
        kind: legitimate
        experiments: {digits: {methods: [stl, mtl], repeats: 1}}
        change: {protocol: {stratified: false}}
  costs:
    label: Costs
    main: from a grid
    alternatives:
      high:
        label: one high cost
        basis: ours
        kind: legitimate
        experiments: {digits: {}}
        change:
          methods: [{of: [stl], params: {standardize: false}, grid: {C: [64.0]}}]
      seen:
        label: chosen on test
        basis: ours
        kind: optimistic
        experiments: {digits: {}}
        change:
          methods:
            - {of: [stl], selection: "mtmkl_suite.evaluation.optimistic:best_on_test"}
  inputs:
    label: Inputs
    main: as stored
    alternatives:
      unit:
        label: 0 to 1
        basis: ours
        kind: legitimate
        experiments: {digits: {methods: [stl]}}
        change: {datasets: {options: {inputs: unit_range}}}
"""
SPECIFICATION = """
specifications:
  stl_first:
    test: paired_difference
    args:
      experiment: digits
      metric: accuracy
      lower: {method: stl}
      higher: {method: mtl}
    title: A comparison
    factors: [strata, costs]
"""


@pytest.fixture
def folder(tmp_path):
    """A copy of a paper's configuration, with other readings."""
    copy = tmp_path / "yousefi2015"
    shutil.copytree(config_dir() / "papers" / "yousefi2015", copy)
    (copy / FILE).write_text(READINGS)
    (copy / "claims.yaml").unlink()
    return copy


def changed(folder, old, new):
    text = (folder / FILE).read_text()
    assert old in text
    (folder / FILE).write_text(text.replace(old, new))
    return folder


@pytest.mark.parametrize("paper", [name for name in PAPERS if has_readings(name)])
@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_the_readings_of_every_paper_are_valid(paper, tier):
    config = load_readings(paper, tier)
    check_names(config)
    assert list(fit_jobs(config))
    assert not set(config.experiments) & set(load_paper(paper, tier).experiments)


def test_a_reading_changes_only_what_it_says(folder):
    main, config = load_paper(folder, "quick"), load_readings(folder, "quick")
    experiments = config.experiments
    assert list(experiments) == [
        "digits@strata=none", "digits@costs=high", "digits@costs=seen",
        "digits@inputs=unit",
    ]  # fmt: skip
    before = method_specs(main, "digits")["stl"]
    after = method_specs(config, "digits@costs=high")["stl"]
    assert after.grid == {"C": [64.0]}
    assert after.params == {**before.params, "standardize": False}
    assert (after.id, after.class_name, after.selection) == (
        before.id, before.class_name, before.selection,
    )  # fmt: skip
    # Methods that are not changed are not run again.
    assert list(method_specs(config, "digits@costs=high")) == ["stl"]
    assert experiments["digits@costs=high"].protocol == "percent"
    assert (
        method_specs(config, "digits@strata=none")["mtl"]
        == (method_specs(main, "digits")["mtl"])
    )
    (variant,) = experiments["digits@inputs=unit"].variants
    assert variant.options["inputs"] == "unit_range"
    (stored,) = main.experiments["digits"].variants
    seconds = main.seconds[f"digits/{stored.id}/stl"]
    assert config.seconds[f"digits@inputs=unit/{variant.id}/stl"] == seconds


def test_null_removes_a_parameter_and_another_class_keeps_the_others(folder):
    changed(folder, "{standardize: false}", "{normalize: null}")
    changed(
        folder, "of: [stl], params", "of: [stl], class: SharedMKLClassifier, params"
    )
    before = method_specs(load_paper(folder, "quick"), "digits")["stl"]
    after = method_specs(load_readings(folder, "quick"), "digits@costs=high")["stl"]
    assert after.class_name == "SharedMKLClassifier"
    assert "normalize" in before.params
    assert after.params == {k: v for k, v in before.params.items() if k != "normalize"}


def test_a_search_tries_the_same_points_under_a_reading(folder):
    main, config = load_paper(folder, "paper"), load_readings(folder, "paper")
    name = "group_feature_sharing"
    changed(folder, "of: [stl], params", f"of: [{name}], params")
    changed(folder, ", grid: {C: [64.0]}", "")
    config = load_readings(folder, "paper")
    before = method_specs(main, "digits")[name].with_design(3)
    after = method_specs(config, "digits@costs=high")[name].with_design(3)
    assert after.grid == before.grid
    assert len(after.grid) == 60


def test_only_a_changed_protocol_has_other_splits(folder):
    main, config = load_paper(folder, "quick"), load_readings(folder, "quick")
    protocol = config.experiments["digits@strata=none"].protocol
    assert protocol == "percent@strata=none"
    changed = main.protocols["percent"].model_copy(update={"stratified": False})
    assert config.protocols[protocol] == changed
    assert config.protocols["percent"] == main.protocols["percent"]


def test_a_comparison_is_run_in_full_combination(folder):
    with (folder / FILE).open("a") as file:
        file.write(SPECIFICATION)
    config = load_readings(folder, "quick")
    made = config.readings.specifications["stl_first"].experiments
    assert list(made) == [
        "digits", "digits@costs=high", "digits@strata=none",
        "digits@strata=none+costs=high",
    ]  # fmt: skip
    both = config.experiments["digits@strata=none+costs=high"]
    assert both.protocol == "percent@strata=none"
    specs = method_specs(config, "digits@strata=none+costs=high")
    assert set(specs) == {"stl", "mtl"}
    assert specs["stl"].grid == {"C": [64.0]}
    # Test data decide nothing in a combination.
    assert not any("seen" in name for name in made)
    assert "specification_stl_first" in config.artefacts


def test_a_curve_cuts_no_repeats_of_a_reading(folder):
    with (folder / FILE).open("a") as file:
        file.write(SPECIFICATION + "    repeats: 2\n")
    changed(
        folder, "methods: [stl, mtl], repeats: 1", "methods: [stl, mtl], repeats: 3"
    )
    path = folder / "experiments.yaml"
    document = yaml.safe_load(path.read_text())
    del document["experiments"]["digits"]["repeats"]
    path.write_text(yaml.safe_dump(document, allow_unicode=True))
    experiments = load_readings(folder, "paper").experiments
    # One reading has three repeats, the other all of the protocol's, a combination two.
    assert experiments["digits@strata=none"].repeats == 3
    assert experiments["digits@costs=high"].repeats is None
    assert experiments["digits@strata=none+costs=high"].repeats == 2


def test_titles_say_which_readings_use_test_data(folder):
    experiments = load_readings(folder, "quick").experiments
    marked = [k for k, e in experiments.items() if "(uses test data)" in e.title]
    assert marked == ["digits@costs=seen"]


def test_a_curve_needs_all_of_its_factors(folder):
    with (folder / FILE).open("a") as file:
        file.write(SPECIFICATION)
    config = load_readings(folder, "quick", ["costs"])
    assert list(config.experiments) == ["digits@costs=high", "digits@costs=seen"]
    assert list(config.artefacts) == ["reach"]


def test_main_runs_do_not_see_readings(folder):
    before = load_paper(folder, "paper")
    (folder / FILE).unlink()
    assert load_paper(folder, "paper") == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{digits: {}}",
            "{digit: {}}",
            "unknown experiment 'digit'; did you mean 'digits'",
        ),
        ("of: [stl]", "of: [slt]", "unknown method 'slt'; did you mean 'stl'"),
        ("high:", "main:", "'main' stands for the main protocol; take another"),
        (
            "kind: optimistic",
            "kind: hopeful",
            "'hopeful' is not legitimate, optimistic",
        ),
        ("basis: ours", "because: x", "unknown key 'because'"),
        ("        basis: ours\n", "", "the key 'basis' is missing"),
        ("change: {protocol", "change: {protocols", "unknown key 'protocols'"),
    ],
)
def test_a_wrong_reading_names_file_key_and_value(folder, old, new, message):
    changed(folder, old, new)
    with pytest.raises(ConfigError, match=message) as caught:
        load_readings(folder, "quick")
    assert str(caught.value).startswith("yousefi2015/readings.yaml: key ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("standardize: false", "standardise: false", "unknown parameter of SingleTask"),
        ("C: [64.0]", "C: [-64.0]", "C must be positive"),
        ("stratified: false", "stratified: 3", "stratified': 3 is not true or false"),
        (
            "inputs: unit_range",
            "input: unit_range",
            "'input'; did you mean 'inputs'",
        ),
    ],
)
def test_wrong_values_are_refused_before_any_work(folder, old, new, message):
    changed(folder, old, new)
    with pytest.raises(ConfigError, match=message) as caught:
        check_names(load_readings(folder, "quick"))
    assert str(caught.value).startswith("yousefi2015/readings.yaml: key ")


def test_a_run_names_readings_that_exist(folder):
    raw = yaml.safe_load((config_dir() / "config.yaml").read_text())

    def run(papers, readings):
        return load_run_config({**raw, "papers": papers, "readings": readings})

    (config,) = load_papers(run([str(folder)], ["strata"]))
    assert list(config.experiments) == ["digits@strata=none"]
    with pytest.raises(ConfigError, match="unknown factor 'stratas'; did you mean"):
        load_papers(run([str(folder)], ["stratas"]))
    (folder / FILE).unlink()
    with pytest.raises(ConfigError, match=r"none of the papers .* has a readings.yaml"):
        load_papers(run([str(folder)], True))
    with pytest.raises(ConfigError, match="has no readings: write them to"):
        load_readings(folder, "quick")


def test_tasks_that_divide_examples_by_themselves_share_no_roles(folder):
    config = load_paper(folder, "quick")
    (variant,) = config.experiments["digits"].variants
    data = load_variant(variant, 1)
    protocol = config.protocols["percent"].named("x")
    for shared in (True, False):
        split = make_splits(data, protocol.model_copy(update={"shared": shared}), 1)[
            20, 0
        ]
        tested = data.sample[split.test]
        assert bool(set(tested) & set(data.sample[split.train])) is not shared


IN_PLACE = """
  measure:
    label: Measure
    main: accuracy
    alternatives:
      groups:
        label: number of groups
        basis: ours
        kind: legitimate
        experiments: {digits: {}}
        change: {in_place: {accuracy: n_groups}}
"""


def test_a_change_in_place_alone_makes_no_experiment(folder):
    with (folder / FILE).open("a") as file:
        file.write(IN_PLACE + SPECIFICATION.replace("strata,", "measure, strata,"))
    config = load_readings(folder, "quick")
    assert not any("measure" in name for name in config.experiments)
    origins = config.readings.experiments
    assert origins["digits@measure=groups"].fits == "digits"
    name = "digits@measure=groups+strata=none+costs=high"
    assert origins[name].fits == "digits@strata=none+costs=high"
    curve = config.artefacts["specification_stl_first"]
    assert len(curve.experiments) == len(set(curve.experiments)) == 3
    assert len(config.readings.specifications["stl_first"].experiments) == 8
    with pytest.raises(ConfigError, match="measure read the main scores alone"):
        load_readings(folder, "quick", ["measure"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{digits: {}}", "{digits: {repeats: 1}}", "leave methods and repeats out"),
        ("accuracy: n_groups", "accuracy: n_group", "did you mean 'n_groups'"),
        ("accuracy: n_groups", "acuracy: n_groups", "did you mean 'accuracy'"),
    ],
)
def test_a_wrong_change_in_place_is_refused(folder, old, new, message):
    with (folder / FILE).open("a") as file:
        file.write(IN_PLACE.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        load_readings(folder, "quick")


def test_alternatives_that_read_other_metrics_of_one_fit_share_it():
    config = load_readings("yousefi2015", "paper", ["choice"])
    chosen = config.readings.experiments["robot@choice=published_code_chosen"]
    assert chosen.fits == "robot@choice=published_code"
    assert chosen.fits in config.experiments
    assert "robot@choice=published_code_chosen" not in config.experiments


def test_a_combination_runs_only_compared_methods_that_it_changes(folder):
    with (folder / FILE).open("a") as file:
        file.write(SPECIFICATION.replace("strata,", "inputs,"))
    changed(folder, "of: [stl], params", "of: [stl, cmtl], params")
    config = load_readings(folder, "quick")
    # The specification compares stl and mtl; costs change stl and cmtl, inputs all.
    both = method_specs(config, "digits@inputs=unit+costs=high")
    assert set(both) == {"stl", "mtl"}
    assert set(method_specs(config, "digits@costs=high")) == {"stl", "cmtl"}


def test_a_bound_uses_test_data_and_is_no_part_of_a_curve(folder):
    changed(folder, "kind: optimistic", "kind: bound")
    with (folder / FILE).open("a") as file:
        file.write(SPECIFICATION)
    config = load_readings(folder, "quick")
    assert "(uses test data)" in config.experiments["digits@costs=seen"].title
    made = config.readings.specifications["stl_first"].experiments
    assert not any("seen" in name for name in made)


def test_all_of_a_curve_have_its_fewest_repeats(folder):
    with (folder / FILE).open("a") as file:
        file.write(SPECIFICATION)
    changed(
        folder, "methods: [stl, mtl], repeats: 1", "methods: [stl, mtl], repeats: 3"
    )
    path = folder / "experiments.yaml"
    document = yaml.safe_load(path.read_text())
    del document["experiments"]["digits"]["repeats"]
    path.write_text(yaml.safe_dump(document, allow_unicode=True))
    specification = load_readings(folder, "paper").readings.specifications
    assert specification["stl_first"].repeats == 3


def test_more_repeats_are_a_multiple_of_the_usual_ones(folder):
    changed(folder, "{stratified: false}", "{repeats: 30}")
    with pytest.raises(ConfigError, match="has 30 repeats, the main protocol 20"):
        load_readings(folder, "paper")


FIGURE = """
figures:
  costs_drawn:
    title: A figure
    metric: accuracy
    metric_label: accuracy
    axis: train_size
    label: per cent for training
    panels:
      - experiment: digits
        title: Digits
        curves: [{method: stl}, {method: stl, reading: {costs: high}}]
"""


def test_figures_are_artefacts_of_their_readings(folder):
    (folder / FILE).write_text(READINGS + FIGURE)
    config = load_readings(folder, "quick")
    artefact = config.artefacts["costs_drawn"]
    assert artefact == ReadingsFigure(
        kind="figure", title="A figure", experiments=["digits@costs=high"]
    )
    assert list(config.readings.figures) == ["costs_drawn"]
    # A figure of a factor that was not chosen is not drawn.
    assert "costs_drawn" not in load_readings(folder, "quick", ["inputs"]).artefacts


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("costs: high", "costs: higher", "figures.costs_drawn.panels.0.curves"),
        ("costs: high", "cost: high", "unknown factor 'cost'"),
        ("- experiment: digits", "- experiment: robot", "panels.0.experiment"),
        ("{method: stl}, ", "{method: slt}, ", "unknown method 'slt'"),
        ("costs_drawn:", "table_1:", "there is an artefact of this name"),
    ],
)
def test_a_figure_of_what_does_not_exist_is_refused(folder, old, new, words):
    (folder / FILE).write_text(READINGS + FIGURE.replace(old, new))
    with pytest.raises(ConfigError, match=r"readings\.yaml") as error:
        load_readings(folder, "quick")
    assert words in str(error.value)


def test_a_reading_may_choose_in_every_repeat_what_the_main_protocol_holds():
    main = load_paper("argyriou2008", "paper").experiments["school"]
    read = load_readings("argyriou2008", "paper", ["inputs"])
    free = read.experiments["school@inputs=raw_school"].entry("mtl_feat_gaussian")
    assert main.entry("mtl_feat_gaussian").hold == {"kernel": 0}
    assert free.hold == {}
    assert free.settings.params["standardize"] is False
