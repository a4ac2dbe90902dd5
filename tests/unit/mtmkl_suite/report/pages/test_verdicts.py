import pandas as pd
import pytest
from configured import paper_of

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.files import write_json, write_table
from mtmkl_suite.judge.claims import COLUMNS
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.pages import verdicts as pages
from mtmkl_suite.report.pages.verdicts import (
    answer,
    artefacts_of_section,
    claim_tests_of,
    closing_summary,
    group_claims,
    number_rules,
    with_labels,
)
from mtmkl_suite.report.record.record import RECORD, RUN
from mtmkl_suite.report.tables.standing import Standing
from mtmkl_suite.report.tables.text import TextTable
from mtmkl_suite.run.folders import RunFolder, record_folder


def verdicts(*names, derived=False, status="legible", source=RUN):
    return pd.DataFrame(
        {
            "verdict": names, "derived": derived, "status": status, "source": source,
            "row": [f"row {k}" for k in range(len(names))], "column": "error",
            "unit": "%",
            "published": 2.0, "reproduced": [2.0 + k for k in range(len(names))],
        }
    )  # fmt: skip


def claims(*names, source=RUN, basis='l. 1: "so"'):
    return pd.DataFrame(
        {
            "verdict": pd.Series(names, dtype=str), "source": source, "basis": basis,
            "claim": [f"{name} {k}." for k, name in enumerate(names)],
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["reproduced", "close"], "Yes"),
        (["reproduced"] * 3 + ["different"], "Mostly"),
        (["reproduced"] * 2 + ["different"] * 2, "Partly"),
        (["reproduced"] + ["different"] * 4, "No"),
        (["no data", "no data"], "–"),
    ],
)
def test_numbers_decide(names, word):
    assert answer(verdicts(*names), claims()).word == word


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["holds", "holds"], "Yes"),
        (["holds", "undecided", "undecided"], "Undecided"),
        (["holds", "undecided"], "Yes but"),
        (["does not hold"], "No"),
    ],
)
def test_claims_decide_without_numbers(names, word):
    expected = "Mostly" if word == "Yes but" else word
    assert answer(verdicts(), claims(*names)).word == expected


def test_the_sentence_has_both():
    numbers = pd.concat(
        [
            verdicts("reproduced", "close", "different"),
            verdicts("no data", status="illegible"),
            verdicts("different", "different", derived=True),
        ]
    )
    ours = claims("holds", basis="ours")
    papers = claims("holds", "undecided", "does not hold", "holds")
    found = answer(numbers, pd.concat([papers, ours]))
    assert found.sentence == (
        "2 of 3 published numbers are reproduced or close, 1 more cannot be read in "
        "the paper; of the paper's 4 claims 2 hold, 1 is undecided, 1 does not hold; "
        "our only claim holds."
    )
    assert found.numbers["different"] == 1


def test_one_of_a_kind_is_in_the_singular():
    found = answer(verdicts("different"), claims("holds"))
    assert found.sentence == (
        "The published number is neither reproduced nor close; the paper's only claim "
        "holds."
    )


def test_few_of_many_have_a_verb_in_the_singular():
    sentences = [
        answer(verdicts(*names), claims()).sentence
        for names in (["close", "different"], ["different", "different"])
    ]
    assert sentences == [
        "1 of 2 published numbers is reproduced or close.",
        "None of the 2 published numbers is reproduced or close.",
    ]
    assert answer(verdicts(), claims("undecided", "undecided")).sentence == (
        "The paper's 2 claims are both undecided."
    )


def test_numbers_and_claims_have_a_word_each():
    assert answer(verdicts("close"), claims("does not hold")).words == [
        "Numbers: yes", "Claims: no",
    ]  # fmt: skip
    assert answer(verdicts(), claims("does not hold")).words == ["No"]


