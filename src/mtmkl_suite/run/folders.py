"""Where the files of a run are: every path below ``results/<run>`` is made here."""

import csv
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.config.models import Artefact, Paper, Run
from mtmkl_suite.documents import config_dir, read_yaml

READING_SCORES = "readings.csv.gz"
"""The scores under other readings of the protocol, in ``figures/<paper>``."""

DERIVED_DIGITS = 10
"""Significant digits of what is computed from scores: alike on any machine."""

REACH = "reach.csv"
"""Reach of the numbers and claims of a published paper by other readings."""

_LONGEST_LABEL = 120

ENDINGS = {"figure": ("svg", "pdf", "csv"), "table": ("csv", "md", "tex")}
"""Files of an artefact by its kind, for readers."""


def cache(results: Path) -> Path:
    """Return the folder of finished cells, which all runs share."""
    return results / "cache"


class _File:
    """Path of a file or a folder of a fixed name in a folder of results."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: "_Folder", _: object = None) -> Path:
        return folder.path / self._name


@dataclass(frozen=True)
class _Folder:
    path: Path


@dataclass(frozen=True)
class PaperFolder(_Folder):
    """The results of a paper in a run, ``results/<run>/<paper>``."""

    scores = _File("scores.csv.gz")
    """Table of all scores of the paper."""
    statistics = _File("statistics.csv")
    """Table of the comparisons of pairs of methods."""
    verdicts = _File("verdicts.csv")
    """Table of the verdicts on published numbers."""
    claims = _File("claims.csv")
    """Table of the verdicts on the sentences of a paper."""
    claim_settings = _File("claim_settings.csv")
    """Table of the verdicts on sentences in each of their settings."""
    overlaps = _File("overlaps.csv")
    """Table of how the repeats of each experiment overlap."""
    provenance = _File("provenance.json")
    """File that says where the results come from."""

    def data_info(self, dataset: str) -> Path:
        """File that describes a data set variant."""
        return self.path / "data" / f"{dataset}.json"

    def splits(self, protocol: str, dataset: str) -> Path:
        """File of a data set's splits under a protocol."""
        return self.path / "splits" / protocol / f"{dataset}.npz"

    def scores_of(self, group: str) -> Path:
        """Table of the scores of fits that shared a process."""
        return self.path / "fits" / f"{group}.csv.gz"

    def arrays_of(self, group: str) -> Path:
        """File of the arrays kept of these fits."""
        return self.path / "fits" / f"{group}.npz"

    def seconds_of(self, group: str) -> Path:
        """File of the time that these fits took, where the workflow measured it."""
        return self.path / "benchmarks" / f"{group}.tsv"

    def benchmarks(self) -> dict[str, list[dict[str, str]]]:
        """Return what the workflow measured of jobs, by the name of the job."""
        folder, found = self.path / "benchmarks", {}
        for path in sorted(folder.rglob("*.tsv")):
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file, delimiter="\t"))
            found[str(path.relative_to(folder).with_suffix(""))] = rows
        return found

    def step(self, name: str) -> Path:
        """Numbers that a figure draws and does not compute itself."""
        return self.path / "steps" / f"{name}.csv"

    def artefact(self, name: str, ending: str) -> Path:
        """File of a figure or table; ``json`` is what record and report take of it."""
        return self.path / "artefacts" / f"{name}.{ending}"

    def artefact_files(self, artefacts: Mapping[str, Artefact]) -> list[Path]:
        """Files of configured artefacts, for readers."""
        return [
            self.artefact(name, ending)
            for name, artefact in artefacts.items()
            for ending in ENDINGS[artefact.kind]
        ]

    def record(self) -> list[Path]:
        """Files of the paper that other programs read."""
        return [
            self.scores,
            self.statistics,
            self.verdicts,
            self.claims,
            self.claim_settings,
            self.overlaps,
            self.provenance,
        ]


class PublishedFolder(PaperFolder):
    """A paper's folder below ``figures``: artefacts lie beside the record."""

    def artefact(self, name: str, ending: str) -> Path:
        """File of a figure or table."""
        return self.path / f"{name}.{ending}"


class PublishedReadings(PublishedFolder):
    """The same folder, with the scores, overlaps and provenance of the readings."""

    scores = _File(READING_SCORES)
    overlaps = _File("readings_overlaps.csv")
    provenance = _File("readings_provenance.json")


def published_results(config: Paper, figures: Path) -> PublishedFolder:
    """Return the folder of the published scores of a paper, or of its readings."""
    kind = PublishedFolder if config.readings is None else PublishedReadings
    return kind(figures / config.paper.id)


@dataclass(frozen=True)
class RunFolder(_Folder):
    """The results of a run, ``results/<run>``; see :func:`run_label`."""

    logs = _File("logs")
    """Folder of the logs of the jobs."""
    lock = _File(".lock")
    """File that a run holds while it writes here."""
    report = _File("report.html")
    """The first page of the report."""
    pages = _File("report")
    """Folder of its other pages."""
    site = _File("site")
    """Folder of the documentation as a site, where it was built."""
    finished = _File("finished")
    """File that is there once no method failed."""

    def paper(self, name: str) -> PaperFolder:
        """Folder of a paper."""
        return PaperFolder(self.path / name)

    def log(self, name: str) -> Path:
        """Log of a job, such as ``argyriou2008/fits/digits``."""
        return self.logs / f"{name}.log"


def record_folder(config: Paper) -> Path:
    """Return the folder of a paper below ``figures``."""
    # config/papers/<id>/published -> figures/<id>
    return config.published.parents[3] / "figures" / config.paper.id


def run_label(run: Run, papers: Sequence[Paper]) -> str:
    """Return the name of a run's folder below ``results``.

    It is the tier, followed by whatever differs from what ``config/config.yaml`` says,
    joined by "+": ``quick``, ``paper+seed=7``, ``quick+argyriou2008+digits``. Where the
    data come from (the mirror, downloads) makes no difference: their content is
    checked.
    """
    usual = load_run_config(
        {**read_yaml(config_dir() / "config.yaml"), "tier": run.tier}
    )
    parts: list[str] = [run.tier]
    if run.data:
        parts += [paper.paper.id for paper in papers]
        parts += [f"{key}={_listed(value)}" for key, value in run.data.options.items()]
        parts += run.data.methods
    elif run.papers != usual.papers:
        parts += [Path(paper).stem for paper in run.papers]
    parts += [name for paper in papers for name in paper.parts]
    parts += run.methods
    if run.grid is not None:
        parts.append(f"grid-{_hash(json.dumps(run.grid, sort_keys=True))}")
    changes = {k: v for paper in papers for k, v in paper.changes.items()}
    for key, value in changes.items():
        is_one = isinstance(value, str | int | float)
        text = str(value) if is_one else _hash(json.dumps(value, sort_keys=True))
        parts.append(f"{key}={text}" if is_one else f"{key}-{text}")
    if run.readings:
        factors = [] if run.readings is True else run.readings
        parts.append("=".join(["readings", *factors]))
    if run.seed != usual.seed:
        parts.append(f"seed={run.seed}")
    if run.on_missing_data != usual.on_missing_data and not run.against:
        parts.append(f"on_missing_data={run.on_missing_data}")
    label = "+".join(re.sub(r"[^\w.=-]", ".", part) for part in parts)
    if len(label) > _LONGEST_LABEL:
        label = f"{label[:_LONGEST_LABEL]}-{_hash(label)}"
    return f"{label}+against={run.against}" if run.against else label


def _listed(value: Any) -> str:
    is_list = isinstance(value, list | tuple)
    return ",".join(map(str, value)) if is_list else str(value)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
