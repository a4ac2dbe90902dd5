"""Results of methods that are compared with a published record."""

from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.errors import ConfigError
from mtmkl.files import read_json, read_table, write_table
from mtmkl_suite.config.against import with_data
from mtmkl_suite.config.models import Paper, Run
from mtmkl_suite.report.context import load_context
from mtmkl_suite.report.record.artefacts import write_artefact
from mtmkl_suite.report.record.record import write_what_follows
from mtmkl_suite.run.fits import collect_scores
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.pipeline import missing_data

_TEXT: dict[str, Any] = {"dtype": str, "keep_default_na": False}


def available(config: Paper, folder: PaperFolder) -> Paper:
    """Return a configuration with what a method can be compared in here.

    Of one that compares with no record nothing is left out.
    """
    if config.record is None:
        return config
    ids = dict.fromkeys(
        variant.id
        for experiment in config.experiments.values()
        for variant in experiment.variants
    )
    infos = {name: read_json(folder.data_info(name)) for name in ids}
    found = with_data(config, [k for k, v in infos.items() if v["status"] == "ok"])
    if not found.experiments:
        missing = missing_data(map(folder.data_info, ids))
        raise ConfigError("\n".join(["no experiment has its data here:", *missing]))
    return found


def write_compared(config: Paper, folder: PaperFolder, run: Run) -> None:
    """Write scores of the record and of the joining methods, and what follows."""
    config = available(config, folder)
    collect_scores(config, folder)
    write_table(folder.scores, _merged(config, folder.scores))
    context = load_context(config, folder)
    for name in config.artefacts:
        write_artefact(name, context, folder)
    write_what_follows(config, folder, run)


def _merged(config: Paper, own: Path) -> pd.DataFrame:
    """Return the rows of the record that are compared, and the new ones."""
    published = read_table(config.record.folder / "scores.csv.gz", **_TEXT)
    new = read_table(own, **_TEXT)
    repeats = {name: config.n_repeats(name) for name in config.experiments}
    mine = published["experiment"].map(repeats)
    of_record = ~published["method"].isin(config.own)
    is_compared = pd.to_numeric(published["repeat"], errors="coerce").fillna(0) < mine
    both = pd.concat([published[is_compared & of_record], new], ignore_index=True)
    return both[new.columns].fillna("")
