# Configuration, wildcards, targets and fingerprints: every helper of the rules.
import os
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

# One thread in a job: parallelism comes from jobs, and sums do not depend on --cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from mtmkl import pipeline
from mtmkl.config import ConfigError, load_paper, load_run_config, read_yaml
from mtmkl.evaluation import plan
from mtmkl.reporting.summary import closing_summary
from mtmkl.runs import ResultsInUseError, lock_results, run_label
from snakemake_logger_plugin_mtmkl import Run, announce
from mtmkl.schema_errors import unknown

try:
    # Snakemake itself takes the second of two equal keys.
    for file in filter(Path.is_file, map(Path, workflow.configfiles)):
        read_yaml(file)
    RUN = load_run_config(config)
    pipeline.use_mirror(RUN["mirror"])
    PAPERS = {
        paper["paper"]["id"]: paper
        for paper in (load_paper(name, RUN["tier"]) for name in RUN["papers"])
    }
    for paper in PAPERS.values():
        pipeline.check_names(paper)
    VERSIONS = {
        (name, experiment, entry["method"]): pipeline.code_version(
            paper["methods"][entry["method"]], settings["metrics"]
        )
        for name, paper in PAPERS.items()
        for experiment, settings in paper["experiments"].items()
        for entry in settings["methods"]
    }
except (ConfigError, ValueError) as error:
    sys.exit(f"configuration: {error}")

LABEL = run_label(RUN)
RESULTS = f"results/{LABEL}"
CACHE = "results/cache"
JOBS = {
    name: {job.stem: job for job in plan.fit_jobs(paper)}
    for name, paper in PAPERS.items()
}


wildcard_constraints:
    run=re.escape(LABEL),
    paper="|".join(PAPERS),
    protocol=r"\w+",
    experiment=r"\w+",
    dataset=r"[^/]+",
    method=r"[^/.]+",
    chunk=r"\d+",
    artefact=r"\w+",


announce(
    Run(
        results=Path(RESULTS).resolve(),
        seconds=Path(f"logs/{LABEL}/seconds.json").resolve(),
        usual_seconds=Path(workflow.basedir) / "workflow/seconds.json",
        summary=partial(closing_summary, PAPERS.values(), Path(RESULTS).resolve()),
    )
)


# Snakemake's own lock outlives a killed run (the profile switches it off).
onstart:
    try:
        workflow.results_lock = lock_results(Path(RESULTS))
    except ResultsInUseError as error:
        sys.exit(str(error))


def variant_of(wildcards):
    return plan.find_variant(PAPERS[wildcards.paper], wildcards.dataset)


def protocol_of(wildcards):
    experiment = PAPERS[wildcards.paper]["experiments"][wildcards.experiment]
    return experiment["protocol"]


def jobs_of(wildcards):
    """One fit job, or where no method is named all of an experiment on a data set."""
    jobs = JOBS[wildcards.paper]
    if "method" in wildcards.keys():
        stem = "{0.experiment}/{0.dataset}/{0.method}.{0.chunk}".format(wildcards)
        return [jobs[stem]]
    place = wildcards.experiment, wildcards.dataset
    return [job for job in jobs.values() if (job.experiment, job.dataset) == place]


def classes_of(paper, jobs):
    """The classes of the methods that fit jobs use."""
    methods = PAPERS[paper]["methods"]
    return sorted({methods[job.method]["class"] for job in jobs})


def fit_path(paper, job, ending):
    return f"{RESULTS}/{paper}/fits/{job.stem}{ending}"


def first_chunk(paper, job):
    """The scores that a job takes its held parameters from, if it does."""
    if not pipeline.needs_first_chunk(PAPERS[paper], job):
        return None
    return fit_path(paper, replace(job, chunk=0), ".csv.gz")


