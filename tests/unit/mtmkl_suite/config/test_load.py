from pathlib import Path

import pandas as pd
import pytest
import yaml

from mtmkl.methods import MultiTaskMKLClassifier
from mtmkl.methods._base.linear import LinearPathEstimator
from mtmkl_suite.config.expand import resolve_tier
from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.config.models import Search, expanded_settings
from mtmkl_suite.documents import config_dir, read_yaml
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.methods import resolve

PAPERS = sorted(folder.name for folder in (config_dir() / "papers").iterdir())
FILES = ("experiments", "artefacts", "claims")


def has_tier_choice(document):
    if isinstance(document, dict):
        return set(document) == {"quick", "paper"} or any(
            map(has_tier_choice, document.values())
        )
    return isinstance(document, list) and any(map(has_tier_choice, document))


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_every_paper_is_valid_and_resolved(paper, tier):
    config = load_paper(paper, tier)
    assert config.paper.id == paper
    assert Path(config.published).parent.is_dir()
    assert not has_tier_choice(config)


@pytest.mark.parametrize("paper", [*PAPERS, str(config_dir() / "own_data")])
@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_every_configured_method_says_whether_it_has_an_offset(paper, tier):
    """A default of the library may change, a published score may not."""
    has_one = {False} if "argyriou" in paper or "widmer" in paper else {True}
    for name, method in load_paper(paper, tier).methods.items():
        of = resolve(method.class_name)
        if issubclass(of, LinearPathEstimator | MultiTaskMKLClassifier):
            assert {method.params.get("fit_intercept")} == has_one, name


def test_tier_is_chosen_at_any_depth():
    document = {"a": [{"b": {"quick": 1, "paper": 2}}], "quick": 3}
    assert resolve_tier(document, "paper") == {"a": [{"b": 2}], "quick": 3}


def test_what_a_tier_lacks_is_not_asked_of_it():
    quick, paper = (load_paper("jebara2011", tier) for tier in ("quick", "paper"))
    dropped = set(paper.experiments) - set(quick.experiments)
    assert "landmine_22" in dropped
    asked = {s.args["experiment"] for c in quick.claims for s in c.settings}
    assert asked
    assert not dropped & asked
    # Figure 2 also shows an experiment that is there, figure 5 needs none.
    assert set(paper.artefacts) - set(quick.artefacts) == {"figure_ising_sizes"}


def test_run_defaults_follow_the_tier():
    raw = yaml.safe_load((config_dir() / "config.yaml").read_text())
    quick = load_run_config({**raw, "tier": "quick"})
    paper = load_run_config({**raw, "tier": "paper"})
    assert (quick.download, quick.on_missing_data) == ("small", "report")
    assert (paper.download, paper.on_missing_data) == ("all", "fail")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tier": "full"}, r"'tier': 'full' is not one of 'quick', 'paper'"),
        ({"mirror": 3}, r"'mirror': 3 is not text or null"),
        ({"download": True}, r"'download': true is not one of 'all', 'small', 'never'"),
        (
            {"sead": 1},
            r"key 'sead': unknown key 'sead'; did you mean 'seed'\? "
            r"\(known: tier, papers, seed, mirror, download, "
            r"on_missing_data, readings, ",
        ),
        ({"papers": "x"}, r"'papers': 'x' is not a list.*; write \[x\]"),
    ],
)
def test_wrong_run_configuration_names_the_key(change, message):
    raw = yaml.safe_load((config_dir() / "config.yaml").read_text())
    with pytest.raises(ConfigError, match=message):
        load_run_config({**raw, **change})


def edited_paper(tmp_path, edit):
    document = {}
    for name in FILES:
        path = config_dir() / "papers" / "argyriou2008" / f"{name}.yaml"
        document |= yaml.safe_load(path.read_text())
    edit(document)
    parts = {key: {key: document.pop(key)} for key in FILES[1:] if key in document}
    folder = tmp_path / "edited"
    folder.mkdir(parents=True)
    for name, part in {"experiments": document, **parts}.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(part))
    return folder


def test_unknown_method_is_named_with_its_key(tmp_path):
    def edit(document):
        document["experiments"]["school"]["methods"][0]["method"] = "ridgge"

    with pytest.raises(
        ConfigError, match=r"experiments\.school\.methods\.0\.method.*'ridgge'"
    ):
        load_paper(edited_paper(tmp_path, edit), "quick")


def test_unknown_key_is_named(tmp_path):
    def edit(document):
        document["experiments"]["school"]["metriks"] = ["mse"]

    with pytest.raises(ConfigError, match=r"experiments\.school.*metriks"):
        load_paper(edited_paper(tmp_path, edit), "quick")