def test_what_can_be_read_in_two_ways_is_not_the_farthest():
    numbers = verdicts("close", "different", "different")
    numbers.loc[2, "status"] = "ambiguous"
    found = answer(numbers, claims())
    assert found.why == "Largest difference: error, row 1: 3, printed 2."
    assert found.differences == (
        "Ours − published: median +0.50, from +0.0 to +1.0 points (1 ambiguous left "
        "out)."
    )
    of_these = answer(numbers[2:], claims())
    assert of_these.why == "Largest difference: error, row 2: 4, printed 2."


def test_claims_of_one_verdict_are_taken_together():
    sentences = {
        name: answer(verdicts(), claims(*[name] * 3)).sentence
        for name in ("holds", "does not hold", "undecided")
    }
    assert sentences == {
        "holds": "The paper's 3 claims all hold.",
        "does not hold": "None of the paper's 3 claims holds.",
        "undecided": "The paper's 3 claims are all undecided.",
    }


def test_differences_have_their_unit_and_sign():
    numbers = verdicts("reproduced", "close", "different", "no data")
    assert answer(numbers, claims()).differences == (
        "Ours − published: median +1.0, from +0.0 to +2.0 points."
    )
    below = verdicts("close").assign(reproduced=1.5, unit=float("nan"))
    assert answer(below, claims()).differences == "Ours − published: −0.50."
    assert answer(verdicts("no data"), claims()).differences == ""


def test_without_verdicts_the_sentence_says_why():
    empty = answer(verdicts(), claims())
    assert empty.sentence.startswith("The paper prints no number")
    quick = answer(verdicts("not judged (quick)"), claims("not judged (quick)"))
    assert quick.sentence.startswith("Not judged")
    assert answer(verdicts("no data"), claims()).sentence == "No data."


@pytest.mark.parametrize(
    ("names", "of_claims", "why"),
    [
        (["close", "different"], [],
         "Largest difference: error, row 1: 3, printed 2."),
        (["no data"], ["holds"], "Holds: “holds 0”."),
        ([], ["undecided", "holds", "undecided"],
         "Undecided: “undecided 0” (and 1 more)."),
        ([], ["undecided", "does not hold"], "Does not hold: “does not hold 1”."),
        (["no data"], ["no data"], ""),
    ],
)  # fmt: skip
def test_what_decides_most_is_named(names, of_claims, why):
    ours = claims("does not hold", basis="ours") if of_claims else claims()
    found = answer(verdicts(*names), pd.concat([claims(*of_claims), ours]))
    assert found.why == why


def test_ranked_methods_have_one_name():
    config = load_paper("yousefi2015", "paper")
    cells = pd.DataFrame(
        {"artefact": ["table_1", "table_1", "table_2"], "column": ["Our Method"] * 3}
    )
    cells.loc[1, "column"] = "STL"
    names = list(with_labels(cells, config)["column"])
    assert names == ["Group-specific sharing", "STL", "Group-specific sharing"]


def test_the_source_is_kept():
    assert not answer(verdicts("close"), claims()).is_of_record
    assert answer(verdicts("close"), claims("holds", source=RECORD)).is_of_record


def test_tables_and_quoted_numbers_have_their_tolerances():
    config = load_paper("argyriou2008", "paper")
    verdicts = pd.read_csv(record_folder(config) / "verdicts.csv")
    rules = {rule["artefact"]: rule for rule in number_rules(config, "A", verdicts)}
    assert rules["Table 3"]["tolerance"] == "1 pair"
    assert rules["Table 1"]["tolerance"] == "5% of the published value"
    assert rules["Figure 3, in the text"]["tolerance"] == "5% of the published value"
    assert sum(rule["n"] for rule in rules.values()) == len(verdicts)


