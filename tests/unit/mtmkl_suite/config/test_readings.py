import shutil

import pytest
import yaml

from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import Figure
from mtmkl_suite.config.readings import FILE, has_readings, load_readings
from mtmkl_suite.config.runs import load_papers
from mtmkl_suite.documents import config_dir
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.evaluation.cells import drawn_points
from mtmkl_suite.run.checks import check_names
from mtmkl_suite.run.plan import fit_jobs

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


@pytest.fixture
def folder(tmp_path):
    """A copy of a paper's configuration, with other readings."""
    copy = tmp_path / "yousefi2015"
    shutil.copytree(config_dir() / "papers" / "yousefi2015", copy)
    (copy / FILE).write_text(READINGS)
    (copy / "claims.yaml").unlink()
    return copy


def changed(folder, *replacements, end=""):
    text = (folder / FILE).read_text() + end
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / FILE).write_text(text)


@pytest.mark.parametrize("paper", [name for name in PAPERS if has_readings(name)])
@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_the_readings_of_every_paper_are_valid(paper, tier):
    config = load_readings(paper, tier)
    check_names(config)
    assert list(fit_jobs(config))
    assert not set(config.experiments) & set(load_paper(paper, tier).experiments)


def settings_of(config, experiment, method):
    """Return the settings of a method in an experiment."""
    return config.method_of(config.experiments[experiment].entry(method))


def test_a_reading_changes_only_what_it_says(folder):
    main, config = load_paper(folder, "quick"), load_readings(folder, "quick")
    experiments = config.experiments
    assert list(experiments) == [
        "digits@strata=none", "digits@costs=high", "digits@costs=seen",
        "digits@inputs=unit",
    ]  # fmt: skip
    before = settings_of(main, "digits", "stl")
    after = settings_of(config, "digits@costs=high", "stl")
    assert after.grid == {"C": [64.0]}
    assert after.params == {**before.params, "standardize": False}
    assert after.class_name == before.class_name
    assert after.selection == before.selection
    # Methods that are not changed are not run again.
    (entry,) = experiments["digits@costs=high"].methods
    assert entry.method == "stl"
    assert experiments["digits@costs=high"].protocol == "percent"
    assert settings_of(config, "digits@strata=none", "mtl") == main.methods["mtl"]
    (variant,) = experiments["digits@inputs=unit"].variants
    assert variant.options["inputs"] == "unit_range"
    (stored,) = main.experiments["digits"].variants
    seconds = main.seconds[f"digits/{stored.id}/stl"]
    assert config.seconds[f"digits@inputs=unit/{variant.id}/stl"] == seconds


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("{inputs: unit_range}", {"inputs": "unit_range"}),
        ("{}", {"n_classes": 4, "n_per_class": 20}),
    ],
)
def test_options_given_with_another_data_set_are_all_of_its_own(folder, options, found):
    of = ("{options: {inputs: unit_range}}", f"{{name: pendigits, options: {options}}}")
    changed(folder, of)
    experiments = load_readings(folder, "quick").experiments
    (variant,) = experiments["digits@inputs=unit"].variants
    assert (variant.name, variant.options) == ("pendigits", found)


def test_another_metric_alone_leaves_no_choice_by_the_old_one(folder):
    metrics = "{metrics: [misclassified]}"
    changed(folder, ("{digits: {methods: [stl]}}", "{landmine: {methods: [stl]}}"),
            ("{datasets: {options: {inputs: unit_range}}}", metrics))  # fmt: skip
    made = load_readings(folder, "paper").experiments["landmine@inputs=unit"]
    assert load_paper(folder, "paper").experiments["landmine"].select_by == "auc"
    assert made.select_by is None


def test_controls_are_not_run_again(folder):
    changed(folder, ("{digits: {methods: [stl, mtl], repeats: 1}}", "{digits: {}}"))
    main = load_paper(folder, "paper").experiments["digits"]
    made = load_readings(folder, "paper").experiments["digits@strata=none"]
    before, after = ({each.method for each in e.methods} for e in (main, made))
    assert before - after == {"floor", "ceiling"}


def test_null_removes_a_parameter_and_another_class_keeps_the_others(folder):
    changed(
        folder,
        ("{standardize: false}", "{normalize: null}"),
        ("of: [stl], params", "of: [stl], class: SharedMKLClassifier, params"),
    )
    before = settings_of(load_paper(folder, "quick"), "digits", "stl")
    after = settings_of(load_readings(folder, "quick"), "digits@costs=high", "stl")
    assert after.class_name == "SharedMKLClassifier"
    assert "normalize" in before.params
    assert after.params == {k: v for k, v in before.params.items() if k != "normalize"}


def test_a_search_tries_the_same_points_under_a_reading(folder):
    name = "group_feature_sharing"
    of = ("of: [stl], params", f"of: [{name}], params")
    changed(folder, of, (", grid: {C: [64.0]}", ""))
    main, config = load_paper(folder, "paper"), load_readings(folder, "paper")
    before = settings_of(main, "digits", name)
    after = settings_of(config, "digits@costs=high", name)
    assert drawn_points(after, name, 3) == drawn_points(before, name, 3)
    assert len(drawn_points(after, name, 3)) == 60


