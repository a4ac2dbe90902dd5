"""JSON schemas of the configuration, for editors: ``python -m`` and a folder."""

import json
import sys
from pathlib import Path

from mtmkl_suite.config import models
from mtmkl_suite.data.entries import DataSets
from mtmkl_suite.documents import Model

FILES: dict[str, type[Model]] = {
    "config": models.Run,
    "datasets": DataSets,
    "experiments": models.ExperimentsFile,
    "artefacts": models.ArtefactsFile,
    "claims": models.ClaimsFile,
    "readings": models.ReadingsFile,
}
"""Configuration files without their ending, and the models of what they hold."""


def write_schemas(folder: Path) -> None:
    """Write a schema for each file, with the values of one tier and no ``for_each``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in FILES.items():
        text = json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False)
        (folder / f"{name}.schema.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
