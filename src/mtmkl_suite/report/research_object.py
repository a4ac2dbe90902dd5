"""All published records as a research object: a Workflow Run RO-Crate, a codecheck."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from mtmkl_suite.config.load import load_paper, published_papers
from mtmkl_suite.config.models import Paper
from mtmkl_suite.files import read_json, write_json, write_text
from mtmkl_suite.run.provenance import commit_date

CRATE, CODECHECK = "ro-crate-metadata.json", "codecheck.yml"
"""Their files, in the folder that holds workflow, configuration and record."""

_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_LICENCE = "https://spdx.org/licenses/BSD-3-Clause"
_TITLE = "mtmkl: papers on multi-task and multiple-kernel learning, repeated"
_SUMMARY = "Workflow, configuration, scores, tables and figures of papers, repeated."
_AUTHORS = "The mtmkl developers"
_CHECK = (
    "After make install, `.venv/bin/mtmkl verify --minutes 15` computes 300 fits of "
    "the record anew and compares them; `make paper` computes all of it. "
    "docs/verify.md explains both."
)
_FORMATS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
}


def write_research_object(configs: Sequence[Paper], root: Path) -> None:
    """Write crate and codecheck of published papers, in their checkout."""
    write_json(root / CRATE, crate_of(configs, root))
    manifest = [
        {"file": path, "comment": f"{config.paper.title}: {artefact.title}"}
        for config in configs
        for name, artefact in config.artefacts.items()
        for path in [f"figures/{config.paper.id}/{name}.csv"]
        if (root / path).is_file()
    ]
    codecheck = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": _TITLE, "authors": [{"name": _AUTHORS}]},
        "manifest": manifest,
        "summary": _CHECK,
    }
    text = yaml.safe_dump(codecheck, sort_keys=False, allow_unicode=True)
    write_text(root / CODECHECK, f"---\n{text}")


def crate_of(configs: Sequence[Paper], root: Path) -> Any:
    """Return the metadata of the crate: one run of the workflow per paper."""
    records = [
        (config, read_json(root / "figures" / config.paper.id / "provenance.json"))
        for config in configs
    ]
    crate = ROCrate(gen_preview=False, version="1.1")

    def add(identifier: str, kind: str, **properties: Any) -> Entity:
        named = {"@type": kind, **properties}
        return crate.add(ContextEntity(crate, identifier, properties=named))

    authors = add("#authors", "Organization", name=_AUTHORS)
    crate.name, crate.description = _TITLE, _SUMMARY
    crate.datePublished = max(commit_date(each["commit"]) for _, each in records)
    crate.license = add(_LICENCE, "CreativeWork", name="BSD-3-Clause", url=_LICENCE)
    crate.publisher = crate.root_dataset["author"] = authors
    crate.root_dataset["conformsTo"] = [
        add(url, "CreativeWork", name=name, version=url.rpartition("/")[-1])
        for url, name in _PROFILES.items()
    ]
    described = {"encodingFormat": "text/markdown", "about": crate.root_dataset}
    crate.add_file(root / "README.md", "README.md", properties=described)
    for name in ("config", "src", "workflow"):
        crate.add_directory(root / name, f"{name}/", properties={"name": name})
    source = root / "Snakefile"
    workflow = crate.add_workflow(source, "Snakefile", main=True, lang="snakemake")
    workflow["encodingFormat"], workflow["license"] = "text/plain", crate.license
    workflow["version"] = records[-1][1]["packages"]["mtmkl"]
    parameters = {
        name: add(f"#{name}", "FormalParameter", additionalType="Text", name=name)
        for name in ("tier", "seed")
    }
    workflow["input"] = list(parameters.values())
    for config, record in records:
        paper = config.paper.id
        given = []
        for name, parameter in parameters.items():
            like = {"value": str(record[name]), "exampleOfWork": parameter}
            given.append(add(f"#{paper}-{name}", "PropertyValue", name=name, **like))
            parameter.append_to("workExample", given[-1])
        for name, data in sorted(record["data"].items()):
            where, digest = f"#{paper}-data-{len(given)}", data.get("digest", "missing")
            given.append(add(where, "PropertyValue", name=name, value=digest))
        files = [
            crate.add_file(path, f"figures/{paper}/{path.name}", properties=described)
            for path in sorted((root / "figures" / paper).iterdir())
            if path.suffix in _FORMATS
            for described in [{"encodingFormat": _FORMATS[path.suffix]}]
        ]
        run = crate.add_action(workflow, f"#run-{paper}", given, files)
        run["name"] = f"{config.paper.title}, {record['tier']} tier"
        run["description"] = f"Computed at commit {record['commit']}"
        run["endTime"], run["agent"] = commit_date(record["commit"]), authors
        crate.root_dataset.append_to("mentions", run)
    return crate.metadata.generate()


if __name__ == "__main__":  # make release
    write_research_object(
        [load_paper(each, "paper") for each in published_papers()], Path()
    )
