"""Configuration files in which one key is wrong."""

import shutil

import numpy as np
import yaml

from faults.table import fault
from mtmkl_suite.config.load import FILES, load_paper, load_run_config
from mtmkl_suite.config.models import Artefact, ReadingsFile, Run
from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.config.runs import load_papers
from mtmkl_suite.data.entries import DataSets
from mtmkl_suite.data.registry import Registry
from mtmkl_suite.documents import config_dir, read_yaml, read_yaml_text
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.run.checks import check_names
from mtmkl_suite.run.pipeline import use_mirror

SEED = 20
EDITS = ("removed", "misspelt", "of another type", "of unknown value")
SHARES = (0.15, 0.2, 0.15, 0.5)


class Dumper(yaml.SafeDumper):
    """Texts stay texts in YAML 1.2, and nothing is shared."""

    def ignore_aliases(self, data):
        return True


Dumper.add_representer(
    str, lambda d, s: d.represent_scalar("tag:yaml.org,2002:str", s, style='"')
)
# Nothing in any file takes this.
OTHER_TYPE = [[{"?": [None]}]]


def places(document, path=()):
    """Yield the path of every key of a document."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield (*path, key)
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from places(value, (*path, number))


def written(document):
    return yaml.dump(document, Dumper=Dumper, allow_unicode=True, sort_keys=False)


def edited(document, path, edit):
    """Return the document with an edit at a key, None if it makes no difference."""
    *parents, key = path
    if {"quick", "paper"} <= {*path}:  # of the other tier, and no run takes it
        return None
    if path[0] == "claims" and len(path) > 4 and edit in ("misspelt", EDITS[-1]):
        args = document["claims"][path[1]].get("args", {})
        if "step" in args and path[2] == "args":
            return None  # of a table that only the step knows
    if path[0] == "experiments" and key in ("quick", "paper"):
        tiers = document["experiments"][path[1]].get("tiers", [key])
        if key not in tiers:  # an anchor's, and no run takes it
            return None
    holder = document
    for step in parents:
        holder = holder[step]
    if edit == "removed":
        del holder[key]
    elif edit == "misspelt":
        pairs = [(f"{k}zz" if k == key else k, v) for k, v in holder.items()]
        holder.clear()
        holder.update(pairs)
    elif edit == "of another type":
        holder[key] = OTHER_TYPE
    else:
        if isinstance(holder[key], dict | list):
            return None
        holder[key] = "zzz"
    return document


def check(file, folder, tier):
    """Read a changed file as a run would before it starts any work."""
    if file.name == "config.yaml":
        run = load_run_config(read_yaml(folder / file.name))
        use_mirror(run.mirror)
        load_papers(run)
    elif file.name == "datasets.yaml":
        list(Registry(folder / file.name))
    else:
        check_names(load_paper(folder, tier))
        if (folder / "readings.yaml").is_file():
            check_names(load_readings(folder, tier))


def model_keys():
    """Return every key that a model knows by name."""

    def found(schema):
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
            for part in schema.values():
                yield from found(part)

    models = [Run, DataSets, *FILES.values(), ReadingsFile, *Artefact.__subclasses__()]
    return {key for model in models for key in found(model.model_json_schema())}


KNOWN = model_keys()
# Of named grids it is the copies at the methods that count.
FREE = {"lists", "for_each", "grids"}
# Keys whose value may be any text: what readers see, and names that are defined there.
TEXTS = {
    "authors", "citation", "corner", "doi", "heading", "id", "label", "licence", "main",
    "metric_label", "notes", "original_url", "printed", "quote", "reason", "results",
    "section", "source", "tested", "title", "unit", "venue",
}  # fmt: skip
# Mappings whose keys are names of one's own, which may be those of other keys.
NAMED = {"alternatives", "n_per_class", "readings"}
# Names that only files of data, or the table that a step computes, can confirm.
OF_DATA = {
    "column", "distances", "level", "matrix", "member", "path", "similarity", "solver",
}  # fmt: skip


def judged(file, folder, path, edit):
    """Return what is wrong with the answer to an edit, nothing if it is right."""
    shown = f"{file.parent.name}/{file.name}, {'.'.join(map(str, path))} {edit}"
    try:
        # What one tier leaves out is checked where the other runs it.
        for tier in ("paper", "quick"):
            check(file, folder, tier)
    except (ConfigError, ValueError) as error:
        message = str(error)
        # What is listed in one file may be missed in another that uses it.
        if ".yaml" not in message:
            return f"{shown}: no file is named: {message[:300]}"
        words = [step for step in path if isinstance(step, str)]
        # An unknown name is found where it is used, and what is listed, too.
        is_named = any(word in message for word in [*words[-3:], "zz"])
        if not is_named and not FREE & {*path}:
            return f"{shown}: the key is not named: {message[:300]}"
        return ""
    except Exception as error:
        return f"{shown}: {type(error).__name__}: {error}"
    if FREE & {*path} or may_be(path, edit):
        return ""
    return f"{shown}: accepted"


def may_be(path, edit):
    """Tell whether an edit leaves a file that is legal."""
    key = next(step for step in reversed(path) if isinstance(step, str))
    if edit == "of another type":
        return "gamma" in path  # may be one for each task, and data tell how many
    if edit == "of unknown value":
        return "in_place" in path or key in TEXTS | OF_DATA
    # Names are free, and what is removed may be optional.
    is_name = {*path[-2:-1]} & NAMED or path[-1] not in KNOWN
    return edit == "removed" or bool(is_name)


def candidates():
    """Return (file, paths) of the keys and list items that have the same place.

    The place is the file's name and the path without numbers and names of one's own.
    """
    files = sorted(config_dir().glob("*.yaml"))
    files += sorted((config_dir() / "papers").glob("*/*.yaml"))
    found = {}
    for file in files:
        for path in places(read_yaml(file)):
            kept = tuple(step if step in KNOWN else "*" for step in path)
            found.setdefault((file.name, kept), []).append((file, path))
    return list(found.values())


@fault(
    "Configuration with a wrong key",
    "A key or list item of any YAML file removed, misspelt, of another type or of "
    "unknown value, options and selectors too: an error that names file and key "
    "before any work, or legal",
    few=8,
    many=600,
)
def keys(count, scratch):
    """Change keys that are drawn from all places, and of each from all files."""
    rng = np.random.default_rng(SEED)
    alike = candidates()
    folder = scratch / "edited"
    done = 0
    while done < count:
        for number in rng.permutation(len(alike)):
            if done == count:
                break
            file, path = alike[number][rng.integers(len(alike[number]))]
            edit = EDITS[rng.choice(len(EDITS), p=SHARES)]
            if edit == "misspelt" and not isinstance(path[-1], str):
                continue
            # Read from what is written, no two keys hold the same object.
            document = read_yaml_text(written(read_yaml(file)), source=str(file))
            changed = edited(document, path, edit)
            if changed is None:
                continue
            done += 1
            shutil.rmtree(folder, ignore_errors=True)
            others = shutil.ignore_patterns("papers", "own_data")
            shutil.copytree(file.parent, folder, ignore=others)
            (folder / file.name).write_text(written(changed), encoding="utf-8")
            yield judged(file, folder, path, edit)
