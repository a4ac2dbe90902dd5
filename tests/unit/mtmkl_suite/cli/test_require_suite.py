from importlib import metadata

import pytest

from mtmkl_suite.cli.main import main, require_suite

DECLARED = [
    "numpy>=2.0",
    "pillow>=10.0; extra == 'images'",
    'not-there<10,>=9.0; extra == "suite"',
    "nor.there_2>=3; (python_version < '3.13') and extra == 'suite'",
    "packaging; extra == 'suite'",
]


@pytest.fixture
def without_suite(monkeypatch):
    monkeypatch.setattr(metadata, "requires", lambda name: DECLARED)


def test_what_is_missing_is_named_with_the_remedy(without_suite):
    with pytest.raises(ImportError) as refused:
        require_suite()
    assert str(refused.value) == (
        "not-there, nor.there_2 are not installed: the command needs "
        'pip install "mtmkl[suite]"'
    )


def test_other_extras_are_not_asked_for(monkeypatch):
    monkeypatch.setattr(metadata, "requires", lambda name: DECLARED[:2])
    require_suite()


@pytest.mark.parametrize("command", ["run --paper argyriou2008", "compare scores.csv"])
def test_a_command_is_refused_before_any_work(
    command, without_suite, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 1
    assert 'pip install "mtmkl[suite]"' in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
