from dataclasses import replace

import pytest
from configured import paper_of

from mtmkl.documents import ConfigError
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.evaluation.jobs import MethodSpec
from mtmkl_suite.run import plan
from mtmkl_suite.run.plan import Variant

PAPERS = [
    "argyriou2008", "comparison", "jawanpuria2011", "jebara2011", "widmer2015",
    "yousefi2015",
]  # fmt: skip


@pytest.fixture
def config():
    return {
        "paper": {"id": "toy2000"},
        "tier": "paper",
        "seconds": {"curve/draw[a=1,b=1]/ridge": 130.0, "real/school/ridge": 0.1},
        "protocols": {"given": {"kind": "given", "repeats": 5, "folds": 3}},
        "methods": {
            "ridge": {
                "label": "Ridge",
                "class": "IndependentRidge",
                "selection": "none",
            }
        },
        "experiments": {
            "curve": {
                "datasets": {
                    "name": "draw",
                    "options": {"b": 1},
                    "vary": {"a": [1, 2]},
                },
                "protocol": "given",
                "methods": [{"method": "ridge"}],
                "metrics": ["mse"],
            },
            "real": {
                "datasets": {"name": "school"},
                "protocol": "given",
                "methods": [{"method": "ridge"}],
                "metrics": ["mse"],
            },
        },
        "artefacts": {
            "table_1": {"kind": "table", "experiment": "real", "rows": {}},
            "figure_1": {"kind": "figure", "experiments": ["real"]},
        },
        "claims": [],
    }


def test_variants_are_the_product_of_what_varies(config):
    ids = [v.id for v in paper_of(config).experiments["curve"].variants]
    assert ids == ["draw[a=1,b=1]", "draw[a=2,b=1]"]
    assert Variant("school").id == "school"


def test_jobs_are_cut_into_chunks_that_cover_all_repeats(config):
    jobs = list(plan.fit_jobs(paper_of(config)))
    assert [j.repeats for j in jobs[:3]] == [(0, 1), (2, 3), (4,)]
    assert jobs[-1].repeats == (0, 1, 2, 3, 4)
    assert len({j.stem for j in jobs}) == len(jobs)


def test_a_repeat_that_takes_long_is_a_job(config):
    config["seconds"]["real/school/ridge"] = 1e4
    jobs = [job for job in plan.fit_jobs(paper_of(config)) if job.experiment == "real"]
    assert [job.repeats for job in jobs] == [(0,), (1,), (2,), (3,), (4,)]


def test_what_was_never_measured_has_a_few_repeats_in_a_job(config):
    config["protocols"]["given"]["repeats"] = 12
    jobs = [
        job for job in plan.fit_jobs(paper_of(config)) if job.dataset == "draw[a=2,b=1]"
    ]
    assert [len(job.repeats) for job in jobs] == [5, 5, 2]


def test_the_first_job_has_the_repeat_that_others_hold(config):
    config["experiments"]["curve"]["methods"][0]["hold"] = {"gamma": 3}
    jobs = [
        job for job in plan.fit_jobs(paper_of(config)) if job.dataset == "draw[a=1,b=1]"
    ]
    assert [job.repeats for job in jobs] == [(0, 1, 2, 3), (4,)]


def test_the_quick_tier_has_one_job_per_method(config):
    jobs = list(plan.fit_jobs(paper_of(config | {"tier": "quick"})))
    assert [job.repeats for job in jobs] == [(0, 1, 2, 3, 4)] * 3


@pytest.mark.parametrize("paper", PAPERS)
def test_jobs_of_the_papers_are_long_enough_and_not_too_long(paper):
    config = load_paper(paper, "paper")
    jobs = list(plan.fit_jobs(config))
    assert len(jobs) < 400
    for job in jobs:
        one = config.seconds[f"{job.experiment}/{job.dataset}/{job.method}"]
        assert len(job.repeats) == 1 or one * len(job.repeats) < 600
        if job.chunk:
            assert one * (len(job.repeats) + 1) > 30


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("tier", ["quick", "paper"])
def test_stems_of_a_real_plan_are_unique(paper, tier):
    stems = [job.stem for job in plan.fit_jobs(load_paper(paper, tier))]
    assert len(stems) == len(set(stems)) > 10


def test_ones_own_method_joins_an_experiment_and_its_table(config):
    joined = plan.with_method(
        paper_of(config), "real", "my.module:Own", grid={"gamma": [1, 2]}
    )
    assert "own" not in config["methods"]
    (spec,) = [s for s in plan.method_specs(joined, "real").values() if s.id == "own"]
    assert spec.grid_points() == [{"gamma": 1}, {"gamma": 2}]
    assert joined.artefacts["table_1"].extra_rows == {"Own": {"method": "own"}}