def test_every_test_of_claims_is_described_and_counted():
    claims = pd.DataFrame(
        {
            "test": ["trend", "trend", "ratio"],
            "verdict": ["holds", "undecided", "holds"],
        }
    )
    tests = {test["name"]: test for test in claim_tests_of([claims, claims.iloc[:1]])}
    assert list(tests) == [name.replace("_", " ") for name in TESTS]
    assert (
        "the rows that “choose” names"
        in tests["paired difference chosen"]["decides"][1]
    )
    assert tests["trend"]["found"]["holds"] == 2
    assert tests["trend"]["found"]["undecided"] == 1
    assert sum(tests["equivalence"]["found"].values()) == 0
    for test in tests.values():
        assert test["decides"]
        assert not [text for text in test["decides"] if "`" in text or "*" in text]


@pytest.mark.parametrize("tables", [[], [pd.DataFrame({"test": [], "verdict": []})]])
def test_without_claims_nothing_is_counted(tables):
    assert all(sum(t["found"].values()) == 0 for t in claim_tests_of(tables))


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
    return pd.DataFrame(rows).assign(source="this run")


@pytest.mark.parametrize(
    "paper",
    ["argyriou2008", "jawanpuria2011", "jebara2011", "widmer2015", "yousefi2015"],
)
def test_every_claim_is_in_one_matrix_or_in_the_list(paper):
    config = load_paper(paper, "paper")
    groups = group_claims(claims_of(config), {}, config)
    placed = [
        view["id"]
        for matrix in groups.matrices
        for _, cells in matrix["rows"]
        for view in cells
        if view
    ] + [view["id"] for view in groups.singles]
    assert sorted(placed) == sorted(claim.id for claim in config.claims)
    assert all("{" not in matrix["title"] for matrix in groups.matrices)


def test_data_sets_and_rivals_span_a_matrix():
    config = load_paper("yousefi2015", "paper")
    matrices = group_claims(claims_of(config), {}, config).matrices
    matrix = next(each for each in matrices if each["corner"] == "data set")
    assert len(matrix["rows"]) == 7
    assert matrix["columns"][:2] == ["STL", "MTL"]
    sizes = next(each for each in matrices if each["title"].startswith("With N % "))
    assert "at least k of seven" in sizes["title"]
    assert [row for row, _ in sizes["rows"]] == [
        "10 %: three",
        "20 %: six",
        "50 %: five",
    ]
    assert any(each["title"].startswith("Letter ‹spread›:") for each in matrices)
    label, cells = matrix["rows"][0]
    assert cells[0]["claim"].startswith(f"{label}: group-specific sharing")
    assert (
        "‹data set›: group-specific sharing has a higher ‹measure›" in matrix["title"]
    )


def test_differences_are_in_the_unit_of_the_tables():
    config = load_paper("yousefi2015", "paper")
    claims = claims_of(config).assign(interval_low=-0.0271, interval_high=0.0271)
    views = {view["id"]: view for view in group_claims(claims, {}, config).all}
    view = views["robot_beats_stl"]
    assert view["estimate"] == "difference, accuracy, in points"
    assert (view["size"], view["is_ours"]) == ("+0.00", True)
    assert view["results"] == ["interval −2.71 to 2.71 points"]
    claims = claims.assign(interval_low=-7.5e-6, interval_high=-7.5e-6)
    (view,) = (
        view
        for view in group_claims(claims, {}, config).all
        if view["id"] == "groups_grow_along_lambda"
    )
    assert view["size"] == "−0.000008"
    assert not views["dominates_10"]["is_ours"]


def test_results_are_in_words():
    config = load_paper("jebara2011", "paper")
    claims = claims_of(config).assign(
        statistic=2.5, p=0.0001, interval_low=0.1, interval_high=0.2, rho=0.5,
        own_verdict="undecided", tasks_n=29.0, tasks_of="fields", tasks_p=0.0031,
        tasks_verdict="holds",
    )  # fmt: skip
    view = group_claims(claims, {}, config).all[0]
    assert view["results"] == [
        "statistic 2.5, p < 0.001, interval 0.1 to 0.2",
        "corrected for shared examples (ρ = 0.5): nothing can be tested",
        "over 29 fields, a statement about fields like these: holds (p = 0.0031)",
    ]
    assert view["own_verdict"] == "undecided"