def with_percent(document):
    document["protocols"]["parts"] = {
        "kind": "fractions", "train_percent": [10, 20], "repeats": 2
    }  # fmt: skip
    return document["protocols"]["parts"]


def test_a_search_and_percentages_are_part_of_a_configuration(tmp_path):
    def edit(document):
        with_percent(document)
        document["methods"]["rr_het"]["search"] = {"points": {"quick": 2, "paper": 5}}
        document["experiments"]["school"]["repeats"] = 1

    config = load_paper(edited_paper(tmp_path, edit), "quick")
    assert config.methods["rr_het"].search == Search(points=2)
    assert config.protocols["parts"].train_percent == [10, 20]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda d: with_percent(d).update(folds=3),
            r"protocols\.parts\.folds.*has validation rows in place of folds",
        ),
        (lambda d: with_percent(d).update(train_percent=[0]), "train_percent"),
        (
            lambda d: with_percent(d).update(train_sizes=[5]),
            r"protocols\.parts\.train_sizes': it is not a key of kind 'fractions'",
        ),
        (
            lambda d: d["protocols"]["digits_random"].update(folds=101),
            r"protocols\.digits_random\.folds': 101 is more than the 100 training",
        ),
        (
            lambda d: d["methods"]["rr_het"].update(search={"points": 0}),
            r"methods\.rr_het\.search\.points",
        ),
        (
            lambda d: d["methods"]["floor"].update(search={"points": 3}),
            r"methods\.floor\.search.*selection: none nothing is chosen",
        ),
    ],
)
def test_wrong_searches_and_percentages_name_the_key(tmp_path, edit, message):
    with pytest.raises(ConfigError, match=message):
        load_paper(edited_paper(tmp_path, edit), "quick")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "times"}, r"args\.step.*unknown step of an artefact 'times'"),
        (
            {"lower": {"method": "floor", "experiment": "skool"}},
            r"lower\.experiment.*unknown experiment 'skool'; did you mean 'school'",
        ),
    ],
)
def test_claims_on_steps_and_other_experiments_are_checked(tmp_path, change, message):
    def edit(document):
        claim = {
            "id": "c", "section": "1", "line": 1, "quote": "c", "tested": "c",
            "test": "ratio",
        }  # fmt: skip
        document["claims"] = [claim | {"args": {"experiment": "school"} | change}]

    with pytest.raises(ConfigError, match=message):
        load_paper(edited_paper(tmp_path, edit), "quick")


def test_unknown_paper_lists_the_known():
    with pytest.raises(ConfigError, match="argyriou2008"):
        load_paper("argyriou2009", "quick")


def test_broken_yaml_names_the_file(tmp_path):
    (tmp_path / "experiments.yaml").write_text("a: [1\n")
    with pytest.raises(ConfigError, match=r"(?s)/experiments\.yaml.*line 2"):
        load_paper(tmp_path, "quick")


def test_a_key_that_comes_twice_names_the_file_and_both_lines(tmp_path):
    text = "methods:\n  ridge: {a: 1}\n  ridge: {a: 2}\n"
    (tmp_path / "experiments.yaml").write_text(text)
    message = r"experiments\.yaml, line 3: .*'ridge' is already in line 2; remove or"
    with pytest.raises(ConfigError, match=message):
        load_paper(tmp_path, "quick")


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "experiments.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"experiments\.yaml: not valid YAML"):
        load_paper(tmp_path, "quick")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": ["repeat"]}, r"args\.unit': \['repeat'\] is not one of 'repeat', "),
        (
            {"lower": {"method": ["ridge"]}},
            r"args\.lower\.method': \['ridge'\] is not ",
        ),
        (
            {"higher": {"repeat": [[0]]}},
            r"args\.higher\.repeat': \[\[0\]\] is not text",
        ),
        ({"margin": "1"}, r"args\.margin': '1' is not a number"),
    ],
)
def test_arguments_of_claims_of_another_type_are_named(tmp_path, change, message):
    def edit(document):
        claim = document["claims"][0]
        claim["args"] = {**claim["args"], **change}
        document["claims"] = [claim]

    with pytest.raises(
        ConfigError, match=r"edited/claims\.yaml: key 'claims\..*" + message
    ):
        load_paper(edited_paper(tmp_path, edit), "paper")


def test_artefacts_and_claims_may_be_left_out(tmp_path):
    def edit(document):
        del document["artefacts"], document["claims"]

    config = load_paper(edited_paper(tmp_path, edit), "quick")
    assert (config.artefacts, config.claims) == ({}, [])