def test_ones_own_method_chooses_as_the_others_do():
    paper = load_paper("yousefi2015", "quick")
    joined = plan.with_method(paper, "digits", "my.module:Own", grid={"C": [1, 2]})
    assert joined.methods["own"].selection == "validation"
    paper = load_paper("argyriou2008", "quick")
    joined = plan.with_method(paper, "digits", "my.module:Own", grid={"C": [1, 2]})
    assert joined.methods["own"].selection == "common"


def test_ones_own_method_replaces_none_of_its_name():
    paper = load_paper("yousefi2015", "quick")
    joined = plan.with_method(paper, "digits", "my.module:CMTL")
    assert joined.methods["cmtl"] == paper.methods["cmtl"]
    entries = [entry.method for entry in joined.experiments["digits"].methods]
    assert entries[-1] == "cmtl_own"
    assert entries.count("cmtl") == 1


def test_ones_own_method_has_one_id_in_all_experiments():
    joined = paper = load_paper("yousefi2015", "quick")
    for experiment in paper.experiments:
        joined = plan.with_method(joined, experiment, "my.module:Own")
    assert set(joined.methods) - set(paper.methods) == {"own"}


def test_a_method_that_is_there_already_changes_nothing(config):
    config = paper_of(config)
    assert plan.with_method(config, "real", "ridge") is config


def test_unknown_experiment_lists_the_known(config):
    with pytest.raises(ConfigError, match=r"'rael'.*curve, real"):
        plan.with_method(paper_of(config), "rael", "my.module:Own")


GRID = {"C": [0.5, 1.0, 2.0, 4.0], "lam": [1, 2, 3, 4, 5]}


@pytest.fixture
def searched():
    return MethodSpec("one", "x:One", {}, GRID, "validation", search=8)


def test_a_design_is_part_of_the_grid_in_its_order(searched):
    product = replace(searched, search=None).grid_points()
    points = searched.with_design(3).grid_points()
    assert len(points) == 8
    positions = [product.index(point) for point in points]
    assert positions == sorted(set(positions))


def test_a_design_depends_on_seed_and_method_alone(searched):
    points = searched.with_design(3).grid_points()
    alike = replace(searched, n_tasks=(4,), params={"tol": 1e-3})
    assert alike.with_design(3).grid_points() == points
    assert searched.with_design(4).grid_points() != points
    assert replace(searched, id="other").with_design(3).grid_points() != points


def test_a_smaller_design_is_part_of_a_larger(searched):
    larger = searched.with_design(3).grid_points()
    smaller = replace(searched, search=3).with_design(3).grid_points()
    assert len(smaller) == 3
    assert all(point in larger for point in smaller)


@pytest.mark.parametrize("search", [None, 20, 60])
def test_a_small_grid_is_tried_whole(searched, search):
    whole = replace(searched, search=search)
    assert whole.with_design(3) == whole


def test_points_of_a_design_may_hold_a_value(searched):
    points = searched.with_design(3).grid_points({"C": 1.0})
    assert {point["C"] for point in points} == {1.0}
    tried = {p["lam"] for p in searched.with_design(3).grid_points()}
    assert sorted(point["lam"] for point in points) == sorted(tried)


def test_every_point_is_as_likely_to_be_tried(searched):
    count = dict.fromkeys(range(20), 0)
    product = searched.grid_points()
    for seed in range(300):
        for point in searched.with_design(seed).grid_points():
            count[product.index(point)] += 1
    # Binomial with mean 120 and sd 8.5.
    assert all(abs(n - 120) < 5 * 8.5 for n in count.values())


def test_the_search_of_a_method_is_read(config):
    config["methods"]["ridge"] |= {"grid": GRID, "search": {"points": 6}}
    assert plan.method_specs(paper_of(config), "real")["ridge"].search == 6


def test_an_experiment_may_take_the_first_repeats_of_its_protocol(config):
    config["experiments"]["curve"]["repeats"] = 3
    jobs = [job for job in plan.fit_jobs(paper_of(config)) if job.experiment == "curve"]
    assert [job.repeats for job in jobs[:2]] == [(0, 1), (2,)]
    config["experiments"]["curve"]["repeats"] = 6
    with pytest.raises(ConfigError, match=r"curve.repeats': 6 is more than the 5"):
        list(plan.fit_jobs(paper_of(config)))


