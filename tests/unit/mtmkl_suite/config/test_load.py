import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mtmkl.methods import MultiTaskMKLClassifier
from mtmkl.methods._base.linear import LinearPathEstimator
from mtmkl_suite.config.load import load_paper, load_run_config, resolve_tier
from mtmkl_suite.config.models import Search, expanded_settings
from mtmkl_suite.documents import config_dir, read_yaml
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.methods import resolve

PAPERS = sorted(folder.name for folder in (config_dir() / "papers").iterdir())
FILES = ("experiments", "artefacts", "claims")
PARTS = {"kind": "fractions", "train_percent": [10, 20], "repeats": 2}
CLAIM = {
    "id": "c", "section": "1", "line": 1, "quote": "c", "tested": "c", "test": "ratio",
    "args": {"experiment": "school"}, "settings": {},
}  # fmt: skip


def has_tier_choice(document):
    if isinstance(document, dict):
        return set(document) == {"quick", "paper"} or any(
            map(has_tier_choice, document.values())
        )
    return isinstance(document, list) and any(map(has_tier_choice, document))


@pytest.mark.parametrize("paper", [*PAPERS, str(config_dir() / "own_data")])
@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_every_paper_is_valid_and_says_whether_methods_have_an_offset(paper, tier):
    """A default of the library may change, a published score may not."""
    config = load_paper(paper, tier)
    assert not has_tier_choice(config)
    has_one = {False} if "argyriou" in paper or "widmer" in paper else {True}
    for name, method in config.methods.items():
        of = resolve(method.class_name)
        if issubclass(of, LinearPathEstimator | MultiTaskMKLClassifier):
            assert {method.params.get("fit_intercept")} == has_one, name
    if paper in PAPERS:
        assert config.paper.id == paper
        assert Path(config.published).parent.is_dir()


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


@pytest.fixture
def raw():
    return yaml.safe_load((config_dir() / "config.yaml").read_text())


@pytest.mark.parametrize(
    ("tier", "usual"), [("quick", ("small", "report")), ("paper", ("all", "fail"))]
)
def test_run_defaults_follow_the_tier(raw, tier, usual):
    run = load_run_config({**raw, "tier": tier})
    assert (run.download, run.on_missing_data) == usual


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"download": True}, r"'download': true: input should be 'all', 'small' or 'n"),
        ({"grid": {"C": []}}, r"'grid\.C'"),
        ({"repeats": 0}, "'repeats': 0: input should be greater than"),
        ({"data": {"options": {}}}, "'source' is missing"),
        ({"sead": 1}, r"key 'sead': .*did you mean 'seed'\? \(known: tier, papers, se"),
    ],
)
def test_wrong_run_configuration_names_the_key(raw, change, message):
    with pytest.raises(ConfigError, match=message):
        load_run_config({**raw, **change})


def generated(**changes):
    return {
        "for_each": {"C": "costs"}, "label": "cost {C}", "params": {"C": "{C}"},
        "class": "IndependentSVMClassifier", "selection": "none", **changes,
    }  # fmt: skip


@cache
def argyriou():
    folder = config_dir() / "papers" / "argyriou2008"
    document = {"lists": {"costs": [1, 10]}}
    for name in FILES:
        document |= read_yaml(folder / f"{name}.yaml")
    # Two claims are enough, and are read in no time.
    del document["main_claim"]
    return json.dumps(document | {"claims": document["claims"][:2]})


def edited_paper(tmp_path, *changes):
    document = json.loads(argyriou())
    for key, value in changes:
        *parents, last = [int(s) if s.isdigit() else s for s in key.split(".")]
        place = document
        for step in parents:
            place = place[step]
        place[last] = value
        if value is None:
            del place[last]
    parts = {key: {key: document.pop(key)} for key in FILES[1:] if key in document}
    folder = tmp_path / "edited"
    folder.mkdir(parents=True)
    for name, part in {"experiments": document, **parts}.items():
        (folder / f"{name}.yaml").write_text(json.dumps(part))
    return folder


