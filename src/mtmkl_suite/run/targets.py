"""Files of a run, and which of them are made of which: what the rules ask."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.config.load import read_measured
from mtmkl_suite.config.models import Artefact, Paper, Run, Variant
from mtmkl_suite.config.runs import load_papers, restricted_to_artefacts
from mtmkl_suite.run import pipeline, plan
from mtmkl_suite.run.checks import check_names
from mtmkl_suite.run.fingerprint import code_version
from mtmkl_suite.run.fits import group_config, needs_first_chunk
from mtmkl_suite.run.folders import (
    REACH,
    PaperFolder,
    RunFolder,
    cache,
    record_folder,
    run_label,
)
from mtmkl_suite.run.plan import FitGroup, ResultGroup


class Targets:
    """Files of a run, whose papers stand by their ids."""

    def __init__(self, run: Run) -> None:
        self.run = run
        pipeline.use_mirror(run.mirror)
        papers = load_papers(run)
        for paper in papers:
            check_names(paper)
        self.papers: dict[str, Paper] = {paper.paper.id: paper for paper in papers}
        self.results = RunFolder(Path(run.results, run_label(run, papers)))
        self._groups = {
            name: {group.name: group for group in plan.fit_groups(paper)}
            for name, paper in self.papers.items()
        }
        self._memory = {
            name: read_measured(paper.folder / "memory.csv", "job", "megabytes")
            for name, paper in self.papers.items()
        }

    def folder(self, paper: str) -> PaperFolder:
        """Return the folder of a paper."""
        return self.results.paper(paper)

    def log(self, job: str) -> str:
        """Return the log of a job."""
        return str(self.results.log(job))

    def memory(self, paper: str, job: str) -> Callable[[Any, int], int]:
        """Return the megabytes for a job, twice as many in its second attempt."""
        megabytes = plan.megabytes(self._memory[paper], job)
        return lambda wildcards, attempt: attempt * megabytes

    # Data sets and their splits

    def data_arguments(self, paper: str, datasets: Sequence[Variant]) -> dict[str, Any]:
        """Return the arguments of :func:`mtmkl_suite.run.pipeline.prepare_data`."""
        return {
            "needs": pipeline.data_needs(self.papers[paper], datasets),
            "folder": self.folder(paper),
            "seed": self.run.seed,
            "download": self.run.download == "all",
            "on_missing": self.run.on_missing_data,
            "record": self.papers[paper].record,
        }

    def data_files(
        self, paper: str, datasets: Iterable[Variant] | None = None
    ) -> list[str]:
        """Return the descriptions of data sets of a paper, and their splits."""
        if datasets is None:
            datasets = self.papers[paper].variants
        folder, paths = self.folder(paper), list[Path]()
        for variant, protocols in pipeline.data_needs(self.papers[paper], datasets):
            paths.append(folder.data_info(variant.id))
            paths += [folder.splits(each.id, variant.id) for each in protocols]
        return _texts(paths)

    # Fits

    def fit_arguments(self, paper: str, name: str) -> dict[str, Any]:
        """Return the arguments of :func:`mtmkl_suite.run.fits.run_fits`."""
        group = self._groups[paper][name]
        return {
            "config": group_config(self.papers[paper], group),
            "group": group,
            "folder": self.folder(paper),
            "seed": self.run.seed,
            "cache": cache(self.results.path.parent),
            "versions": self.versions(paper, name),
        }

    def fit_inputs(self, paper: str, name: str) -> dict[str, list[str] | str]:
        """Return splits, and the scores of what chooses first."""
        folder, group = self.folder(paper), self._groups[paper][name]
        protocol = self.papers[paper].experiments[group.experiment].protocol
        datasets = dict.fromkeys(job.dataset for job in group.jobs)
        return {
            "info": _texts(map(folder.data_info, datasets)),
            "splits": _texts(folder.splits(protocol, name) for name in datasets),
            "chosen": self._chosen_by(paper, group),
        }

    def _chosen_by(self, paper: str, group: FitGroup) -> list[str]:
        """Return the scores that fits take their held parameters from, if they do."""
        firsts = [
            replace(job, chunk=0).stem
            for job in group.jobs
            if needs_first_chunk(self.papers[paper], job)
        ]
        return [
            str(self.folder(paper).scores_of(name))
            for first in firsts
            for name, other in self._groups[paper].items()
            if first in [job.stem for job in other.jobs]
        ]

    def fit_minutes(self, paper: str, name: str) -> int:
        """Return the limit on the time of fits."""
        return plan.minutes(self.papers[paper], self._groups[paper][name])

    def fit_files(
        self, paper: str, experiments: Iterable[str] | None = None
    ) -> list[str]:
        """Return scores and arrays of the fits of a paper, or of some experiments."""
        folder = self.folder(paper)
        names = [
            group.name
            for group in self._groups[paper].values()
            if experiments is None or group.experiment in experiments
        ]
        return _texts(
            path(name)
            for path in (folder.scores_of, folder.arrays_of)
            for name in names
        )

    def versions(self, paper: str, name: str) -> dict[str, str]:
        """Return the code's fingerprint by method: planning parses it once for all."""
        config, group = self.papers[paper], self._groups[paper][name]
        experiment = config.experiments[group.experiment]
        methods = {job.method for job in group.jobs}
        return {
            entry.method: code_version(config.method_of(entry))
            for entry in experiment.methods
            if entry.method in methods
        }

    # What is made of the fits of a paper

    def artefacts(self, paper: str) -> dict[str, Artefact]:
        """Return the artefacts known before a run; beside a record the data decide."""
        config = self.papers[paper]
        return config.artefacts if config.record is None else {}

    def artefact_files(
        self, paper: str, names: Iterable[str] | None = None
    ) -> list[str]:
        """Return the files of artefacts that people read."""
        known = self.artefacts(paper)
        wanted = {name: known[name] for name in (known if names is None else names)}
        return _texts(self.folder(paper).artefact_files(wanted))

    def written_files(
        self, paper: str, names: Iterable[str] | None = None
    ) -> list[str]:
        """Return the files that artefacts leave for record and report."""
        wanted = self.artefacts(paper) if names is None else names
        return _texts(self.folder(paper).artefact(name, "json") for name in wanted)

    def record(self, paper: str) -> list[str]:
        """Return the files of a paper that other programs read."""
        return _texts(self.folder(paper).record())

    def published_numbers(self, paper: str) -> list[str]:
        """Return the transcribed numbers of a paper, with their full paths."""
        return sorted(_texts(self.papers[paper].published.glob("*.csv")))

    def published_before(self, paper: str) -> list[str]:
        """Return the files of the published record that results depend on.

        Readings are compared with the main protocol there, and tables of the main
        protocol show the reach of different numbers.
        """
        config = self.papers[paper]
        if self.run.tier != "paper":
            return []
        if config.readings is not None:
            names = ["scores.csv.gz", "overlaps.csv", "claim_settings.csv"]
        else:
            names = [REACH] if config.record is None else ["scores.csv.gz"]
        paths = [record_folder(config) / name for name in names]
        return _texts(path for path in paths if path.is_file())

    def result_files(self, paper: str, group: ResultGroup) -> list[str]:
        """Return the files that a process makes of the fits of a paper."""
        return [
            *_texts(map(self.folder(paper).step, group.steps)),
            *self.artefact_files(paper, group.artefacts),
            *self.written_files(paper, group.artefacts),
            *(self.record(paper) if group.has_record else []),
        ]

    def result_inputs(self, paper: str, group: ResultGroup) -> list[str]:
        """Return the files that such a process needs, and does not make itself."""
        drawn = restricted_to_artefacts(self.papers[paper], group.artefacts)
        needed = _texts(map(self.folder(paper).step, plan.steps(drawn)))
        if group.has_record:
            needed += [*self.fit_files(paper), *self.data_files(paper)]
            needed += [*self.written_files(paper), *self.published_numbers(paper)]
        else:
            config = self._config_of(paper, group)
            infos = [self.folder(paper).data_info(each.id) for each in config.variants]
            needed += [*self.fit_files(paper, config.experiments), *_texts(infos)]
            needed += [*self.published_numbers(paper), *self.published_before(paper)]
        made = self.result_files(paper, group)
        return [path for path in needed if path not in made]

    def result_arguments(self, paper: str, group: ResultGroup) -> dict[str, Any]:
        """Return arguments of ``report.artefacts.write_results``."""
        config, folder = self._config_of(paper, group), self.folder(paper)
        run = self.run if group.has_record else None
        return {"group": group, "config": config, "folder": folder, "run": run}

    def _config_of(self, paper: str, group: ResultGroup) -> Paper:
        """Return what a process has to know: only the record needs all of a paper."""
        config = self.papers[paper]
        if group.has_record:
            return config
        steps = plan.steps(config)
        computed = [name for step in group.steps for name in steps[step]]
        return restricted_to_artefacts(config, [*group.artefacts, *computed])

    def unknown(self, name: str) -> str:
        """Say which targets there are in place of one that does not exist."""
        known = [
            target
            for paper in self.papers
            for target in (paper, *(f"{paper}_{a}" for a in self.artefacts(paper)))
        ]
        text = unknown("target", name, [*known, "publish", "rejudge", "all"])
        return f"{text}; or name a result by its path"


def _texts(paths: Iterable[Path]) -> list[str]:
    return list(map(str, paths))
