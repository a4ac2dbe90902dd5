"""A process on a machine without a home, a user's name, or letters to print."""

import getpass
import io
import os
import pwd
import sys
import tempfile
from pathlib import Path

import pytest

from mtmkl_suite.run import process
from mtmkl_suite.run.process import print_any_text, provide_folders


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Set a home that may be changed, and put the environment back."""
    monkeypatch.setattr(os, "environ", os.environ.copy())
    for name in ("XDG_CACHE_HOME", "MPLCONFIGDIR", "MTMKL_DATA_CACHE"):
        os.environ.pop(name, None)
    os.environ["HOME"] = str(tmp_path)
    monkeypatch.setattr(process, "_kept", [])
    return tmp_path


def test_a_usual_machine_is_left_alone(home, capsys):
    before = dict(os.environ)
    provide_folders()
    assert os.environ == before
    assert capsys.readouterr().err == ""


def test_a_home_that_cannot_be_written(home, capsys):
    (home / ".cache").write_text("in the way")
    provide_folders()
    folder = os.environ["XDG_CACHE_HOME"]
    assert os.environ["MPLCONFIGDIR"] == folder
    assert Path(folder).is_dir()
    assert f"{home}/.cache cannot be written" in capsys.readouterr().err
    assert "MTMKL_DATA_CACHE" not in os.environ
    assert os.environ["HOME"] == str(home)


def test_data_that_were_fetched_before_are_found(home, monkeypatch):
    (home / ".cache/mtmkl").mkdir(parents=True)

    def refuse(dir):
        raise PermissionError(13, "Permission denied", dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    provide_folders()
    assert os.environ["MTMKL_DATA_CACHE"] == f"{home}/.cache/mtmkl"


def test_neither_home_nor_name(home, monkeypatch, capsys):
    def nobody(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME"):
        os.environ.pop(name, None)
    monkeypatch.chdir(home)
    provide_folders()
    assert getpass.getuser() == str(os.getuid())
    assert (Path.home() / ".cache").is_dir()
    assert "there is no home" in capsys.readouterr().err
    assert not any(home.iterdir())


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_letters_that_a_terminal_lacks(encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", None)  # closed
    print_any_text()
    print("0.9 – \udcff", flush=True)
    expected = "0.9 – ?" if encoding == "utf-8" else "0.9 ? ?"
    assert stream.buffer.getvalue().decode(encoding) == f"{expected}\n"
