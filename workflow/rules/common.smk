# Configuration, wildcards, targets and fingerprints: every helper of the rules.
import os
import re
import sys
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

# One thread in a job: parallelism comes from jobs, and sums do not depend on --cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from mtmkl_suite.run import fits, pipeline
from mtmkl.documents import ConfigError, read_yaml
from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.run.digests import discard_damaged
from mtmkl_suite.run import grouping, plan, resources
from mtmkl_suite.run.layout import REACH, RunFolder, cache
from mtmkl_suite.config.readings import load_papers
from mtmkl_suite.report.pages.summary import closing_summary
from mtmkl_suite.run.runs import ResultsInUseError, lock_results, run_label
from snakemake_logger_plugin_mtmkl import Run, announce
from mtmkl.documents import unknown
from mtmkl_suite.run.unfinished import discard_unfinished
from snakemake.logging import logger

try:
    # Snakemake itself takes the second of two equal keys.
    for file in filter(Path.is_file, map(Path, workflow.configfiles)):
        read_yaml(file)
    RUN = load_run_config(config)
    pipeline.use_mirror(RUN["mirror"])
    PAPERS = {paper["paper"]["id"]: paper for paper in load_papers(RUN)}
    for paper in PAPERS.values():
        pipeline.check_names(paper)
    VERSIONS = {
        (name, experiment, entry["method"]): pipeline.code_version(
            plan.method_of(paper, entry), settings["metrics"]
        )
        for name, paper in PAPERS.items()
        for experiment, settings in paper["experiments"].items()
        for entry in settings["methods"]
    }
except (ConfigError, ValueError) as error:
    sys.exit(f"configuration: {error}")

LABEL = run_label(RUN)
TOP = Path("results")
RESULTS = RunFolder(TOP / LABEL)
GROUPS = {
    name: {group.name: group for group in grouping.fit_groups(paper)}
    for name, paper in PAPERS.items()
}


# What jobs once took, for schedulers that end those which take more than they asked for.
MEMORY = {
    name: resources.measured_memory(Path(paper["published"]).with_name("memory.csv"))
    for name, paper in PAPERS.items()
}


wildcard_constraints:
    paper="|".join(map(re.escape, PAPERS)),


ABSOLUTE = RunFolder(RESULTS.path.resolve())

announce(
    Run(
        results=ABSOLUTE,
        seconds=Path(f"logs/{LABEL}/seconds.json").resolve(),
        usual_seconds=Path(workflow.basedir) / "workflow/seconds.json",
        summary=partial(closing_summary, PAPERS.values(), ABSOLUTE),
    )
)


# Before Snakemake looks at what is there. Its jobs read the rules again, a dry run
# changes nothing, and what another run is writing is not finished.
if (
    workflow.is_main_process
    and not workflow.logger_manager.settings.dryrun
    and RESULTS.path.is_dir()
):
    with suppress(ResultsInUseError), lock_results(RESULTS):
        discard_unfinished(Path("logs") / LABEL, before=time.time())
        for damaged in discard_damaged(Path("logs") / LABEL):
            logger.warning(f"{damaged} is damaged (its digest is another): made again")


# Snakemake's own lock outlives a killed run (the profile switches it off).
onstart:
    try:
        workflow.results_lock = lock_results(RESULTS)
    except ResultsInUseError as error:
        sys.exit(str(error))


def log_of(name):
    return f"logs/{LABEL}/{name}.log"


def texts(paths):
    return list(map(str, paths))


# Of any paper, for the patterns of rules.
ANY = RESULTS.paper("{paper}")


def folder_of(wildcards):
    return RESULTS.paper(wildcards.paper)


def group_of(wildcards):
    try:
        return GROUPS[wildcards.paper][wildcards.group]
    except KeyError:
        raise WorkflowError(f"{wildcards.paper} has no fits {wildcards.group!r}")


def chosen_by(wildcards):
    """The scores that a group of fits takes its held parameters from, if it does."""
    paper, group = PAPERS[wildcards.paper], group_of(wildcards)
    firsts = [
        replace(job, chunk=0)
        for job in group.jobs
        if fits.needs_first_chunk(paper, job)
    ]
    groups = GROUPS[wildcards.paper].values()
    names = [grouping.group_of(groups, job).name for job in firsts]
    return texts(map(folder_of(wildcards).scores_of, names))


def fit_inputs(wildcards):
    """The splits, warm compiled code, and what other jobs have to choose first."""
    paper, folder = PAPERS[wildcards.paper], folder_of(wildcards)
    group = group_of(wildcards)
    protocol = paper["experiments"][group.experiment]["protocol"]
    datasets = dict.fromkeys(job.dataset for job in group.jobs)
    return {
        "info": texts(map(folder.data_info, datasets)),
        "splits": texts(folder.splits(protocol, name) for name in datasets),
        "compiled": str(folder.compiled),
        "chosen": chosen_by(wildcards),
    }


def memory_of(paper, job):
    """Megabytes for a job, twice as many in its second attempt."""
    return lambda wildcards, attempt: attempt * resources.megabytes(MEMORY[paper], job)


