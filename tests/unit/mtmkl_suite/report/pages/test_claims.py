import pandas as pd

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.judge.claims import COLUMNS
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.pages.claims import claims_in_words, counts_by_test


def test_every_test_of_claims_is_counted():
    verdicts = ["holds", "undecided", "holds"]
    claims = pd.DataFrame({"test": ["trend", "trend", "ratio"], "verdict": verdicts})
    found = counts_by_test([claims, claims.iloc[:1]])
    assert list(found) == [name.replace("_", " ") for name in TESTS]
    assert (found["trend"]["holds"], found["trend"]["undecided"]) == (2, 1)
    assert sum(found["equivalence"].values()) == 0
    none = counts_by_test([claims.iloc[:0]])
    assert sum(sum(each.values()) for each in none.values()) == 0


def claims_of(config):
    rows = [
        dict.fromkeys(COLUMNS, float("nan"))
        | {
            key: getattr(claim, key)
            for key in ("id", "claim", "section", "test", "basis")
        }
        | {"verdict": "holds", "note": "10 repeats"}
        for claim in config.claims
    ]
    return pd.DataFrame(rows)


def views_of(claims, config):
    sections = claims_in_words(claims, {}, config)
    return {view["id"]: view for views in sections.values() for view in views}


def test_claims_are_told_by_section():
    config = load_paper("yousefi2015", "paper")
    sections = claims_in_words(claims_of(config), {"beats": "never"}, config)
    assert list(sections) == list(dict.fromkeys(c.section for c in config.claims))
    assert list(views_of(claims_of(config), config)) == [
        claim.id for section in sections for claim in config.claims
        if claim.section == section
    ]  # fmt: skip


def test_differences_are_in_the_unit_of_the_tables():
    config = load_paper("yousefi2015", "paper")
    claims = claims_of(config).assign(interval_low=-0.0271, interval_high=0.0271)
    views = views_of(claims, config)
    view = views["robot_beats_stl"]
    assert view["estimate"] == "difference, accuracy, in points"
    assert (view["size"], view["is_ours"]) == ("+0.00", True)
    assert view["results"] == ["interval −2.71 to 2.71 points"]
    claims = claims.assign(interval_low=-7.5e-6, interval_high=-7.5e-6)
    view = views_of(claims, config)["groups_grow_along_lambda"]
    assert view["size"] == "−0.000008"
    assert not views["dominates_10"]["is_ours"]


def test_results_are_in_words():
    config = load_paper("jebara2011", "paper")
    claims = claims_of(config).assign(
        statistic=2.5, p=0.0001, interval_low=0.1, interval_high=0.2, rho=0.5,
        own_verdict="undecided", tasks_n=29.0, tasks_of="fields", tasks_p=0.0031,
        tasks_verdict="holds",
    )  # fmt: skip
    view = next(iter(views_of(claims, config).values()))
    assert view["results"] == [
        "statistic 2.5, p < 0.001, interval 0.1 to 0.2",
        "corrected for shared examples (ρ = 0.5): nothing can be tested",
        "over 29 fields, a statement about fields like these: holds (p = 0.0031)",
    ]
    assert view["own_verdict"] == "undecided"