def test_a_search_and_its_full_grid_share_repeats_and_grid():
    config = load_paper("yousefi2015", "paper")
    for name in ("robot", "vehicle", "letter"):
        full, searched = (config.experiments[n] for n in (f"{name}_full_grid", name))
        assert full.protocol == searched.protocol
        assert full.datasets == searched.datasets
        assert full.metrics == searched.metrics
    specs = plan.method_specs(config, "letter_full_grid")
    for method in ("group_feature_sharing", "cmtl", "whom", "metag"):
        product = specs[f"{method}_full"].grid_points()
        assert specs[method].grid_points() == product
        assert len(specs[method].with_design(0).grid_points()) == 60 < len(product)


def test_repeats_of_all_experiments(config):
    config["experiments"]["curve"]["repeats"] = 2
    config = paper_of(config)
    changed = plan.with_repeats(config, 7)
    assert {changed.n_repeats(name) for name in changed.experiments} == {7}
    assert changed.changes == {"repeats": 7}
    assert config.n_repeats("curve") == 2


def test_the_repeats_that_are_configured_change_nothing(config):
    config = paper_of(config)
    assert plan.with_repeats(config, 5) is config


@pytest.mark.parametrize(("grid", "mark"), [(None, " (untuned)"), ({"C": [1]}, "")])
def test_a_method_that_joins_is_known_and_marked_if_it_is_not_tuned(config, grid, mark):
    joined = plan.with_method(paper_of(config), "curve", "own.module:Class", grid=grid)
    joined = plan.with_method(joined, "real", "own.module:Class", grid=grid)
    assert joined.own == ["class"]
    assert joined.methods["class"].label == f"Class{mark}"


def test_equal_labels_are_told_apart_by_the_module():
    paper = load_paper("yousefi2015", "quick")
    taken = next(m.label for m in paper.methods.values() if m.label.isidentifier())
    joined = plan.with_method(paper, "digits", f"a.module:{taken}")
    for module in ("a", "b", "c"):
        joined = plan.with_method(joined, "digits", f"{module}:Mine")
    labels = [joined.methods[name].label for name in joined.own]
    assert labels == [
        f"a.module:{taken} (untuned)",
        "Mine (untuned)", "b:Mine (untuned)", "c:Mine (untuned)",
    ]  # fmt: skip
    assert len(set(joined.own)) == 4


def joined_everywhere(name, paper="comparison", tier="quick"):
    config = load_paper(paper, tier)
    for experiment in config.experiments:
        config = plan.with_method(config, experiment, name)
    return config


def test_ones_own_method_has_a_column_in_each_comparison_of_its_experiments():
    usual = load_paper("comparison", "quick")
    names = [n for n in usual.artefacts if n.endswith("_classification")]
    joined = plan.with_method(usual, "on_digits", "my.module:Own")
    for name, artefact in joined.artefacts.items():
        columns = artefact.comparison.columns
        before = usual.artefacts[name].comparison.columns
        more = {"Own (untuned)": ["own"]} if name in names else {}
        assert columns == {**before, **more}
        assert artefact.comparison.pairs == (usual.artefacts[name].comparison.pairs)
    everywhere = joined_everywhere("my.module:Own")
    for artefact in everywhere.artefacts.values():
        assert list(artefact.comparison.columns).count("Own (untuned)") == 1


def test_no_method_joins_the_ranks_that_a_paper_printed():
    usual = load_paper("yousefi2015", "paper")
    joined = joined_everywhere("my.module:Own", "yousefi2015", "paper")
    name = next(n for n, a in usual.artefacts.items() if a.comparison)
    assert joined.artefacts[name] == usual.artefacts[name]


def test_a_configured_method_fills_its_column_or_is_refused():
    usual = load_paper("comparison", "quick")
    table = "table_ranks_classification"
    joined = plan.with_method(usual, "on_digits", "cmtl")
    assert joined.artefacts[table] == usual.artefacts[table]
    with pytest.raises(ConfigError, match="'svm' has its column 'Independent SVMs'"):
        plan.with_method(usual, "on_digits", "svm_images")


def test_a_label_that_is_another_column_is_marked():
    usual = load_paper("comparison", "quick")
    columns = usual.artefacts["table_ranks_classification"].comparison.columns
    name = next(
        name
        for name, method in usual.methods.items()
        if method.label in columns and name not in columns[method.label]
    )
    joined = plan.with_method(usual, "on_digits", name)
    found = joined.artefacts["table_ranks_classification"].comparison.columns
    label = usual.methods[name].label
    assert found[label] == columns[label]
    assert found[f"{label} (joined)"] == [name]
