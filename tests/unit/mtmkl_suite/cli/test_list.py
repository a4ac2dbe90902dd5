from mtmkl.methods import REGISTRY
from mtmkl_suite.cli.main import main
from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.metrics import METRICS


def printed(capsys, *words):
    assert main(["list", *words]) == 0
    return capsys.readouterr().out


def test_every_paper_and_its_record(capsys):
    lines = printed(capsys, "papers").splitlines()
    first = [line.split()[0] for line in lines[1:]]
    assert first == load_run_config().papers
    assert "published" in next(line for line in lines if "argyriou2008" in line)


def test_every_metric_and_method(capsys):
    metrics, methods = (
        {line.split()[0] for line in printed(capsys, kind).splitlines()[1:]}
        for kind in ("metrics", "methods")
    )
    assert metrics == {*METRICS}
    assert methods >= {*REGISTRY}


def test_what_belongs_to_a_paper(capsys):
    shown = printed(capsys, "experiments", "--paper", "yousefi2015")
    (robot,) = (line for line in shown.splitlines() if line.split()[0] == "robot")
    assert "1 quick, 20 paper" in robot
    assert "school" not in shown
    shown = printed(capsys, "artefacts", "--paper", "argyriou2008")
    assert "table_2" in shown
    assert "yousefi2015" not in shown
    assert printed(capsys, "artefacts", "argyriou2008") == shown
    shown = printed(capsys, "methods", "--paper", "argyriou2008")
    assert "argyriou2008: mtl_feat_linear" in shown
    assert "GroupFeatureSharingClassifier" not in shown


def test_an_unknown_paper(capsys):
    assert main(["list", "experiments", "--paper", "jebara2012"]) == 1
    words = "unknown paper 'jebara2012'; did you mean 'jebara2011'? (known: argyriou2"
    assert words in capsys.readouterr().err