def test_a_value_per_tier_may_stand_anywhere(tmp_path):
    def edit(document):
        protocol = document["protocols"]["digits_random"]
        protocol["train_samples"] = {"quick": 50, "paper": 100}

    path = edited_paper(tmp_path, edit)
    for tier, size in (("quick", 50), ("paper", 100)):
        protocol = load_paper(path, tier).protocols["digits_random"]
        assert protocol.train_samples == size


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda d: d["protocols"]["school_published"].update(repeats={"quik": 2}),
            r"school_published\.repeats': {'quik': 2} is not a whole number .*"
            r"; values of the tiers are written {quick: …, paper: …}",
        ),
        (
            lambda d: d["protocols"]["school_published"].update(
                repeats={"quick": 2, "paper": 0}
            ),
            r"school_published\.repeats': 0 is not a whole number of at least 1",
        ),
        (
            lambda d: d["methods"]["rr_het"].update(grid={"gamma": 0.1}),
            r"rr_het\.grid\.gamma': 0\.1 is not a list; write \[0\.1\]",
        ),
        (
            lambda d: d["methods"]["rr_het"].update(grid={"gamma": []}),
            r"rr_het\.grid\.gamma': \[\] is not a list of length at least 1",
        ),
        (
            lambda d: d["methods"]["rr_het"].pop("selection"),
            r"rr_het': the key 'selection' is missing; it must be common, per_task",
        ),
        (
            lambda d: d["methods"]["rr_het"].pop("grid"),
            r"rr_het': the key 'grid' is missing; give the values to choose from, or",
        ),
        (
            lambda d: d["experiments"]["digits"]["datasets"].update(vary={"seed": 1}),
            r"digits\.datasets\.vary\.seed': 1 is not a list",
        ),
        (
            lambda d: d["artefacts"]["table_1"].update(kind="tabel"),
            r"artefacts\.table_1\.kind': 'tabel' is not one of 'figure', 'table'",
        ),
        (
            lambda d: d["artefacts"]["table_1"].pop("corner"),
            r"artefacts\.table_1': the key 'corner' is missing; it must be text",
        ),
        (
            lambda d: d["artefacts"]["table_1"].update(layout="ranks"),
            r"artefacts\.table_1\.layout': 'ranks' is not one of 'cells', 'r",
        ),
        (
            lambda d: d["artefacts"]["table_1"]["rows"].update(X={"method": "rigde"}),
            r"artefacts\.table_1\.rows\.X\.method': unknown method of \w+ 'rigde'",
        ),
        (
            lambda d: d["artefacts"]["table_1"]["rows"].update(
                X={"method": ["mtl_feat_linear", "rigde"]}
            ),
            r"artefacts\.table_1\.rows\.X\.method': unknown method of \w+ 'rigde'",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_it_should_be(tmp_path, edit, message):
    with pytest.raises(ConfigError, match=r"edited/\w+\.yaml: key '.*" + message):
        load_paper(edited_paper(tmp_path, edit), "quick")


@pytest.mark.parametrize("file", FILES)
def test_an_empty_file_is_named(tmp_path, file):
    folder = edited_paper(tmp_path, lambda document: None)
    (folder / f"{file}.yaml").write_text("")
    message = rf"edited/{file}\.yaml: key \(top level\): null is"
    with pytest.raises(ConfigError, match=message):
        load_paper(folder, "quick")


def test_a_key_in_the_wrong_file_is_named(tmp_path):
    folder = edited_paper(tmp_path, lambda document: None)
    with (folder / "experiments.yaml").open("a") as file:
        file.write("claims: []\n")
    message = r"edited/experiments\.yaml: key 'claims': unknown key 'claims'"
    with pytest.raises(ConfigError, match=message):
        load_paper(folder, "quick")


def test_a_folder_without_experiments_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"experiments\.yaml does not exist"):
        load_paper(tmp_path, "quick")


def test_a_paper_that_is_a_file_is_refused(tmp_path):
    path = tmp_path / "paper.yaml"
    path.write_text("paper: {id: x}\n")
    with pytest.raises(ConfigError, match=r"unknown paper '.*paper\.yaml' \(known: "):
        load_paper(path, "quick")


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_are_those_of_the_published_record(paper):
    claims = load_paper(paper, "paper").claims
    path = Path(__file__).parents[4] / "figures" / paper / "claims.csv"
    if not path.is_file():
        pytest.skip(f"no results of {paper} are published")
    published = pd.read_csv(path)
    assert [claim.id for claim in claims] == published["id"].tolist()
    assert [claim.quote for claim in claims] == published["quote"].tolist()


