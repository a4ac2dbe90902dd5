import json
import shutil

import pandas as pd
import pytest
from configured import changed, claim_of, of, paper_of

from mtmkl_suite.config.models import ReadingsTable, Run
from mtmkl_suite.files import write_text
from mtmkl_suite.judge.claims import COLUMNS as CLAIM_COLUMNS
from mtmkl_suite.judge.claims import SETTING_COLUMNS
from mtmkl_suite.report.context import COLUMNS
from mtmkl_suite.report.publish import publish, rejudge, seconds_per_repeat
from mtmkl_suite.run import provenance as provenance_of_the_code
from mtmkl_suite.run.folders import PaperFolder, RunFolder
from mtmkl_suite.statistics.pairs import PAIR_COLUMNS

CONFIG = {
    "paper": {"id": "toy", "title": "Toy", "authors": "A", "year": 2000, "venue": "V"},
    "tier": "paper",
    "methods": {"a": {"label": "Method A"}, "unused": {"label": "Unused"}},
    "experiments": {"first": {}, "second": {}},
    "artefacts": {
        "figure_1": {"kind": "figure", "title": "Curve", "experiments": ["first"]},
        "table_1": {"kind": "table", "title": "Numbers"},
    },
}


# The chosen fit of "first" (two metrics) carries the 3 s of its whole path, the two
# points of "second" their own.
SCORES = pd.DataFrame(
    [
        ("first", "a", 1, "", '{"C": 1}', 3.0),
        ("first", "a", 1, "", '{"C": 1}', 3.0),
        ("first", "a", 1, '{"C": 1}', "", 1.0),
        ("first", "a", 1, '{"C": 2}', "", 2.0),
        ("first", "a", 2, "", '{"C": 2}', 4.0),
        ("second", "a", 1, '{"C": 1}', "", 0.2512),
        ("second", "a", 1, '{"C": 2}', "", 0.5),
    ],
    columns=["experiment", "method", "repeat", "setting", "params", "fit_seconds"],
).assign(
    dataset="d", n_tasks=2, subset=0, train_size=10, fold=0, metric="mse",
    code_version="0" * 12,
)  # fmt: skip


@pytest.fixture
def config(tmp_path):
    (tmp_path / "config/papers/toy").mkdir(parents=True)
    return paper_of(CONFIG | {"published": tmp_path / "config/papers/toy/published"})


@pytest.fixture
def results(tmp_path):
    """Everything that a finished paper tier leaves, with two verdicts and a claim."""
    base = tmp_path / "results" / "toy"
    (base / "artefacts").mkdir(parents=True)
    (base / "provenance.json").write_text('{"data": {}}')
    for name, columns in (("statistics", PAIR_COLUMNS), ("overlaps", COLUMNS)):
        (base / f"{name}.csv").write_text(",".join(columns) + "\n")
    (base / "verdicts.csv").write_text(
        "artefact,row,column,unit,published,reproduced,status,"
        "verdict,verdict_with_spread,derived\n"
        "table_1,A,x,%,2,2,legible,reproduced,reproduced,False\n"
        "table_1,B,x,%,2,3,legible,close,reproduced,False\n"
        "table_1,C,x,%,2,9,legible,different,different,True\n"
        "table_1,D,x,%,2,3,legible,close,different,True\n"
    )
    (base / "claims.csv").write_text(
        ",".join(CLAIM_COLUMNS) + "\n"
        "c,6.1,7,A beats C,A does,much,figure_1,all,paired_difference,undecided,holds,"
        "undecided,2,2,0,0,1,1,0,0.5,0.1,0.9,difference,auc\n"
    )
    (base / "claim_settings.csv").write_text(
        ",".join(SETTING_COLUMNS) + "\n" + "c,B,holds" + 22 * "," + "\n"
    )
    SCORES.to_csv(base / "scores.csv.gz", index=False)
    for ending in ("svg", "pdf", "csv"):
        (base / "artefacts" / f"figure_1.{ending}").write_text(ending)
    for ending in ("csv", "md", "tex"):
        (base / "artefacts" / f"table_1.{ending}").write_text(
            f"# Table 1\n\nas {ending}"
        )
    return RunFolder(base.parent)


