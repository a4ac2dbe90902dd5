"""Documentation that reports and galleries link to and quote."""

import os
from dataclasses import dataclass
from pathlib import Path

from mtmkl_suite.config.models import Paper
from mtmkl_suite.report.names import is_ours
from mtmkl_suite.report.pages.markdown import inline_html, items
from mtmkl_suite.run.folders import RunFolder


def source_of(config: Paper) -> Path:
    """Return the file of a paper's page, which for our own comparison is no paper's."""
    name = config.paper.id
    docs = config.published.parents[3] / "docs"
    # Data of one's own may have any name, and their template's folder.
    if is_ours(config.paper) and config.folder.name == name:
        return docs / f"{name}.md"
    return docs / "papers" / f"{name}.md"


def brief(config: Paper) -> list[str]:
    """Return the sentences that begin a paper's page, as Markdown."""
    source = source_of(config)
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    return items(text, "In brief")


def address(path: Path, run: RunFolder) -> str:
    """Return the address of a file for the pages of a run's report."""
    return Path(os.path.relpath(path, run.pages)).as_posix()


@dataclass(frozen=True)
class Documentation:
    """Documentation as a run's report links to it.

    The site in the run's folder, if it was built before the report; otherwise its
    sources in the checkout, ``top``.
    """

    run: RunFolder
    top: Path

    @classmethod
    def of(cls, config: Paper, run: RunFolder) -> "Documentation":
        """Return the documentation that belongs to a paper's configuration."""
        # config/papers/<id>/published
        return cls(run, config.published.parents[3])

    def page(self, source: str) -> str:
        """Return the address of a page, "" if there is none."""
        built = (self.run.site / source).with_suffix(".html")
        return self._first(built, self.top / source)

    def paper(self, config: Paper) -> str:
        """Return the address of a paper's page, "" if there is none."""
        return self.page(source_of(config).relative_to(self.top).as_posix())

    def method(self, name: str) -> str:
        """Return the address of the page of a method's class, "" if there is none."""
        if ":" in name:
            return ""
        built = self.run.site / "docs" / "generated" / f"mtmkl.methods.{name}.html"
        return self._first(built, self.top / "docs" / "methods.md")

    def sentences(self, config: Paper) -> list[str]:
        """Return the sentences that begin a paper's page, as HTML."""
        source = source_of(config)
        return [
            inline_html(text, lambda target: self._link(target, source))
            for text in brief(config)
        ]

    def _link(self, target: str, source: Path) -> str:
        """Return an address that leads from the report where a page's link leads."""
        target, hash_sign, anchor = target.partition("#")
        if "://" in target:
            return f"{target}{hash_sign}{anchor}"
        path = (source.parent / target).resolve() if target else source
        found = ""
        if path.is_relative_to(self.top) and path.suffix == ".md":
            found = self.page(path.relative_to(self.top).as_posix())
        return (found or address(path, self.run)) + hash_sign + anchor

    def _first(self, *candidates: Path) -> str:
        found = (path for path in candidates if path.is_file())
        path = next(found, None)
        return "" if path is None else address(path, self.run)
