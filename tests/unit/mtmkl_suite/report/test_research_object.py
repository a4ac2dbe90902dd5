import json
import subprocess
from pathlib import Path

import pytest
import requests
import rocrate
import yaml
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester

from mtmkl_suite.config.load import load_paper, published_papers
from mtmkl_suite.report.research_object import (
    CODECHECK,
    CRATE,
    crate_of,
    write_research_object,
)
from mtmkl_suite.run.provenance import commit_date

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def configs():
    for paper in published_papers():
        record = json.loads((ROOT / f"figures/{paper}/provenance.json").read_text())
        if not commit_date(record["commit"]):
            pytest.skip(f"this clone does not have commit {record['commit']}")
    return [load_paper(paper, "paper") for paper in published_papers()]


@pytest.fixture(scope="module")
def crate(configs):
    return crate_of(configs, ROOT)


@pytest.fixture
def offline(monkeypatch):
    """Serve the terms of RO-Crate from the package that writes crates."""
    path = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
    # Version 1.3 moved two of the terms that profiles of 1.1 ask for.
    terms = path.read_bytes().replace(b"bioschemas.org/terms/", b"bioschemas.org/")

    def get(self, url, **_):
        response = requests.Response()
        response.status_code, response.url, response._content = 200, url, terms
        response.headers["Content-Type"] = "application/ld+json"
        return response

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)


def issues(folder):
    settings = models.ValidationSettings(
        rocrate_uri=str(folder),
        profile_identifier="workflow-run-crate-0.5",
        metadata_only=True,
        offline=True,
    )
    return [each.message for each in services.validate(settings).get_issues()]


@pytest.mark.nightly
def test_the_crate_is_valid(crate, offline, tmp_path):
    (tmp_path / CRATE).write_text(json.dumps(crate))
    assert issues(tmp_path) == []
    for entity in crate["@graph"]:
        entity.pop("instrument", None)
    (tmp_path / CRATE).write_text(json.dumps(crate))
    assert any("instrument" in message for message in issues(tmp_path))


def test_its_files_are_in_the_repository(crate):
    listed = {e["@id"] for e in crate["@graph"] if "File" in e["@type"]} - {CRATE}
    known = subprocess.run(
        ["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True
    )
    assert "figures/argyriou2008/scores.csv.gz" in listed
    assert listed <= set(known.stdout.splitlines())


def test_a_run_has_commit_and_data(crate):
    entities = {each["@id"]: each for each in crate["@graph"]}
    for paper in published_papers():
        provenance = json.loads((ROOT / f"figures/{paper}/provenance.json").read_text())
        run = entities[f"#run-{paper}"]
        assert provenance["commit"] in run["description"]
        values = {entities[each["@id"]]["value"] for each in run["object"]}
        assert {each["digest"] for each in provenance["data"].values()} <= values


def test_the_manifest_names_files_of_the_repository(configs, tmp_path):
    for name in ("figures", "Snakefile", "README.md", "config", "src", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    write_research_object(configs, tmp_path)
    manifest = yaml.safe_load((tmp_path / CODECHECK).read_text())["manifest"]
    assert manifest
    assert all((ROOT / each["file"]).is_file() for each in manifest)
    assert json.loads((tmp_path / CRATE).read_text())["@graph"]
