"""The repository's workflow on the smallest paper, in a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml
from interrupts import allow_interrupts

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TINY = HERE / "papers" / "tiny"
TIME_COLUMNS = ["fit_seconds"]


class TinyWorkflow:
    """The repository's Snakefile on ``papers/tiny``."""

    def __init__(self, folder: Path, **config):
        self.folder = folder
        document = {
            "tier": "quick", "papers": [str(TINY)], "seed": 1, "mirror": None,
            "download": "never", "on_missing_data": None,
        } | config  # fmt: skip
        self.config = folder / "config.yaml"
        self.config.write_text(yaml.safe_dump(document))
        self.run_folder = folder / "results" / f"{document['tier']}+tiny+seed=1"

    def command(self, *arguments, cores=2):
        return [
            sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"),
            "--directory", str(self.folder), "--configfile", str(self.config),
            "--profile", str(ROOT / "profiles/default"), "--cores", str(cores),
            *arguments,
        ]  # fmt: skip

    def environment(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MTMKL_")}
        places = (HERE, self.folder, ROOT / "src")
        return clean | {"PYTHONPATH": os.pathsep.join(map(str, places))}

    def run(self, *arguments, cores=2):
        return subprocess.run(
            self.command(*arguments, cores=cores), capture_output=True, text=True,
            env=self.environment(), check=False,
        )  # fmt: skip

    def start(self, *arguments, cores=2, **variables):
        """Start a run in a process group of its own, as a shell would."""
        return subprocess.Popen(
            self.command(*arguments, cores=cores), env=self.environment() | variables,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            start_new_session=True, preexec_fn=allow_interrupts,
        )  # fmt: skip

    def results(self, name):
        return self.run_folder / "tiny" / name

    def target(self, name):
        return str(self.results(name).relative_to(self.folder))

    def scores(self):
        scores = pd.read_csv(self.results("scores.csv.gz"), keep_default_na=False)
        return scores.drop(columns=TIME_COLUMNS).to_csv(index=False)