def fit_memory(wildcards, attempt):
    paper, group = wildcards.paper, group_of(wildcards)
    return memory_of(paper, group.experiment)(wildcards, attempt)


def fit_minutes(wildcards, attempt):
    return attempt * resources.minutes(PAPERS[wildcards.paper], group_of(wildcards))


def versions_of(paper, groups):
    """Fingerprints of the code behind the scores of fits."""
    jobs = [job for group in groups for job in group.jobs]
    return sorted({VERSIONS[paper, job.experiment, job.method] for job in jobs})


def all_classes(paper):
    return fits.classes_of(PAPERS[paper], plan.fit_jobs(PAPERS[paper]))


def fit_files(paper, experiments=None):
    """The scores and the arrays of the fits of a paper, or of some experiments."""
    folder = RESULTS.paper(paper)
    names = [
        group.name
        for group in GROUPS[paper].values()
        if experiments is None or group.experiment in experiments
    ]
    return texts(
        path(name) for path in (folder.scores_of, folder.arrays_of) for name in names
    )


def data_files(paper, datasets):
    """What is known of data sets of a paper, and their splits."""
    folder = RESULTS.paper(paper)
    for need in pipeline.data_needs(PAPERS[paper], datasets):
        name = need["variant"].id
        yield str(folder.data_info(name))
        for protocol in need["protocols"]:
            yield str(folder.splits(protocol["id"], name))


def all_data_files(paper):
    groups = grouping.data_groups(PAPERS[paper])
    return [path for group in groups for path in data_files(paper, group)]


def artefact_inputs(paper, names):
    """The fits and the data that artefacts show."""
    config = plan.restricted_to_artefacts(PAPERS[paper], names)
    datasets = [each for group in grouping.data_groups(config) for each in group]
    infos = texts(RESULTS.paper(paper).data_info(each.id) for each in datasets)
    files = [*fit_files(paper, config["experiments"]), *infos]
    return [*files, *published_numbers(paper), *published_before(paper)]


def published_before(paper):
    """What results take from the published record.

    Readings are compared with the main protocol there, and tables of the main protocol
    show the reach of different numbers.
    """
    folder, is_main = Path("figures") / paper, "readings" not in PAPERS[paper]
    names = (
        [REACH] if is_main else ["scores.csv.gz", "overlaps.csv", "claims.csv"]
    )
    if RUN["tier"] != "paper":
        return []
    return texts(folder / name for name in names if (folder / name).is_file())


def shown_by(paper, group):
    """The artefacts that a process makes or computes numbers for."""
    steps = grouping.steps(PAPERS[paper])
    return [*group.artefacts, *(name for step in group.steps for name in steps[step])]


def result_files(paper, group):
    """What a process makes of the fits of a paper."""
    return [
        *texts(map(RESULTS.paper(paper).step, group.steps)),
        *artefact_files(paper, group.artefacts),
        *written_files(paper, group.artefacts),
        *(published_record(paper) if group.has_record else []),
    ]


def result_inputs(paper, group):
    """What a process needs that makes something of the fits of a paper."""
    drawn = plan.restricted_to_artefacts(PAPERS[paper], group.artefacts)
    needed = texts(map(RESULTS.paper(paper).step, grouping.steps(drawn)))
    if group.has_record:
        needed += [*fit_files(paper), *all_data_files(paper), *written_files(paper)]
        needed += published_numbers(paper)
    else:
        needed += artefact_inputs(paper, shown_by(paper, group))
    made = result_files(paper, group)
    return [path for path in needed if path not in made]


def result_config(paper, group):
    """The part of a paper's configuration on which these results depend."""
    if group.has_record:
        return PAPERS[paper]
    return plan.restricted_to_artefacts(PAPERS[paper], shown_by(paper, group))


def published_numbers(paper):
    """The transcribed numbers of a paper, with their full paths."""
    return sorted(map(str, Path(PAPERS[paper]["published"]).glob("*.csv")))


def artefact_files(paper, names=None):
    """The files of artefacts that people read."""
    artefacts = PAPERS[paper]["artefacts"]
    wanted = artefacts if names is None else {name: artefacts[name] for name in names}
    return texts(RESULTS.paper(paper).artefact_files(wanted))


def written_files(paper, names=None):
    """What artefacts leave for record and report."""
    wanted = PAPERS[paper]["artefacts"] if names is None else names
    return texts(RESULTS.paper(paper).artefact(name, "json") for name in wanted)


def published_record(paper):
    """The files of a paper that other programs read."""
    return texts(RESULTS.paper(paper).record())


def refuse_target(wildcards):
    """Name the targets in place of one that does not exist."""
    known = [
        target
        for paper, config in PAPERS.items()
        for target in (paper, *(f"{paper}_{name}" for name in config["artefacts"]))
    ]
    text = unknown("target", wildcards.name, [*known, "publish", "rejudge", "all"])
    raise WorkflowError(f"{text}; or name a result by its path")