def test_artefacts_record_and_galleries_are_copied(config, results, tmp_path):
    figures = tmp_path / "figures"
    # What is there beside papers has no verdicts.
    (figures / "benchmarks").mkdir(parents=True)
    (figures / "benchmarks" / "README.md").write_text("# Benchmarks\n")
    page = tmp_path / "docs" / "papers" / "toy.md"
    page.parent.mkdir(parents=True)
    page.write_text("## In brief\n\n1. It *is*\n   so.\n2. And so on.\n")
    publish([config], results, figures, tier="paper")
    assert (figures / "toy/figure_1.svg").read_text() == "svg"
    assert all(path.is_file() for path in PaperFolder(figures / "toy").record())
    gallery = (figures / "toy/README.md").read_text()
    for words in (
        "Published cells: 1 reproduced, 1 close; of 2 counted apart: "
        "1 close, 1 different. ",
        "where the paper prints none: 1 of 2 (1 close → reproduced)",
        "Sentences: 1 undecided.",
        "\n| “A beats C” (l. 7)<br>Tested: A does | holds (in 2 of 2 settings) | "
        "undecided (holds in 1 of 2 settings) | +50 (10 to 90), difference in "
        "points of AUC | much | [Figure 1](#figure_1) |\n",
        "(figure_1.svg)",
        "# A 2000, *Toy*\n\nIt *is* so. And so on. [Protocol, decisions and errata]"
        "(../../docs/papers/toy.md)\n\n"
        "- [Figure 1](#figure_1): Sentences of the paper: 1 undecided.\n"
        "- [Table 1](#table_1): 2 of 2 published numbers are reproduced or close.\n\n",
        "## Table 1: Numbers\n\n2 of 2 published numbers are reproduced or close.\n\n"
        "as md\n",
    ):
        assert words in gallery
    index = (figures / "README.md").read_text()
    assert "\n## [A 2000](toy/README.md)\n" in index
    image = "![Figure 1: Curve](toy/figure_1.svg)"
    assert f"\n[{image}](toy/README.md#figure-1-curve)\n" in index
    assert "\nTables: [Table 1: Numbers](toy/table_1.md).\n" in index
    assert '\n<a id="figure_1"></a>\n' in gallery


def test_seconds_are_those_of_a_repeat():
    table = seconds_per_repeat(SCORES)
    assert table.to_dict("list") == {
        "experiment": ["first", "second"],
        "dataset": ["d", "d"],
        "method": ["a", "a"],
        "seconds": [(3.0 + 4.0) / 2, 0.751],
    }


def test_publishing_measures_what_was_not_measured_before(config, results, tmp_path):
    path = tmp_path / "config/papers/toy/seconds.csv"
    path.write_text("experiment,dataset,method,seconds\nfirst,d,a,9.0\n")
    memory = path.with_name("memory.csv")
    memory.write_text("job,megabytes\nfirst,900\nthird,50\n")
    for job, took in {
        "first/d": ["1.0\t150.0", "2.0\t200.5"],
        "first/e": ["0.1\t-", "1.0\t90"],
        "record": ["1.0\t90"],
    }.items():
        path_of_job = results.paper("toy").seconds_of(job)
        write_text(path_of_job, "\n".join(["s\tmax_rss", *took]))
    for _ in range(2):
        publish([config], results, tmp_path / "figures", tier="paper")
        assert path.read_text().splitlines()[1:] == [
            "first,d,a,9.0",
            "second,d,a,0.751",
        ]
        # Memory is that of the last run, and of the largest job.
        measured = ["first,201", "record,90", "third,50"]
        assert memory.read_text().splitlines()[1:] == measured


def test_a_reduced_run_is_not_published(results, tmp_path):
    with pytest.raises(ValueError, match="only the paper tier is published"):
        publish([paper_of(CONFIG)], results, tmp_path / "figures", tier="quick")


def test_nothing_is_copied_while_something_is_missing(results, tmp_path):
    (results.path / "toy/artefacts/table_1.tex").unlink()
    with pytest.raises(FileNotFoundError, match=r"table_1\.tex has not been made"):
        publish([paper_of(CONFIG)], results, tmp_path / "figures", tier="paper")
    assert not (tmp_path / "figures").exists()