def test_a_search_percentages_and_a_value_per_tier_may_be_anywhere(tmp_path):
    folder = edited_paper(
        tmp_path,
        ("protocols.parts", PARTS),
        ("methods.rr_het.search", {"points": {"quick": 2, "paper": 5}}),
        ("experiments.school.repeats", 1),
    )
    config = load_paper(folder, "quick")
    assert config.methods["rr_het"].search == Search(points=2)
    assert config.protocols["parts"].train_percent == [10, 20]
    assert load_paper(folder, "paper").methods["rr_het"].search == Search(points=5)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("experiments.school.methods.0.method", "ridgge", "unknown method .*'ridgge'"),
        ("experiments.school.metriks", ["mse"], "'metriks'"),
        ("experiments.digits.datasets.vary", {"seed": 1}, r"vary\.seed': 1: input sho"),
        ("protocols.parts", {**PARTS, "folds": 3}, "has validation rows in place of f"),
        ("protocols.parts", {**PARTS, "train_sizes": [5]}, "no.* a key of kind 'fract"),
        ("protocols.digits_random.folds", 101, "101 is more than the 100 training"),
        ("methods.floor.search", {"points": 3}, "selection: none nothing is chosen"),
        ("methods.rr_het.grid.gamma", [], r"\[\]: list should have at least 1 item"),
        ("methods.rr_het.selection", None, "'selection' is missing"),
        ("methods.rr_het.grid", None, "the key 'grid' is missing; give the values"),
        ("artefacts.table_1.kind", "tabel", "'tabel' is not one of 'figure', 'table'"),
        ("artefacts.table_1.layout", "ranks", "'ranks' is not one of 'cells', 'r"),
        ("artefacts.table_1.rows", {"X": {"method": "rigde"}}, "unknown .*'rigde'"),
        ("artefacts.table_1.rows", {"X": {"method": ["floor", "x"]}}, "unknown .*'x'"),
        ("artefacts.table_1.rows", {"X": {"experiment": [[1]]}}, r"\[1\] is not text"),
        ("claims.0.args.unit", ["repeat"], r"\['repeat'\]: input should be 'repeat'"),
        ("claims.0.args.lower.method", ["ridge"], r"\['ridge'\] is not "),
        ("claims.0.args.higher.repeat", [[0]], r"\[\[0\]\] is not text"),
        ("claims.0.args.direction", "down", "'down': input should be 'increasing'"),
        ("claims.0.args.step", "times", "unknown step of an artefact 'times'"),
        ("claims.0.args.lower.experiment", "skool", "'skool'; did you mean 'school'"),
        ("claims", [CLAIM, CLAIM], r"key 'claims\..*' comes twice"),
        ("claims", [CLAIM | {"for_each": {"x": [1, 2]}}], "unknown key 'for_each'"),
        ("lists.costs", [], r"key 'lists\.costs': \[\]: list should"),
        ("methods.svm_{C}", generated(label="{c}"), "label': unknown placeholder 'c' "),
        ("methods.svm_{C}", generated(label=6), r"svm_1\.label': 6: input should be"),
    ],
)
def test_a_wrong_value_is_named_with_what_it_should_be(tmp_path, key, value, message):
    folder = edited_paper(tmp_path, (key, value))
    with pytest.raises(ConfigError, match=message) as refused:
        load_paper(folder, "paper" if "args" in key else "quick")
    file = key.partition(".")[0]
    file = file if file in FILES else "experiments"
    parent = key.rpartition(".")[0].partition(".args")[0].replace("claims.0", "claims.")
    assert f"edited/{file}.yaml: key '{parent}" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a: [1\n", r"(?s)/experiments\.yaml.*line 2"),
        (b"methods:\n  ridge: {a: 1}\n  ridge: {a: 2}\n", r"experiments\.yaml, line 3"),
        (b"\xff\xfe\x00", r"experiments\.yaml: not valid YAML"),
        (None, r"experiments\.yaml does not exist"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, text, message):
    if text is not None:
        (tmp_path / "experiments.yaml").write_bytes(text)
    with pytest.raises(ConfigError, match=message):
        load_paper(tmp_path, "quick")


def test_a_paper_that_is_not_there(tmp_path):
    (tmp_path / "paper.yaml").write_text("paper: {id: x}\n")
    for paper in ("argyriou2009", tmp_path / "paper.yaml"):
        with pytest.raises(ConfigError, match=r"unknown paper .* \(known: argyriou200"):
            load_paper(paper, "quick")


def test_artefacts_and_claims_may_be_left_out(tmp_path):
    folder = edited_paper(tmp_path, ("artefacts", None), ("claims", None))
    config = load_paper(folder, "quick")
    assert (config.artefacts, config.claims) == ({}, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim": "other"}, r"main_claim\.claim.*'other'"),
        ({"rows": ["a", "b"]}, "'main_claim.rows': 2 labels cannot share 1 settings"),
        ({"printed": [1, 2]}, "1 labels cannot share 1 settings and 2 printed"),
    ],
)
def test_a_main_claim_that_does_not_fit_its_sentence_is_refused(
    tmp_path, change, message
):
    folder = edited_paper(tmp_path)
    path = folder / "claims.yaml"
    claims = json.loads(path.read_text())["claims"]
    shown = {"says": "s", "artefact": "table_1", "axis": "x", "rows": ["a"]}
    main = {"claim": claims[0]["id"], **shown, **change}
    path.write_text(json.dumps({"claims": claims, "main_claim": main}))
    with pytest.raises(ConfigError, match=message):
        load_paper(folder, "paper")


def test_an_empty_file_is_named(tmp_path):
    folder = edited_paper(tmp_path)
    for file in FILES:
        text = (folder / f"{file}.yaml").read_text()
        (folder / f"{file}.yaml").write_text("")
        message = rf"edited/{file}\.yaml: key \(top level\): null: input should be"
        with pytest.raises(ConfigError, match=message):
            load_paper(folder, "quick")
        (folder / f"{file}.yaml").write_text(text)


def test_a_key_in_the_wrong_file_is_named(tmp_path):
    folder = edited_paper(tmp_path)
    path = folder / "experiments.yaml"
    path.write_text(path.read_text().replace("{", '{"claims": [], ', 1))
    message = r"edited/experiments\.yaml: key 'claims': unknown key 'claims'"
    with pytest.raises(ConfigError, match=message):
        load_paper(folder, "quick")


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_are_those_of_the_published_record(paper):
    claims = load_paper(paper, "paper").claims
    path = Path(__file__).parents[4] / "figures" / paper / "claims.csv"
    if not path.is_file():
        pytest.skip(f"no results of {paper} are published")
    published = pd.read_csv(path)
    assert [claim.id for claim in claims] == published["id"].tolist()
    assert [claim.quote for claim in claims] == published["quote"].tolist()


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
    folder = edited_paper(tmp_path, ("methods.svm_{C}", generated()))
    config = load_paper(folder, "quick")
    assert config.methods["svm_10"].params == {"C": 10}
    assert config.methods["svm_1"].label == "cost 1"


def test_measured_seconds_are_read_from_the_folder(tmp_path):
    folder = edited_paper(tmp_path)
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
