import json
import shutil

import pandas as pd
import pytest
from configured import changed, of

from mtmkl_suite.config.models import Claim, ReadingsTable, Run
from mtmkl_suite.report.record.artefacts import write_artefacts
from mtmkl_suite.report.record.publish import publish
from mtmkl_suite.report.record.record import write_record
from mtmkl_suite.report.record.rejudge import rejudge
from mtmkl_suite.run.folders import RunFolder

RUN = of(Run, {"tier": "paper", "seed": 1})
SHOWN = ("figure_3", "figure_4", "table_1", "table_2")
REACH = ReadingsTable(title="Reach", layout="reach", experiments=[])
ON_A_STEP = of(
    Claim,
    {
        "id": "faster",
        "claim": "It is faster.",
        "section": "ours",
        "test": "ratio",
        "args": {"experiment": "survey", "step": "times", "column": "seconds"}
        | {"lower": {"solver": "a"}, "higher": {"solver": "b"}},
    },
)


@pytest.fixture(scope="module")
def config(paper, tmp_path_factory):
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
def made(config, make_results, tmp_path_factory):
    """A run with made-up scores, and what is published of it."""
    path = tmp_path_factory.mktemp("made")
    whole = RunFolder(path / "results")
    folder = whole.paper(config.paper.id)
    folder.path.mkdir(parents=True)
    make_results(config, folder.path)
    write_artefacts(SHOWN, config, folder)
    write_record(config, folder, RUN)
    publish([config], whole, path / "figures", tier="paper")
    return path


@pytest.fixture
def run(made, tmp_path):
    shutil.copytree(made / "results", tmp_path / "results")
    return RunFolder(tmp_path / "results")


@pytest.fixture
def figures(made, tmp_path):
    return shutil.copytree(made / "figures", tmp_path / "figures")


def contents(figures):
    return {path: path.read_bytes() for path in figures.rglob("*") if path.is_file()}


def test_the_record_follows_from_the_published_scores(config, run, figures):
    before = contents(figures)
    folder = figures / "argyriou2008"
    # Nothing but scores, splits and what is known of the data may be needed.
    for left_over in ("fits", "artefacts"):
        shutil.rmtree(run.paper("argyriou2008").path / left_over)
    run.paper("argyriou2008").scores.unlink()
    for name in ("verdicts.csv", "statistics.csv", "overlaps.csv", "table_1.csv"):
        (folder / name).unlink()
    old_columns = ["id", "claim", "section", "test", "verdict", "note"]
    pd.read_csv(folder / "claims.csv", usecols=old_columns).to_csv(
        folder / "claims.csv", index=False
    )
    rejudge([config], run, figures, settings=RUN)
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


def test_figures_of_scores_are_drawn_again_and_others_stay(config, run, figures):
    folder = figures / "argyriou2008"
    drawn = (folder / "figure_4.svg").read_bytes()
    for name in ("figure_3.svg", "figure_4.svg"):
        (folder / name).write_text("of an older drawing")
    rejudge([config], run, figures, settings=RUN)
    assert (folder / "figure_4.svg").read_bytes() == drawn
    assert (folder / "figure_3.svg").read_text() == "of an older drawing"


def test_other_statistics_change_what_depends_on_them(config, run, figures):
    folder = figures / "argyriou2008"
    scores = pd.read_csv(folder / "scores.csv.gz")
    before = contents(figures)
    mine = (scores["method"] == "aggregate") & (scores["experiment"] == "school")
    scores.loc[mine & (scores["metric"] == "explained_variance"), "value"] += 1.0
    scores.to_csv(folder / "scores.csv.gz", index=False)
    rejudge([config], run, figures, settings=RUN)
    after = contents(figures)
    changed = {path.name for path in before if after[path] != before[path]}
    assert {"table_2.csv", "verdicts.csv", "claims.csv", "README.md"} <= changed
    assert not changed & {"table_1.csv", "figure_3.svg"}


def test_claims_on_steps_that_were_not_kept_stay(config, run, figures):
    path = figures / "argyriou2008/claims.csv"
    claims = pd.read_csv(path).set_index("id", drop=False)
    assert claims.loc["faster", "verdict"] == "no data"
    claims.loc["faster", ["verdict", "own_verdict"]] = "holds"
    claims.loc["faster", "p"] = 0.01
    claims.to_csv(path, index=False)
    rejudge([config], run, figures, settings=RUN)
    after = pd.read_csv(path).set_index("id")
    assert after.loc["faster", ["verdict", "p"]].tolist() == ["holds", 0.01]


@pytest.mark.parametrize(
    ("settings", "data", "words"),
    [
        (RUN.model_copy(update={"seed": 2}), {}, "are of seed 1, not 2"),
        (RUN.model_copy(update={"tier": "quick"}), {}, "are of tier paper, not quick"),
        (RUN, {"digest": "0ther"}, r"data set school is not the one .*digest 0ther"),
        (RUN, {"missing": "gone"}, "digest missing, here"),
    ],
)
def test_scores_of_other_data_are_refused(config, run, figures, settings, data, words):
    path = figures / "argyriou2008/provenance.json"
    provenance = json.loads(path.read_text())
    if data:
        provenance["data"]["school"] = data
    path.write_text(json.dumps(provenance))
    before = contents(figures)
    with pytest.raises(ValueError, match=words):
        rejudge([config], run, figures, settings=settings)
    assert contents(figures) == before


def test_a_paper_that_was_never_published_is_refused(config, run, tmp_path):
    with pytest.raises(FileNotFoundError):
        rejudge([config], run, tmp_path / "none", settings=RUN)
    assert not (tmp_path / "none").exists()


@pytest.fixture
def readings(config, run, figures):
    """A reading that takes another metric of the main scores, as published."""
    place = figures.parent / "config" / "papers" / "argyriou2008" / "published"
    shutil.copytree(config.published, place)
    change = {"in_place": {"explained_variance": "explained_variance_weighted"}}
    alternative = {"label": "weighted", "kind": "legitimate", "change": change}
    origin = {"of": "school", "fits": "school", "factors": {"variance": "weighted"},
              "is_whole": False, "times": 1, "changes": []}  # fmt: skip
    folder = figures / "argyriou2008"
    scores = pd.read_csv(folder / "scores.csv.gz", nrows=1)
    known = run.paper("argyriou2008").data_info(scores["dataset"][0]).read_text()
    scores = scores.assign(data_digest=json.loads(known)["digest"])
    scores.to_csv(folder / "readings.csv.gz", index=False)
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
            "main": config.model_copy(update={"published": place}),
        },
    }  # fmt: skip
    return changed(config, made)


def test_reach_follows_from_the_published_scores(readings, run, figures):
    before, folder = contents(figures), figures / "argyriou2008"
    rejudge([readings], run, figures, settings=RUN)
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


def test_readings_of_other_data_are_refused(readings, run, figures):
    path = figures / "argyriou2008/readings.csv.gz"
    pd.read_csv(path).assign(data_digest="0ther").to_csv(path, index=False)
    with pytest.raises(ValueError, match="is not the one behind the published scores"):
        rejudge([readings], run, figures, settings=RUN)
