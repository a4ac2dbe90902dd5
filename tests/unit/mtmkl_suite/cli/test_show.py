import gzip
import shutil

import pytest
import tiny_workflow

from mtmkl_suite.cli.main import main
from mtmkl_suite.config.load import load_paper, published_folder
from mtmkl_suite.config.overlay import settings_of
from mtmkl_suite.files import write_json

TINY = str(tiny_workflow.TINY)


def test_settings_of_an_experiment(capsys):
    assert main(["show", "robot"]) == 0
    shown = capsys.readouterr().out
    assert "wall_following[n_per_class=200]" in shown
    assert "repeats 20" in shown
    assert "C 21 values from 0.000976562 to 1024" in shown
    assert main(["show", "robot", "--tier", "quick"]) == 0
    assert "repeats 1\n" in capsys.readouterr().out


def test_the_keys_that_can_be_set_can_be_set(capsys):
    assert main(["show", "robot"]) == 0
    shown = capsys.readouterr().out.partition("--set KEY=VALUE\n")[2]
    lines = [line.strip() for line in shown.strip().splitlines()]
    settings = [line for line in lines if line.endswith(("]", "repeats=20"))]
    assert "protocols.percent.repeats=20" in settings
    assert any(line.startswith("experiments.robot.metrics=[") for line in settings)
    usual = load_paper("yousefi2015", "paper")
    again = load_paper("yousefi2015", "paper", settings_of(settings))
    assert again.protocols == usual.protocols
    assert again.experiments == usual.experiments
    assert lines[-1].startswith("methods.")
    method = lines[-1].split(".")[1]
    assert usual.methods[method].grid


def test_an_artefact_has_the_keys_of_its_experiments(capsys):
    assert main(["show", "argyriou2008", "figure_3"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Linear synthetic data: number of features against γ")
    assert "experiments.linear_synthetic_path.datasets.options.NAME=VALUE, of" in shown
    key = "experiments.linear_synthetic.methods.mtl_feat_linear.n_tasks="
    assert f"{key}[10, 25, 100, 200]" in shown
    assert "mtmkl run --paper argyriou2008 --artefact figure_3\n" in shown
    assert shown.endswith("with those above: --tier paper\n")


def test_what_was_chosen_is_counted_in_the_published_record(capsys):
    assert main(["show", "robot", "--chosen"]) == 0
    shown = capsys.readouterr().out
    assert str(published_folder("yousefi2015")) in shown
    lines = shown.splitlines()
    line = next(each for each in lines if "STL" in each and "  10  " in each)
    counts = [int(part.split(")")[0]) for part in line.split("(")[1:]]
    assert sum(counts) == 20


def test_or_in_a_run(capsys, tmp_path):
    place = tmp_path / "yousefi2015" / "scores.csv.gz"
    assert main(["show", "robot", "--chosen", "--run", str(tmp_path)]) == 1
    assert "scores.csv.gz does not exist: give the folder" in capsys.readouterr().err
    place.parent.mkdir()
    shutil.copyfile(published_folder("yousefi2015") / place.name, place)
    settings = {"methods.group_feature_sharing.grid.C": [1.0, 2.0, 2048.0]}
    made = {"tier": "paper", "changes": settings}
    write_json(place.with_name("provenance.json"), made)
    assert main(["show", "robot", "--chosen", "--run", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert f"From {place}" in shown
    line = next(line for line in shown.splitlines() if " C  " in line)
    # Three of 20 chose 1, the least of this run's grid.
    assert " 1 (3)" in line
    assert "15%" in line.split()
    with gzip.open(place, "rt") as file:
        header = file.readline()
    with gzip.open(place, "wt") as file:
        file.write(header)
    assert main(["show", "robot", "--chosen", "--run", str(tmp_path)]) == 1
    assert "has no choices in 'robot'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["robt"], "'robt'"),
        (["figure_3"], "put argyriou2008 or jebara2011 before it"),
        (["robot", "--run", "."], "--run needs --chosen"),
        (["robot", "--chosen", "--tier", "quick"], "those of a run, in its tier"),
        (
            ["jebara2011", "robot", "--paper", "yousefi2015"],
            "two papers, 'yousefi2015'",
        ),
        (["drawn", "--paper", TINY, "--chosen"], "no published record"),
    ],
)
def test_refusals(capsys, words, message):
    assert main(["show", *words]) == 1
    assert message in capsys.readouterr().err