def fit_inputs(wildcards):
    """The splits, warm compiled code, and what other jobs have to choose first."""
    base = f"{RESULTS}/{wildcards.paper}"
    jobs = jobs_of(wildcards)
    own = {fit_path(wildcards.paper, job, ".csv.gz") for job in jobs}
    firsts = {first_chunk(wildcards.paper, job) for job in jobs}
    return {
        "info": f"{base}/data/{wildcards.dataset}.json",
        "splits": f"{base}/splits/{protocol_of(wildcards)}/{wildcards.dataset}.npz",
        "compiled": f"{base}/compiled.json",
        "first_chunks": sorted(firsts - own - {None}),
    }


def fits_of(wildcards):
    """What a workflow job needs of each of its fit jobs."""
    paper = wildcards.paper
    return [
        {
            "plan": job,
            "config": pipeline.job_config(PAPERS[paper], job),
            "version": VERSIONS[paper, job.experiment, job.method],
            "scores": fit_path(paper, job, ".csv.gz"),
            "arrays": fit_path(paper, job, ".npz"),
            "first_chunk": first_chunk(paper, job),
        }
        for job in jobs_of(wildcards)
    ]


def names_in(paper, experiment):
    """The names of an experiment's fits, the same for each of its data sets."""
    jobs = [job for job in JOBS[paper].values() if job.experiment == experiment]
    return list(dict.fromkeys(f"{job.method}.{job.chunk}" for job in jobs))


def fit_outputs(paper, ending, experiments=None):
    return [
        fit_path(paper, job, ending)
        for job in JOBS[paper].values()
        if experiments is None or job.experiment in experiments
    ]


def data_infos(paper):
    datasets = {job.dataset for job in JOBS[paper].values()}
    return [f"{RESULTS}/{paper}/data/{dataset}.json" for dataset in sorted(datasets)]


def split_files(paper):
    files = set()
    for job in JOBS[paper].values():
        protocol = PAPERS[paper]["experiments"][job.experiment]["protocol"]
        files.add(f"{RESULTS}/{paper}/splits/{protocol}/{job.dataset}.npz")
    return sorted(files)


def artefact_names(kind):
    return {
        name
        for paper in PAPERS.values()
        for name, artefact in paper["artefacts"].items()
        if artefact["kind"] == kind
    }


def one_of(names):
    return "|".join(sorted(names)) or "(?!)"


def artefact_config(wildcards):
    """The part of a paper's configuration that an artefact depends on."""
    paper = PAPERS[wildcards.paper]
    return plan.restricted_to_artefact(paper, wildcards.artefact)


def artefact_inputs(wildcards):
    experiments = artefact_config(wildcards)["experiments"]
    datasets = {
        variant.id
        for experiment in experiments.values()
        for variant in plan.variants(experiment)
    }
    base = f"{RESULTS}/{wildcards.paper}"
    return {
        "scores": fit_outputs(wildcards.paper, ".csv.gz", experiments),
        "arrays": fit_outputs(wildcards.paper, ".npz", experiments),
        "info": [f"{base}/data/{dataset}.json" for dataset in sorted(datasets)],
        "published": published_numbers(wildcards.paper),
    }


def published_numbers(paper):
    """The transcribed numbers of a paper, with their full paths."""
    return sorted(map(str, Path(PAPERS[paper]["published"]).glob("*.csv")))


def artefact_files(paper, names=None):
    endings = {"figure": ("svg", "pdf", "csv"), "table": ("csv", "md", "tex")}
    return [
        f"{RESULTS}/{paper}/artefacts/{name}.{ending}"
        for name, artefact in PAPERS[paper]["artefacts"].items()
        if names is None or name in names
        for ending in endings[artefact["kind"]]
    ]


def published_record(paper):
    """The files of a paper that other programs read."""
    names = ("scores.csv.gz", "verdicts.csv", "claims.csv", "statistics.csv")
    return [f"{RESULTS}/{paper}/{name}" for name in (*names, "provenance.json")]


def refuse_target(wildcards):
    """Name the targets in place of one that does not exist."""
    known = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
    text = unknown("target", wildcards.name, known)
    raise WorkflowError(f"{text}; or name a result by its path")
