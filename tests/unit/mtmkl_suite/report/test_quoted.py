import shutil
from pathlib import Path

import pytest

from mtmkl_suite.report.quoted import write_quoted_numbers

ROOT = Path(__file__).resolve().parents[4]

CLAIMS = """id,basis,verdict,own_verdict,p
first,ours; so,holds,holds,0.25
second,sentence,undecided,holds,-0.5
third,sentence,holds,holds,0.75
"""
SENTENCES = """Sentences.

# docs/own.md
- {claims|||,d} claims, {|verdict=holds||word} hold ({|first|p|.2f}, {|second}), of
  the paper's {|? not ours; verdict=holds||} hold and {|; own_verdict=holds} by its test
- | most | {claims|? p > 0|max p|.1f} | {||max p|.2f} |
"""
PAGE = """Here 77 claims, no hold (1.00,
2.00), of the paper's 5 hold and 6 by its test.

| most | 0.1 | 9 |
"""


@pytest.fixture
def root(tmp_path):
    for name, text in {
        "figures/own/claims.csv": CLAIMS,
        "docs/quoted.txt": SENTENCES,
        "docs/own.md": PAGE,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def test_numbers_of_a_page_are_written_anew(root):
    write_quoted_numbers(root)
    assert (root / "docs/own.md").read_text("utf-8") == (
        "Here 3 claims, two hold (0.25,\n−0.50), of the paper's 1 hold and 2 by its "
        "test.\n\n| most | 0.8 | 0.75 |\n"
    )


def test_a_sentence_that_is_not_there_is_named(root):
    (root / "docs/own.md").write_text("Nothing.")
    with pytest.raises(ValueError, match=r"own does not say: {claims"):
        write_quoted_numbers(root)


def test_our_pages_quote_the_record(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copyfile(ROOT / "README.md", tmp_path / "README.md")
    (tmp_path / "figures").symlink_to(ROOT / "figures")
    write_quoted_numbers(tmp_path)
    for page in [tmp_path / "README.md", *(tmp_path / "docs").rglob("*.md")]:
        ours = ROOT / page.relative_to(tmp_path)
        assert page.read_text("utf-8") == ours.read_text("utf-8")
