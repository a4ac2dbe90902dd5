"""A method of one's own against a published record: its rivals are not fitted again.

The record has their scores on splits that follow from the seed and the data alone. The
method is fitted on the same splits, and its scores join those of the record.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl.documents import ConfigError
from mtmkl.files import read_json, read_table, write_table
from mtmkl_suite.config.models import (
    Artefact,
    Figure,
    MethodComparison,
    Paper,
    Table,
)
from mtmkl_suite.run.layout import PaperFolder
from mtmkl_suite.run.published import published_folder

if TYPE_CHECKING:
    import pandas as pd

_TEXT: dict[str, Any] = {"dtype": str, "keep_default_na": False}


def compared_config(config: Paper) -> Paper:
    """Return what of a paper's configuration a method can be compared in.

    These are the experiments that choose hyper-parameters, without claims, the tables
    that show them, and the comparisons over data sets that no paper printed.
    """
    experiments = {
        name: each for name, each in config.experiments.items() if each.mode == "select"
    }
    if not experiments:
        raise ConfigError(
            f"--against published: {', '.join(config.experiments)} records a path "
            "and compares nothing: take another --experiment"
        )
    artefacts = {
        name: artefact
        for name, artefact in config.artefacts.items()
        if _is_kept(artefact, experiments)
    }
    found = {"experiments": experiments, "artefacts": artefacts, "claims": []}
    return config.model_copy(update=found)


def _is_kept(artefact: Artefact, experiments: Collection[str]) -> bool:
    if isinstance(artefact.comparison, MethodComparison):
        return any(name in experiments for name in artefact.shown)
    return isinstance(artefact, Table) and artefact.experiment in experiments


def fewer_repeats(config: Paper, repeats: int) -> Paper:
    """Return a configuration with the first repeats of each experiment."""
    counts = {name: config.n_repeats(name) for name in config.experiments}
    if max(counts.values()) <= repeats:
        return config
    experiments = {
        name: each.model_copy(update={"repeats": min(repeats, counts[name])})
        for name, each in config.experiments.items()
    }
    found = {"experiments": experiments, "changes": {"repeats": repeats}}
    return config.model_copy(update=found)


def joining_config(config: Paper) -> Paper:
    """Return what is fitted: the joining methods alone."""
    if not config.own:
        raise ConfigError(
            "--against published needs --method NAME or package.module:Class that is "
            "not among the methods of the record"
        )
    experiments = {}
    for name, experiment in config.experiments.items():
        methods = [each for each in experiment.methods if each.method in config.own]
        if methods:
            experiments[name] = experiment.model_copy(update={"methods": methods})
    found = {"experiments": experiments, "artefacts": {}, "claims": []}
    return config.model_copy(update=found)


def check_record(config: Paper, folder: PaperFolder, run: Mapping[str, Any]) -> None:
    """Check that data and seed are those of the published scores."""
    from mtmkl_suite.report.record.rejudge import check_same

    published = read_json(published_folder(config.paper.id) / "provenance.json")
    data_info = _here(config, folder)
    named = {k: v for k, v in published["data"].items() if k in data_info}
    check_same({**published, "data": named}, data_info, run)


def available(config: Paper, folder: PaperFolder) -> Paper:
    """Return a configuration with the experiments whose data are here."""
    here = _here(config, folder)
    experiments = {
        name: experiment
        for name, experiment in config.experiments.items()
        if any(variant.id in here for variant in experiment.variants)
    }
    artefacts = {
        name: _of_experiments(artefact, experiments)
        for name, artefact in config.artefacts.items()
        if _is_kept(artefact, experiments)
    }
    found = {"experiments": experiments, "artefacts": artefacts}
    return config.model_copy(update=found)


def _of_experiments(artefact: Artefact, experiments: Collection[str]) -> Artefact:
    """Return an artefact whose comparison has the data sets of some experiments."""
    comparison = artefact.comparison
    if comparison is None:
        return artefact
    rows = {k: v for k, v in comparison.rows.items() if v.experiment in experiments}
    found: dict[str, Any] = {"comparison": comparison.model_copy(update={"rows": rows})}
    if isinstance(artefact, Figure):
        kept = [name for name in artefact.experiments if name in experiments]
        found["experiments"] = kept
    return artefact.model_copy(update=found)


def write_merged(config: Paper, folder: PaperFolder, run: Mapping[str, Any]) -> None:
    """Write scores of the record and of the joining methods, and what follows."""
    from mtmkl_suite.report.pages.build import write_artefact
    from mtmkl_suite.report.pages.context import load_context
    from mtmkl_suite.report.record.record import write_what_follows

    write_table(folder.scores, _merged(config, folder.scores))
    context = load_context(config, folder)
    for name in config.artefacts:
        write_artefact(name, context, folder)
    write_what_follows(config, folder, run)


def note_on_record(paper: str) -> str:
    """Say from which record the rivals' scores are."""
    published = read_json(published_folder(paper) / "provenance.json")
    machine = published.get("machine", {}).get("processor", "another machine")
    return (
        f"Scores of all other methods are those of the published record, commit "
        f"{str(published.get('commit'))[:12]}; their seconds were measured on "
        f"{machine}, those of the joining method here."
    )


def _merged(config: Paper, own: Path) -> "pd.DataFrame":
    """Return the rows of the record that are compared, and the new ones."""
    import pandas as pd

    path = published_folder(config.paper.id) / "scores.csv.gz"
    published = read_table(path, **_TEXT)
    new = read_table(own, **_TEXT)
    repeats = {name: config.n_repeats(name) for name in config.experiments}
    mine = published["experiment"].map(repeats)
    of_record = ~published["method"].isin(config.own)
    is_compared = pd.to_numeric(published["repeat"], errors="coerce").fillna(0) < mine
    both = pd.concat([published[is_compared & of_record], new], ignore_index=True)
    return both[new.columns].fillna("")


def _here(config: Paper, folder: PaperFolder) -> dict[str, Any]:
    """Return what is known of the data sets that are not missing."""
    ids = dict.fromkeys(
        variant.id
        for experiment in config.experiments.values()
        for variant in experiment.variants
    )
    infos = {name: read_json(folder.data_info(name)) for name in ids}
    return {name: info for name, info in infos.items() if info["status"] == "ok"}
