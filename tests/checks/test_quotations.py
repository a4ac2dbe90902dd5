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


def _missing(quoted: list[tuple[str, str]], lines: list[str]) -> list[str]:
    """Return the quotations whose words do not follow each other at their line."""
    wrong = []
    for number, words in quoted:
        start = int(number) - 1
        rest = _folded(" ".join(lines[start : start + 4]))
        for part in re.split(r"…|\.\.\.|\[[^\]]*\]", words):
            _, found, rest = rest.partition(_folded(part))
            if not found and _folded(part):
                wrong.append(f'l. {number}: "{words}"')
                break
    return wrong


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
def test_the_sentences_that_are_judged_are_in_the_text(paper: str) -> None:
    claims = read_yaml(ROOT / "config" / "papers" / paper / "claims.yaml")["claims"]
    quoted = [(str(claim["line"]), claim["quote"]) for claim in claims]
    assert len(set(quoted)) == len(quoted), "a sentence is judged twice"
    assert not _missing(quoted, _lines(paper))


@pytest.mark.parametrize("paper", PAPERS)
def test_the_words_of_a_basis_are_in_the_text(paper: str) -> None:
    bases = _bases(read_yaml(ROOT / "config" / "papers" / paper / "readings.yaml"))
    assert bases
    quoted = [found for basis in bases for found in QUOTATION.findall(basis)]
    # A basis filled from a list of its file is looked up there, not here.
    quoted = [(n, words) for n, words in quoted if "{" not in words]
    assert not _missing(quoted, _lines(paper))


@pytest.mark.parametrize("paper", PAPERS)
def test_the_words_that_a_page_quotes_are_in_the_text(paper: str) -> None:
    quoted = QUOTATION.findall(re.sub(r"\s+", " ", _page(paper)))
    assert not _missing(quoted, _lines(paper))


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