def test_readings_join_the_record_of_the_main_protocol(config, results, tmp_path):
    figures = tmp_path / "figures"
    publish([config], results, figures, tier="paper")
    before = {path.name: path.read_bytes() for path in (figures / "toy").iterdir()}
    readings = RunFolder(tmp_path / "readings")
    artefacts = readings.paper("toy").path / "artefacts"
    artefacts.mkdir(parents=True)
    for ending in ("md", "tex"):
        (artefacts / f"reach.{ending}").write_text(f"# A 2000: Read\n\nas {ending}")
    (artefacts / "reach.csv").write_text(
        "artefact,row,column,status,kind\n"
        "table_1,x,y,within reach,number\ntable_1,x,z,not tried,number\n"
        "claims,c,,not tried,claim\n"
    )
    for ending in ("svg", "pdf", "csv"):
        (artefacts / f"prior.{ending}").write_text(ending)
    SCORES[:1].to_csv(readings.paper("toy").scores, index=False)
    for kept in (readings.paper("toy").overlaps, readings.paper("toy").provenance):
        kept.write_text('{"data": {}}')
    shown = {
        "reach": {"kind": "table", "title": "Readings"},
        "prior": {"kind": "figure", "title": "Scale of the prior"},
    }
    read = paper_of({**CONFIG, "artefacts": shown, "readings": {"main": config}})
    read = read.model_copy(update={"published": config.published})
    publish([read], readings, figures, tier="paper")
    after = {path.name: path.read_bytes() for path in (figures / "toy").iterdir()}
    gallery = after.pop("README.md").decode()
    for words in (
        "### Readings\n\nas md",
        "![Scale of the prior](prior.svg)",
        "Different numbers, by other readings: 1 within reach, 1 not tried.",
        "[readings.csv.gz](readings.csv.gz)",
    ):
        assert words in gallery
    del before["README.md"]
    # The record is still that of the main protocol.
    assert before.items() <= after.items()
    new = {f"reach.{ending}" for ending in ("csv", "md", "tex")}
    new |= {f"prior.{ending}" for ending in ("svg", "pdf", "csv")}
    new |= {"readings.csv.gz", "readings_overlaps.csv", "readings_provenance.json"}
    assert set(after) - set(before) == new


RUN = of(Run, {"tier": "paper", "seed": 1})
SHOWN = ("figure_3", "figure_4", "table_1", "table_2")
REACH = ReadingsTable(title="Reach", layout="reach", experiments=[])
ON_A_STEP = claim_of(
    "faster", "ratio", experiment="survey", step="times", column="seconds",
    lower={"solver": "a"}, higher={"solver": "b"},
)  # fmt: skip


@pytest.fixture(scope="module")
def full(paper, tmp_path_factory):
    """A paper's full protocol with a figure that quotes numbers, and two tables."""
    printed = tmp_path_factory.mktemp("config") / "published"
    shutil.copytree(paper.published, printed)
    return changed(
        paper,
        {
            "tier": "paper",
            "artefacts": {name: paper.artefacts[name] for name in SHOWN},
            "published": printed,
            "claims": [*paper.claims, ON_A_STEP],
        },
    )


@pytest.fixture(scope="module")
def made(full, make_reported, tmp_path_factory):
    """A run with made-up scores, and what is published of it."""
    path = tmp_path_factory.mktemp("made")
    whole = RunFolder(path / "results")
    make_reported(full, whole.paper(full.paper.id).path)
    publish([full], whole, path / "figures", tier="paper")
    return path


@pytest.fixture
def figures(made, tmp_path):
    return shutil.copytree(made / "figures", tmp_path / "figures")


def contents(figures):
    return {path: path.read_bytes() for path in figures.rglob("*") if path.is_file()}


def test_the_record_follows_from_the_published_scores(full, figures, monkeypatch):
    before = contents(figures)
    folder = figures / "argyriou2008"
    for name in ("verdicts.csv", "statistics.csv", "table_1.csv"):
        (folder / name).unlink()
    (folder / "claims.csv").unlink()
    rejudge([full], figures, settings=RUN)
    after = contents(figures)
    changed = {path.name for path in before if after[path] != before[path]}
    assert after.keys() == before.keys()
    assert changed == {"provenance.json"}
    provenance = json.loads((folder / "provenance.json").read_text())
    old = json.loads(before[folder / "provenance.json"])
    judged = provenance.pop("judged")
    assert provenance == old
    assert judged == {name: old[name] for name in judged}
    assert {"commit", "config_sha256"} < judged.keys()
    # Of another commit, too, what changes nothing says nothing.
    monkeypatch.setattr(provenance_of_the_code, "current_commit", lambda: "another")
    rejudge([full], figures, settings=RUN)
    assert contents(figures) == after