@pytest.mark.parametrize(
    ("section", "found"),
    [
        ("5, Table 1", ["table_1"]),
        ("5.2, Tables 1 and 10", ["table_1", "table_10"]),
        ("5, Fig. 1c, d", ["figure_1c", "figure_1d"]),
        ("5, Fig. 1", ["figure_1a", "figure_1c", "figure_1d"]),
        ("6.1, Fig. 2 right", ["figure_2"]),
        ("11, Fig. 2a", ["figure_2"]),
        ("5.2", []),
    ],
)
def test_sections_name_artefacts(section, found):
    names = ["table_1", "table_10", "figure_1a", "figure_1c", "figure_1d", "figure_2"]
    assert artefacts_of_section(section, names) == found


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "quick" / "p"
    judged = ["reproduced", "not judged (quick)", "not judged (quick)"]
    verdicts = pd.DataFrame({"verdict": judged, "derived": [False, True, False]})
    write_table(folder / "verdicts.csv", verdicts)
    write_table(
        folder / "claims.csv", pd.DataFrame(columns=["verdict", "basis"], dtype=str)
    )
    for name, status in (("school", "missing"), ("digits", "ok")):
        write_json(folder / f"data/{name}.json", {"name": name, "status": status})
    return RunFolder(tmp_path / "quick")


def config(*datasets):
    paper = {"id": "p", "title": "On tasks", "authors": "A. Author", "year": 2001}
    experiments = {name: {"datasets": {"name": name}} for name in datasets}
    return paper_of({"paper": paper, "experiments": experiments})


def test_verdicts_are_counted_by_paper(results):
    lines = closing_summary([config("digits")], results).splitlines()
    assert lines[1:5] == [
        "On tasks (A. Author, 2001)",
        "  published numbers:  1 reproduced, 1 not judged (quick); of 1 that "
        "follow from these: 1 not judged (quick)",
        "  the paper's claims: none",
        "  claims of ours:     none",
    ]


def test_missing_data_come_with_the_command_that_gets_them(results):
    shown = closing_summary([config("digits", "school")], results)
    assert "Missing data: school\n" in shown
    assert "mtmkl datasets fetch school\n" in shown
    assert "Missing" not in closing_summary([config("digits")], results)


def test_the_report_has_an_address(results):
    address = closing_summary([config("digits")], results).splitlines()[-1]
    assert address == f"Report: {results.report.as_uri()}"


def test_a_run_of_parts_ends_with_its_best_methods(results, monkeypatch):
    header = ["rank", "method", "accuracy", "a − method", "95 % interval", "seconds"]
    rows = [[f"{k}", f"m{k}", f"0.{9 - k}", f"+0.{k}", "–", "1"] for k in range(1, 8)]
    found = [Standing("Digits", ["m1 is best."], TextTable(header, rows))]
    monkeypatch.setattr(pages, "load_context", lambda config, folder: None)
    monkeypatch.setattr(pages, "standings", lambda context, statistics: found)
    write_table(results.paper("p").statistics, pd.DataFrame({"p": [0.5]}))
    write_table(results.paper("p").verdicts, pd.DataFrame(columns=["verdict"]))
    part = config("digits").model_copy(update={"parts": ["digits"]})
    monkeypatch.setattr(pages.verdict_rule, "counts_text", lambda verdicts: "none")
    assert closing_summary([part], results).splitlines()[2:-2] == [
        "  m1 is best.",
        "    rank  method  accuracy  a − method",
        "    1     m1      0.8       +0.1",
        "    2     m2      0.7       +0.2",
        "    3     m3      0.6       +0.3",
        "    4     m4      0.5       +0.4",
        "    5     m5      0.4       +0.5",
    ]
