import pytest

from mtmkl_suite.config.models import Method
from mtmkl_suite.run import fingerprint
from mtmkl_suite.run.fingerprint import code_fingerprint, code_version


def forget():
    """Forget what was read, as in a new process."""
    fingerprint._parsed.cache_clear()
    fingerprint._followed.cache_clear()
    code_fingerprint.cache_clear()


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
    forget()
    yield folder
    forget()


def edited(package, name, text):
    (package / name).write_text(text)
    forget()
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


def test_imports_for_type_checking_do_not_count(package):
    guarded = "if TYPE_CHECKING:\n    from mtmkl.heart import f\n"
    (package / "thin.py").write_text(guarded)
    before = code_fingerprint("mtmkl.thin")
    assert edited(package, "heart.py", "def f():\n    return 2\n") == before


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A method of one's own with its helpers, in a folder on the path."""
    files = {
        "own_method.py": "import json\nimport numpy\nfrom own_helper import f\n",
        "own_helper.py": "import own_parts.deep\n\ndef f():\n    return 1\n",
        "own_parts/__init__.py": "",
        "own_parts/deep.py": "from . import deepest\n",
        "own_parts/deepest.py": "x = 1\n",
        "own_unrelated.py": "x = 1\n",
    }
    (tmp_path / "own_parts").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield tmp_path
    forget()


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("own_helper.py", "import own_parts.deep\n\ndef f():\n    return 2\n", True),
        ("own_helper.py", "import own_parts.deep\n\ndef f(): return 1  # so\n", False),
        ("own_parts/deepest.py", "x = 2\n", True),
        ("own_unrelated.py", "x = 2\n", False),
    ],
)
def test_what_a_method_of_ones_own_imports_counts(own, name, text, counts):
    before = code_fingerprint("own_method")
    (own / name).write_text(text)
    forget()
    assert (code_fingerprint("own_method") != before) == counts


def test_what_a_method_of_ones_own_takes_of_the_library_counts(own, package):
    (own / "own_method.py").write_text("from mtmkl.thin import f\n")
    before = code_fingerprint("own_method")
    (package / "heart.py").write_text("def f():\n    return 2\n")
    forget()
    assert code_fingerprint("own_method") != before


def test_unknown_module_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"mtmkl\.nowhere"):
        code_fingerprint("mtmkl.nowhere")


def configured(class_name, selection="common"):
    settings = {"label": "x", "class": class_name, "grid": {"C": [1.0]}}
    return Method.model_validate({**settings, "selection": selection})


def test_code_version_depends_on_how_a_paper_chooses():
    clean, authors = (
        code_version(configured("GroupFeatureSharingClassifier", how))
        for how in (
            "validation",
            "mtmkl_suite.papers.yousefi2015.best_on_test:best_on_test",
        )
    )
    assert clean != authors
