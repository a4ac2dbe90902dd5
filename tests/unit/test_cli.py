from mtmkl.cli import main


def test_verify_without_names_checks_every_data_set(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MTMKL_DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path))
    assert main(["datasets", "verify"]) == 0
    printed = capsys.readouterr().out
    assert "school" in printed
    assert "missing" in printed


def test_an_unknown_experiment_is_a_line_not_a_traceback(capsys):
    assert main(["run", "--paper", "argyriou2008", "--experiment", "scholl"]) == 1
    assert "'scholl' is unknown; known: linear_synthetic" in capsys.readouterr().err
