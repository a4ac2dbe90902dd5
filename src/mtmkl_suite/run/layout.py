"""Where the files of a run are: every path below ``results/<run>`` is made here."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORD = (
    "scores.csv.gz",
    "statistics.csv",
    "verdicts.csv",
    "claims.csv",
    "overlaps.csv",
    "provenance.json",
)
"""Files of a paper that other programs read."""

REACH = "reach.csv"
"""Reach of the numbers and claims of a published paper by other readings."""

ENDINGS = {"figure": ("svg", "pdf", "csv"), "table": ("csv", "md", "tex")}
"""Files of an artefact by its kind, for readers."""


def cache(results: Path) -> Path:
    """Return the folder of finished cells, which all runs share."""
    return results / "cache"


@dataclass(frozen=True)
class PaperFolder:
    """The results of a paper in a run.

    Attributes
    ----------
    path : Path
        ``results/<run>/<paper>``.
    """

    path: Path

    def data_info(self, dataset: str) -> Path:
        """File that describes a data set variant."""
        return self.path / "data" / f"{dataset}.json"

    def splits(self, protocol: str, dataset: str) -> Path:
        """File of a data set's splits under a protocol."""
        return self.path / "splits" / protocol / f"{dataset}.npz"

    @property
    def compiled(self) -> Path:
        """File that is there once the compiled code is."""
        return self.path / "compiled.json"

    def scores_of(self, group: str) -> Path:
        """Table of the scores of fits that shared a process."""
        return self.path / "fits" / f"{group}.csv.gz"

    def arrays_of(self, group: str) -> Path:
        """File of the arrays kept of these fits."""
        return self.path / "fits" / f"{group}.npz"

    def seconds_of(self, group: str) -> Path:
        """File of the time that these fits took, where the workflow measured it."""
        return self.path / "benchmarks" / f"{group}.tsv"

    def job_seconds(self) -> Mapping[str, Path]:
        """Files of the time that jobs took, by the name of the job."""
        folder = self.path / "benchmarks"
        return {
            str(path.relative_to(folder).with_suffix("")): path
            for path in sorted(folder.rglob("*.tsv"))
        }

    def log(self, name: str) -> Path:
        """Log of a job; the workflow keeps its logs outside the results."""
        return self.path / "logs" / f"{name}.log"

    def step(self, name: str) -> Path:
        """Numbers that a figure draws and does not compute itself."""
        return self.path / "steps" / f"{name}.csv"

    def artefact(self, name: str, ending: str) -> Path:
        """File of a figure or table; ``json`` is what record and report take of it."""
        return self.path / "artefacts" / f"{name}.{ending}"

    def artefact_files(self, artefacts: Mapping[str, Mapping[str, Any]]) -> list[Path]:
        """Files of configured artefacts, for readers."""
        return [
            self.artefact(name, ending)
            for name, artefact in artefacts.items()
            for ending in ENDINGS[artefact["kind"]]
        ]

    @property
    def scores(self) -> Path:
        """Table of all scores of the paper."""
        return self.path / "scores.csv.gz"

    @property
    def statistics(self) -> Path:
        """Table of the comparisons of pairs of methods."""
        return self.path / "statistics.csv"

    @property
    def verdicts(self) -> Path:
        """Table of the verdicts on published numbers."""
        return self.path / "verdicts.csv"

    @property
    def claims(self) -> Path:
        """Table of the verdicts on claims."""
        return self.path / "claims.csv"

    @property
    def overlaps(self) -> Path:
        """Table of how the repeats of each experiment overlap."""
        return self.path / "overlaps.csv"

    @property
    def provenance(self) -> Path:
        """File that says where the results come from."""
        return self.path / "provenance.json"

    def record(self) -> list[Path]:
        """Files of :data:`RECORD`."""
        return [self.path / name for name in RECORD]


@dataclass(frozen=True)
class RunFolder:
    """The results of a run.

    Attributes
    ----------
    path : Path
        ``results/<run>``, see :func:`mtmkl_suite.run.runs.run_label`.
    """

    path: Path

    def paper(self, name: str) -> PaperFolder:
        """Folder of a paper."""
        return PaperFolder(self.path / name)

    @property
    def lock(self) -> Path:
        """File that a run holds while it writes here."""
        return self.path / ".lock"

    @property
    def report(self) -> Path:
        """The first page of the report."""
        return self.path / "report.html"

    @property
    def pages(self) -> Path:
        """Folder of its other pages."""
        return self.path / "report"

    @property
    def site(self) -> Path:
        """Folder of the documentation as a site, where it was built."""
        return self.path / "site"

    @property
    def finished(self) -> Path:
        """File that is there once no method failed."""
        return self.path / "finished"
