"""A method of one's own against a published record: its rivals are not fitted again.

The record has their scores on splits that follow from the seed and the data alone. The
method is fitted on the same splits, and its scores join those of the record.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl.documents import ConfigError
from mtmkl.files import read_json, read_table, write_table
from mtmkl_suite.config.load import experiments_of
from mtmkl_suite.run.layout import PaperFolder
from mtmkl_suite.run.published import published_folder

if TYPE_CHECKING:
    import pandas as pd

_TEXT: dict[str, Any] = {"dtype": str, "keep_default_na": False}


def compared_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return what of a paper's configuration a method can be compared in.

    These are the experiments that choose hyper-parameters, without claims, the tables
    that show them, and the comparisons over data sets that no paper printed.
    """
    experiments = {
        name: experiment
        for name, experiment in config["experiments"].items()
        if experiment.get("mode", "select") == "select"
    }
    if not experiments:
        raise ConfigError(
            f"--against published: {', '.join(config['experiments'])} records a path "
            "and compares nothing: take another --experiment"
        )
    artefacts = {
        name: artefact
        for name, artefact in config["artefacts"].items()
        if _is_kept(artefact, experiments)
    }
    return {**config, "experiments": experiments, "artefacts": artefacts, "claims": []}


def _is_kept(artefact: Mapping[str, Any], experiments: Collection[str]) -> bool:
    if "pairs" in artefact.get("comparison", {}):
        return any(name in experiments for name in experiments_of(artefact))
    is_table = artefact["kind"] == "table" and "layout" not in artefact
    return is_table and artefact["experiment"] in experiments


def fewer_repeats(config: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Return a configuration with the first repeats of each experiment."""
    from mtmkl_suite.run.plan import n_repeats

    counts = {name: n_repeats(config, name) for name in config["experiments"]}
    if max(counts.values()) <= repeats:
        return config
    experiments = {
        name: {**experiment, "repeats": min(repeats, counts[name])}
        for name, experiment in config["experiments"].items()
    }
    return {**config, "experiments": experiments, "changes": {"repeats": repeats}}


def joining_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration whose experiments have the joining methods alone."""
    own = config.get("own", [])
    if not own:
        raise ConfigError(
            "--against published needs --method NAME or package.module:Class that is "
            "not among the methods of the record"
        )
    experiments = {
        name: {
            **experiment,
            "methods": [e for e in experiment["methods"] if e["method"] in own],
        }
        for name, experiment in config["experiments"].items()
    }
    kept = {name: e for name, e in experiments.items() if e["methods"]}
    return {**config, "experiments": kept, "artefacts": {}, "claims": []}


def check_record(
    config: Mapping[str, Any], folder: PaperFolder, run: Mapping[str, Any]
) -> None:
    """Check that data and seed are those of the published scores."""
    from mtmkl_suite.report.record.rejudge import check_same

    published = read_json(published_folder(config["paper"]["id"]) / "provenance.json")
    data_info = _here(config, folder)
    named = {k: v for k, v in published["data"].items() if k in data_info}
    check_same({**published, "data": named}, data_info, run)


def available(config: dict[str, Any], folder: PaperFolder) -> dict[str, Any]:
    """Return a configuration with the experiments whose data are here."""
    from mtmkl_suite.run.plan import variants

    here = _here(config, folder)
    experiments = {
        name: experiment
        for name, experiment in config["experiments"].items()
        if any(variant.id in here for variant in variants(experiment))
    }
    artefacts = {
        name: _of_experiments(artefact, experiments)
        for name, artefact in config["artefacts"].items()
        if _is_kept(artefact, experiments)
    }
    return {**config, "experiments": experiments, "artefacts": artefacts}


def _of_experiments(
    artefact: dict[str, Any], experiments: Collection[str]
) -> dict[str, Any]:
    """Return an artefact whose comparison has the data sets of some experiments."""
    if "comparison" not in artefact:
        return artefact
    comparison = artefact["comparison"]
    rows = {
        name: row
        for name, row in comparison["rows"].items()
        if row["experiment"] in experiments
    }
    kept = [name for name in artefact.get("experiments", ()) if name in experiments]
    return {
        **artefact,
        **({"experiments": kept} if "experiments" in artefact else {}),
        "comparison": {**comparison, "rows": rows},
    }


def write_merged(
    config: Mapping[str, Any], folder: PaperFolder, run: Mapping[str, Any]
) -> None:
    """Write scores of the record and of the joining methods, and what follows."""
    from mtmkl_suite.report.pages.build import write_artefact
    from mtmkl_suite.report.pages.context import load_context
    from mtmkl_suite.report.record.record import write_what_follows

    write_table(folder.scores, _merged(config, folder.scores))
    context = load_context(config, folder)
    for name in config["artefacts"]:
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


def _merged(config: Mapping[str, Any], own: Path) -> "pd.DataFrame":
    """Return the rows of the record that are compared, and the new ones."""
    import pandas as pd

    from mtmkl_suite.run.plan import n_repeats

    path = published_folder(config["paper"]["id"]) / "scores.csv.gz"
    published = read_table(path, **_TEXT)
    new = read_table(own, **_TEXT)
    repeats = {name: n_repeats(config, name) for name in config["experiments"]}
    mine = published["experiment"].map(repeats)
    of_record = ~published["method"].isin(config["own"])
    is_compared = pd.to_numeric(published["repeat"], errors="coerce").fillna(0) < mine
    both = pd.concat([published[is_compared & of_record], new], ignore_index=True)
    return both[new.columns].fillna("")


def _here(config: Mapping[str, Any], folder: PaperFolder) -> dict[str, Any]:
    """Return what is known of the data sets that are not missing."""
    from mtmkl_suite.run.plan import variants

    ids = dict.fromkeys(
        variant.id
        for experiment in config["experiments"].values()
        for variant in variants(experiment)
    )
    infos = {name: read_json(folder.data_info(name)) for name in ids}
    return {name: info for name, info in infos.items() if info["status"] == "ok"}
