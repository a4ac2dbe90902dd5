"""Addresses in the report: of its pages, of files beside it, of the documentation.

All are relative to the folder of the pages, ``results/<run>/report``.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtmkl_suite.run.folders import RunFolder


def address(path: Path, run: RunFolder) -> str:
    """Return the address of a file for the pages of a run's report."""
    return Path(os.path.relpath(path, run.pages)).as_posix()


def page_name(kind: str, name: str) -> str:
    """Return the file of a page, such as ``method-Whom.html``."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", name.rpartition("/")[2]).strip("-")
    return f"{kind}-{stem}.html"


@dataclass(frozen=True)
class Documentation:
    """Where the documentation is for somebody who reads a report.

    Attributes
    ----------
    run : RunFolder
        ``site`` in it is the documentation, if it was built before the report.
    top : Path
        Of the checkout: the sources stand in for a site that was not built.
    """

    run: RunFolder
    top: Path

    @classmethod
    def of(cls, config: Mapping[str, Any], run: RunFolder) -> "Documentation":
        """Return the documentation that belongs to a paper's configuration."""
        # config/papers/<id>/published
        return cls(run, Path(config["published"]).parents[3])

    def page(self, source: str) -> str:
        """Return the address of a page, "" if there is none."""
        built = (self.run.site / source).with_suffix(".html")
        return self._first(built, self.top / source)

    def method(self, name: str) -> str:
        """Return the address of the page of a method's class, "" if there is none."""
        if ":" in name:
            return ""
        built = self.run.site / "docs" / "generated" / f"mtmkl.methods.{name}.html"
        return self._first(built, self.top / "docs" / "methods.md")

    def _first(self, *candidates: Path) -> str:
        found = (path for path in candidates if path.is_file())
        path = next(found, None)
        return "" if path is None else address(path, self.run)
