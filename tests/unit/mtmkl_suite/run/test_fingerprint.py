import pytest

from mtmkl_suite.config.models import Method
from mtmkl_suite.run import fingerprint
from mtmkl_suite.run.fingerprint import code_fingerprint, code_version


def forget():
    """Forget what was read, as in a new process."""
    fingerprint._parsed.cache_clear()
    fingerprint._is_followed.cache_clear()
    code_fingerprint.cache_clear()


FILES = {
    "mtmkl/__init__.py": "",
    "mtmkl/heart.py": '"""Doc."""\n\ndef f():\n    return 1\n',
    "mtmkl/thin.py": "from mtmkl.heart import f\n",
    "own_method.py": "import json\nimport numpy\nfrom own_helper import f\n",
    "own_helper.py": "import own_parts.deep\n\ndef f():\n    return 1\n",
    "own_parts/__init__.py": "",
    "own_parts/deep.py": "from . import deepest\n",
    "own_parts/deepest.py": "x = 1\n",
    "own_unrelated.py": "x = 1\n",
}


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """Edit a stand-in for the package, or a method of one's own beside it."""
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        forget()

    for name, text in FILES.items():
        write(name, text)
    yield write
    forget()


OTHER = "def f():\n    return 2\n"
TYPES_ALONE = "if TYPE_CHECKING:\n    from mtmkl.heart import f\n"


@pytest.mark.parametrize(
    ("module", "before", "name", "text", "counts"),
    [
        ("mtmkl.thin", {}, "mtmkl/heart.py", OTHER, True),
        (
            "mtmkl.thin", {}, "mtmkl/heart.py",
            '"""Other."""\n# why\n\ndef f():\n    """Say."""\n    return 1\n', False,
        ),
        (
            "mtmkl.thin", {"mtmkl/heart.py": "class A:\n    x: int\n"},
            "mtmkl/heart.py", 'class A:\n    x: int\n    """X."""\n', False,
        ),
        ("mtmkl.thin", {"mtmkl/thin.py": TYPES_ALONE}, "mtmkl/heart.py", OTHER, False),
        ("own_method", {}, "own_helper.py", f"import own_parts.deep\n{OTHER}", True),
        (
            "own_method", {}, "own_helper.py",
            "import own_parts.deep\n\ndef f(): return 1  # so\n", False,
        ),
        ("own_method", {}, "own_parts/deepest.py", "x = 2\n", True),
        ("own_method", {}, "own_unrelated.py", "x = 2\n", False),
        (
            "own_method", {"own_method.py": "from mtmkl.thin import f\n"},
            "mtmkl/heart.py", OTHER, True,
        ),
    ],
)  # fmt: skip
def test_statements_of_what_is_imported_count(
    edited, module, before, name, text, counts
):
    for each in before.items():
        edited(*each)
    old = code_fingerprint(module)
    edited(name, text)
    assert (code_fingerprint(module) != old) == counts


def test_unknown_module_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"mtmkl\.nowhere"):
        code_fingerprint("mtmkl.nowhere")


def test_code_version_depends_on_how_a_paper_chooses():
    named = {"label": "x", "class": "GroupFeatureSharingClassifier"}
    ways = "validation", "mtmkl_suite.papers.yousefi2015.best_on_test:best_on_test"
    clean, authors = (
        code_version(
            Method.model_validate({**named, "grid": {"C": [1.0]}, "selection": way})
        )
        for way in ways
    )
    assert clean != authors
