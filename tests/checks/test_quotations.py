"""Quotations: the words that claims, readings and pages quote are in the stored texts.

The texts are beside the mirror of the data; without them only the form is checked.
"""

import os
import re
from pathlib import Path

import pytest

from mtmkl_suite.config.models import QUOTATION
from mtmkl_suite.documents import read_yaml

ROOT = Path(__file__).parents[2]
PAPERS = sorted(path.parent.name for path in ROOT.glob("config/papers/*/claims.yaml"))
_HEADINGS = ("In brief", "Decisions", "Errata")


def _folded(text: str) -> str:
    """Return words without the typography in which a page and a text may differ."""
    text = re.sub(r"[’‘]", "'", text)
    return re.sub(r"[\s*_`$\\{}>|]+", "", text.replace("–", "-")).lower()


def _lines(paper: str) -> list[str]:
    mirror = os.environ.get("MTMKL_DATA_MIRROR")
    found = list(Path(mirror or "").parent.glob(f"papers/{paper}_*.txt"))
    if not mirror or not found:
        pytest.skip(f"text of {paper}: not beside MTMKL_DATA_MIRROR")
    return found[0].read_text(encoding="utf-8").splitlines()


def _follow(words: str, lines: list[str]) -> bool:
    """Tell whether the parts of a quotation follow each other in four lines."""
    rest = _folded(" ".join(lines[:4]))
    for part in re.split(r"…|\.\.\.|\[[^\]]*\]", words):
        _, found, rest = rest.partition(_folded(part))
        if not found and _folded(part):
            return False
    return True


def _bases(entries: object) -> list[str]:
    if isinstance(entries, dict):
        own = [entries["basis"]] if "basis" in entries else []
        return own + [b for value in entries.values() for b in _bases(value)]
    if isinstance(entries, list):
        return [b for value in entries for b in _bases(value)]
    return []


def _page(paper: str) -> str:
    return (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS)
def test_words_that_claims_readings_and_pages_quote_are_in_the_text(paper: str) -> None:
    folder = ROOT / "config" / "papers" / paper
    claims = read_yaml(folder / "claims.yaml")["claims"]
    quoted = [(claim["line"], claim["quote"]) for claim in claims]
    assert len(set(quoted)) == len(quoted), "a sentence is judged twice"
    bases = _bases(read_yaml(folder / "readings.yaml"))
    assert bases
    # A basis filled from a list of its file is looked up there, not here.
    found = [each for basis in bases for each in QUOTATION.findall(basis)]
    quoted += [(line, words) for line, words in found if "{" not in words]
    quoted += QUOTATION.findall(re.sub(r"\s+", " ", _page(paper)))
    lines = _lines(paper)
    assert [q for q in quoted if not _follow(q[1], lines[int(q[0]) - 1 :])] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_decision_quotes_a_sentence_or_says_that_there_is_none(
    paper: str,
) -> None:
    sections = re.split(r"^## (.+)$", _page(paper), flags=re.MULTILINE)
    parts = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert set(_HEADINGS) <= set(parts), f"{paper} has no section of these names"
    entries = re.split(r"\n\n(?=\*\*)", parts["Decisions"].strip())
    unfounded = [
        entry[:70]
        for entry in entries
        if not QUOTATION.search(re.sub(r"\s+", " ", entry)) and "silent" not in entry
    ]
    assert not unfounded
