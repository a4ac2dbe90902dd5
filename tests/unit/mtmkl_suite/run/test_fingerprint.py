import sys

import pytest

from mtmkl_suite.run import fingerprint
from mtmkl_suite.run.fingerprint import code_fingerprint


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A stand-in for the package, whose files a test may edit."""
    folder = tmp_path / "mtmkl"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "heart.py").write_text('"""Doc."""\n\ndef f():\n    return 1\n')
    (folder / "thin.py").write_text("from mtmkl.heart import f\n")
    (folder / "other.py").write_text("x = 1\n")
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    fingerprint._parsed.cache_clear()
    yield folder
    fingerprint._parsed.cache_clear()


def edited(package, name, text):
    (package / name).write_text(text)
    fingerprint._parsed.cache_clear()
    return code_fingerprint("mtmkl.thin")


def test_an_imported_module_counts(package):
    before = code_fingerprint("mtmkl.thin")
    assert edited(package, "heart.py", "def f():\n    return 2\n") != before


def test_comments_and_docstrings_do_not_count(package):
    before = code_fingerprint("mtmkl.thin")
    text = '"""Other."""\n# why\n\ndef f():\n    """Say."""\n    return 1\n'
    assert edited(package, "heart.py", text) == before
    before = edited(package, "heart.py", "class A:\n    x: int\n")
    assert edited(package, "heart.py", 'class A:\n    x: int\n    """X."""\n') == before


def test_unrelated_modules_do_not_count(package):
    before = code_fingerprint("mtmkl.thin")
    assert edited(package, "other.py", "x = 2\n") == before


def test_imports_for_type_checking_do_not_count(package):
    guarded = "if TYPE_CHECKING:\n    from mtmkl.heart import f\n"
    (package / "thin.py").write_text(guarded)
    before = code_fingerprint("mtmkl.thin")
    assert edited(package, "heart.py", "def f():\n    return 2\n") == before


def test_relative_imports_are_followed(package):
    (package / "thin.py").write_text("from .heart import f\n")
    before = code_fingerprint("mtmkl.thin")
    assert edited(package, "heart.py", "def f():\n    return 2\n") != before


def test_a_module_from_elsewhere_counts_alone(tmp_path, monkeypatch):
    (tmp_path / "own_method.py").write_text("import json\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert len(code_fingerprint("own_method")) == 12
    sys.modules.pop("own_method", None)


def test_unknown_module_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"mtmkl\.nowhere"):
        code_fingerprint("mtmkl.nowhere")