def test_other_scores_change_what_depends_on_them(full, figures):
    folder = figures / "argyriou2008"
    drawn = (folder / "figure_4.svg").read_bytes()
    for name in ("figure_3.svg", "figure_4.svg"):
        (folder / name).write_text("of an older drawing")
    before = contents(figures)
    scores = pd.read_csv(folder / "scores.csv.gz")
    mine = (scores["method"] == "aggregate") & (scores["experiment"] == "school")
    scores.loc[mine & (scores["metric"] == "explained_variance"), "value"] += 1.0
    scores.to_csv(folder / "scores.csv.gz", index=False)
    rejudge([full], figures, settings=RUN)
    after = contents(figures)
    changed = {path.name for path in before if after[path] != before[path]}
    assert {"table_2.csv", "verdicts.csv", "claims.csv", "README.md"} <= changed
    # Figures of scores are drawn again, those of arrays stay.
    assert not changed & {"table_1.csv", "figure_3.svg"}
    assert after[folder / "figure_4.svg"] == drawn


def test_claims_on_steps_that_were_not_kept_stay(full, figures):
    path = figures / "argyriou2008/claim_settings.csv"
    claims = pd.read_csv(path, dtype={"n": str}).set_index("id", drop=False)
    assert claims.loc["faster", "verdict"] == "no data"
    assert all(claims["n"].dropna().str.isdigit())
    columns = ["verdict", "own_verdict", "new_verdict"]
    claims.loc["faster", columns] = "holds"
    claims.loc["faster", "p"] = 0.01
    claims.to_csv(path, index=False)
    rejudge([full], figures, settings=RUN)
    after = pd.read_csv(path).set_index("id")
    assert after.loc["faster", ["verdict", "p"]].tolist() == ["holds", 0.01]
    sentences = pd.read_csv(path.with_name("claims.csv")).set_index("id")
    assert sentences.loc["faster", "verdict"] == "holds"


@pytest.mark.parametrize(
    ("settings", "cores", "words"),
    [
        ({"seed": 2}, 1, "are of seed 1, not 2"),
        ({"tier": "quick"}, 2, "tier paper, not quick"),
    ],
)
def test_scores_of_other_settings_are_refused(full, figures, settings, cores, words):
    before = contents(figures)
    changed = RUN.model_copy(update=settings)
    with pytest.raises(ValueError, match=words):
        rejudge([full], figures, settings=changed, cores=cores)
    assert contents(figures) == before


@pytest.fixture
def readings(full, figures):
    """A reading that takes another metric of the main scores, as published."""
    place = figures.parent / "config" / "papers" / "argyriou2008" / "published"
    shutil.copytree(full.published, place)
    alternative = {"label": "weighted", "kind": "legitimate"}
    origin = {
        "of": "school", "fits": "school", "reading": "variance=weighted",
        "is_whole": False, "times": 1, "changes": [],
        "in_place": {"explained_variance": "explained_variance_weighted"},
    }  # fmt: skip
    folder = figures / "argyriou2008"
    scores = pd.read_csv(folder / "scores.csv.gz", nrows=1)
    scores.to_csv(folder / "readings.csv.gz", index=False)
    for name in ("overlaps.csv", "provenance.json"):
        shutil.copyfile(folder / name, folder / f"readings_{name}")
    made = {
        "published": place,
        "claims": [],
        "artefacts": {"reach": REACH},
        "readings": {
            "factors": {
                "variance": {
                    "label": "Variance", "alternatives": {"weighted": alternative},
                },
            },
            "experiments": {"school@variance=weighted": origin},
            "main": full.model_copy(update={"published": place}),
        },
    }  # fmt: skip
    return changed(full, made)


def test_reach_follows_from_the_published_scores(readings, figures):
    before, folder = contents(figures), figures / "argyriou2008"
    rejudge([readings], figures, settings=RUN)
    reach = pd.read_csv(folder / "reach.csv").set_index(["artefact", "row"])
    assert set(reach["kind"]) == {"number", "claim"}
    changed = reach.loc["table_2"].query("n_readings == 1")
    cells = pd.read_csv(folder / "table_2.csv").set_index(["row", "column"])
    for row, found in changed.iterrows():
        weighted = cells.loc[(row, "Explained variance, weighted mean of tasks")]
        assert found["nearest_value"] == pytest.approx(weighted["reproduced"])
    assert len(changed) > 0
    after = contents(figures)
    new = {path.name for path in after.keys() - before.keys()}
    assert new == {"reach.csv", "reach.md", "reach.tex"}
    # The record is still that of the main protocol.
    moved = {path.name for path in before if after[path] != before[path]}
    assert moved == {"README.md"}
