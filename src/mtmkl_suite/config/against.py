"""A method of one's own against a published record: its baselines are not fitted again.

The record has their scores on splits that follow from the seed and the data alone. The
method is fitted on the same splits, and its scores join those of the record.
Experiments whose data are missing here are left out.
"""

from collections.abc import Collection
from pathlib import Path

from mtmkl_suite.config.models import Paper, Record, Table
from mtmkl_suite.config.parts import with_experiments
from mtmkl_suite.documents import config_dir
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import read_json


def published_folder(paper: str) -> Path:
    """Return the folder of a paper's published record, in a checkout."""
    figures = config_dir().parent / "figures"
    folder = figures / paper
    if (folder / "scores.csv.gz").is_file():
        return folder
    known = published_papers()
    if not known:
        raise ConfigError(
            f"{figures} does not exist: published records are in the repository and "
            "not in the package, so run this in a checkout"
        )
    raise ConfigError(
        f"paper {paper!r} has no published record; published: {', '.join(known)}"
    )


def published_papers() -> list[str]:
    """Return the ids of the papers with a published record, none outside a checkout."""
    found = (config_dir().parent / "figures").glob("*/scores.csv.gz")
    return sorted(path.parent.name for path in found)


def compared_config(config: Paper) -> Paper:
    """Return what of a paper's configuration a method can be compared in.

    These are the experiments that choose hyper-parameters, without claims, the tables
    that show them, and the comparisons over data sets that no paper printed.
    """
    chosen = [k for k, each in config.experiments.items() if each.mode == "select"]
    if not chosen:
        raise ConfigError(
            f"--against published: {', '.join(config.experiments)} records a path "
            "and compares nothing: take another --experiment"
        )
    return _comparing(config, chosen).model_copy(update={"claims": []})


def _comparing(config: Paper, experiments: Collection[str]) -> Paper:
    """Return a configuration with some experiments and what compares methods there."""
    kept = [
        name
        for name, artefact in config.artefacts.items()
        if (isinstance(artefact, Table) and artefact.experiment in experiments)
        or (
            artefact.comparison
            and artefact.comparison.pairs
            and not set(artefact.shown).isdisjoint(experiments)
        )
    ]
    return with_experiments(config, experiments, kept)


def with_record(config: Paper, seed: int) -> Paper:
    """Return a configuration of which only the methods that joined are fitted.

    ``seed``: The root seed, which has to be that of the record.
    """
    if not config.own:
        raise ConfigError(
            "--against published needs --method NAME or package.module:Class that is "
            "not among the methods of the record"
        )
    joined = [
        name
        for name, experiment in config.experiments.items()
        if {entry.method for entry in experiment.methods} & {*config.own}
    ]
    config = _comparing(config, joined)
    folder = published_folder(config.paper.id)
    published = read_json(folder / "provenance.json")
    if published["seed"] != seed:
        raise ConfigError(
            f"--against published: the record has splits of seed {published['seed']}, "
            f"not {seed}: leave out the key 'seed'"
        )
    machine = published.get("machine", {}).get("processor", "another machine")
    note = (
        f"Scores of all other methods are those of the published record, commit "
        f"{str(published.get('commit'))[:12]}; their seconds were measured on "
        f"{machine}, those of the joining method here."
    )
    return config.model_copy(update={"record": Record(folder=folder, note=note)})


def with_data(config: Paper, here: Collection[str]) -> Paper:
    """Return a configuration with the experiments whose data sets are here."""
    kept = [
        name
        for name, experiment in config.experiments.items()
        if any(variant.id in here for variant in experiment.variants)
    ]
    return _comparing(config, kept)