def generated_method(**changes):
    method = {
        "for_each": {"C": "costs"},
        "label": "{C.label}",
        "class": "IndependentSVMClassifier",
        "params": {"C": "{C.value}"},
        "selection": "none",
    } | changes

    def edit(document):
        costs = [{"id": "low", "value": 0.1}, {"id": "high", "value": 10.0}]
        document["lists"] = {"costs": [c | {"label": c["id"]} for c in costs]}
        document["methods"]["svm_{C.id}"] = method

    return edit


def test_a_claim_knows_the_experiments_of_its_sides_and_rows():
    def claim(paper, name):
        claims = load_paper(paper, "paper").claims
        return next(each for each in claims if each.id == name)

    both = claim("jawanpuria2011", "gains_by_single_features")
    assert both.experiments >= {"school", "school_each"}
    ranks = claim("yousefi2015", "dominates")
    assert ranks.experiments >= {"robot", "vehicle", "landmine"}


def test_settings_are_the_product_of_what_varies_block_by_block():
    args = {"lower": {"method": "a"}, "unit": "repeat"}
    blocks = [
        {"experiment": ["x", "y"], "lower.train_size, higher.train_size": [1, 2]},
        {"experiment": "z", "over_tasks.experiment": "tasks", "lower": {"method": "b"}},
    ]
    made = expanded_settings(args, blocks)
    assert [each["args"]["experiment"] for each in made] == [*"xxyyz"]
    first, *_, last = made
    assert first["args"] == {
        "lower": {"method": "a", "train_size": 1}, "unit": "repeat", "experiment": "x",
        "higher": {"train_size": 1},
    }  # fmt: skip
    assert last["args"]["lower"] == {"method": "b"}
    assert last["over_tasks"] == {"experiment": "tasks"}
    assert args == {"lower": {"method": "a"}, "unit": "repeat"}
    assert expanded_settings(args, {}) == [
        {"varied": {}, "args": args, "over_tasks": {}}
    ]


def test_entries_are_generated_from_lists(tmp_path):
    config = load_paper(edited_paper(tmp_path, generated_method()), "quick")
    assert config.methods["svm_high"].params == {"C": 10.0}
    assert config.methods["svm_low"].label == "low"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"label": "{c.label}"},
            r"key 'methods\..*label': unknown placeholder 'c\.label'; did you mean",
        ),
        ({"label": 6}, r"key 'methods\.svm_low\.label': 6 is not text"),
    ],
)
def test_a_mistake_in_a_generated_entry_is_named(tmp_path, changes, message):
    folder = edited_paper(tmp_path, generated_method(**changes))
    with pytest.raises(ConfigError, match=r"edited/experiments\.yaml: " + message):
        load_paper(folder, "quick")


def test_a_claim_that_comes_twice_or_is_generated_is_refused(tmp_path):
    def twice(document):
        document["claims"].append(document["claims"][0])

    with pytest.raises(ConfigError, match=r"key 'claims\..*' comes twice"):
        load_paper(edited_paper(tmp_path / "a", twice), "quick")

    def generated(document):
        document["claims"][0]["for_each"] = {"x": [1, 2]}

    with pytest.raises(ConfigError, match="unknown key 'for_each'"):
        load_paper(edited_paper(tmp_path / "b", generated), "quick")


@pytest.mark.parametrize("lists", [3, {"baselines": 3}, {"baselines": []}])
def test_lists_have_items(tmp_path, lists):
    def edit(document):
        document["lists"] = lists

    folder = edited_paper(tmp_path, edit)
    message = r"edited/experiments\.yaml: key 'lists(\.baselines)?': .* is not a"
    with pytest.raises(ConfigError, match=message):
        load_paper(folder, "quick")


def test_measured_seconds_are_read_from_the_folder(tmp_path):
    folder = edited_paper(tmp_path, lambda document: None)
    assert load_paper(folder, "paper").seconds == {}
    path = folder / "seconds.csv"
    path.write_text('experiment,dataset,method,seconds\na,"d[x=1,y=2]",b,1.5\n')
    assert load_paper(folder, "paper").seconds == {"a/d[x=1,y=2]/b": 1.5}
    path.write_text("experiment,dataset,method,seconds\na,d,b,long\n")
    with pytest.raises(ConfigError, match=r"seconds\.csv: not a table of .*'long'"):
        load_paper(folder, "paper")


def test_a_document_that_a_caller_changes_is_read_anew(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("outer: {inner: 1}")
    read_yaml(path)["outer"]["inner"] = 2
    assert read_yaml(path) == {"outer": {"inner": 1}}