def test_only_a_changed_protocol_has_other_splits(folder):
    main, config = load_paper(folder, "quick"), load_readings(folder, "quick")
    protocol = config.experiments["digits@strata=none"].protocol
    assert protocol == "percent@strata=none"
    changed = main.protocols["percent"].model_copy(update={"stratified": False})
    assert config.protocols[protocol] == changed
    assert config.protocols["percent"] == main.protocols["percent"]


@pytest.mark.parametrize("kind", ["optimistic", "bound"])
def test_titles_say_which_readings_use_test_data(folder, kind):
    changed(folder, ("kind: optimistic", f"kind: {kind}"))
    config = load_readings(folder, "quick")
    marked = [k for k, e in config.experiments.items() if "(uses test data)" in e.title]
    assert marked == ["digits@costs=seen"]


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
    changed(folder, end=IN_PLACE)
    config = load_readings(folder, "quick")
    assert not any("measure" in name for name in config.experiments)
    origins = config.readings.experiments
    assert origins["digits@measure=groups"].fits == "digits"
    with pytest.raises(ConfigError, match="tier fits nothing for the readings measur"):
        load_readings(folder, "quick", ["measure"])


def test_alternatives_that_read_other_metrics_of_one_fit_share_it():
    config = load_readings("yousefi2015", "paper", ["choice"])
    chosen = config.readings.experiments["robot@choice=published_code_chosen"]
    assert chosen.fits == "robot@choice=published_code"
    assert chosen.fits in config.experiments
    assert "robot@choice=published_code_chosen" not in config.experiments


def test_more_repeats_are_a_multiple_of_the_usual_ones(folder):
    changed(folder, ("{stratified: false}", "{repeats: 30}"))
    with pytest.raises(ConfigError, match="has 30 repeats, the main protocol 20"):
        load_readings(folder, "paper")


FIGURE = """
figures:
  costs_drawn:
    kind: figure
    title: A figure
    experiments: [digits@costs=high]
"""


def test_figures_are_artefacts_of_their_readings(folder):
    changed(folder, end=FIGURE)
    artefact = load_readings(folder, "quick").artefacts["costs_drawn"]
    shown = {"title": "A figure", "experiments": ["digits@costs=high"]}
    assert artefact == Figure(kind="figure", **shown)
    # A figure of a factor that was not chosen is not drawn.
    assert "costs_drawn" not in load_readings(folder, "quick", ["inputs"]).artefacts


@pytest.mark.parametrize(
    ("end", "old", "new", "message"),
    [
        ("", "{digits: {}}", "{digit: {}}", "unknown experiment 'digit'; did you mean"),
        ("", "of: [stl]", "of: [slt]", "unknown method 'slt'; did you mean 'stl'"),
        ("", "kind: optimistic", "kind: hopeful", "'hopeful': input should be 'legit"),
        ("", "basis: ours", "because: x", "unknown key 'because'"),
        ("", "        basis: ours\n", "", "the key 'basis' is missing"),
        ("", "change: {protocol", "change: {protocols", "unknown key 'protocols'"),
        ("", "standardize: false", "standardise: false", "unknown parameter of Single"),
        ("", "C: [64.0]", "C: [-64.0]", "C must be positive"),
        ("", "stratified: false", "stratified: 3", "stratified': 3: input should be"),
        ("", "inputs: unit_range", "input: unit_range", "'input'; did you mean 'input"),
        (IN_PLACE, "{digits: {}}", "{digits: {repeats: 1}}", "leave methods and repea"),
        (IN_PLACE, "accuracy: n_g", "accuracy: n_", "did you mean 'n_groups'"),
        (IN_PLACE, "accuracy: n_g", "acuracy: n_g", "did you mean 'accuracy'"),
        (FIGURE, "costs=high", "costs=higher", "unknown experiment 'digits@costs=high"),
        (FIGURE, "costs_drawn:", "table_1:", "there is an artefact of this name"),
    ],
)
def test_a_mistake_is_refused_with_file_and_key(folder, end, old, new, message):
    changed(folder, (old, new), end=end)
    with pytest.raises(ConfigError, match=message) as refused:
        check_names(load_readings(folder, "quick"))
    assert str(refused.value).startswith("yousefi2015/readings.yaml: ")
    assert "key " in str(refused.value)


def test_a_reading_may_choose_in_every_repeat_what_the_main_protocol_holds():
    main = load_paper("argyriou2008", "paper").experiments["school"]
    read = load_readings("argyriou2008", "paper", ["inputs"])
    free = read.experiments["school@inputs=raw_school"].entry("mtl_feat_gaussian")
    assert main.entry("mtl_feat_gaussian").hold == {"kernel": 0}
    assert free.hold == {}
    assert free.settings.params["standardize"] is False
