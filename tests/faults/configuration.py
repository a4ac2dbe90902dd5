"""Configuration files in which one key is wrong."""

import json
import shutil

import numpy as np
import yaml

from faults.table import Fault
from mtmkl.config import (
    ConfigError,
    config_dir,
    load_paper,
    load_run_config,
    read_yaml,
    schema_dir,
)
from mtmkl.datasets.registry import Registry
from mtmkl.pipeline import check_names
from mtmkl.readings import load_readings

SEED = 20
EDITS = ("removed", "misspelt", "of another type", "of unknown value")


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


def unshared(document):
    """Return a copy in which no two keys hold the same object."""
    if isinstance(document, dict):
        return {key: unshared(value) for key, value in document.items()}
    if isinstance(document, list):
        return [unshared(value) for value in document]
    return document


def edited(document, path, edit):
    """Return the document with an edit at a key, None if it makes no difference."""
    *parents, key = path
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
        load_run_config(read_yaml(folder / file.name))
    elif file.name == "datasets.yaml":
        list(Registry(folder / file.name))
    else:
        check_names(load_paper(folder, tier))
        if (folder / "readings.yaml").is_file():
            check_names(load_readings(folder, tier))


def schema_keys():
    """Return every key that a schema knows by name."""

    def found(schema):
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
            for part in schema.values():
                yield from found(part)

    return {
        key
        for path in schema_dir().glob("*.json")
        for key in found(json.loads(path.read_text(encoding="utf-8")))
    }


KNOWN = schema_keys()
# Of named grids it is the copies at the methods that count.
FREE = {"lists", "for_each", "grids"}


def judged(file, folder, path, edit):
    """Return what is wrong with the answer to an edit, nothing if it is right."""
    shown = f"{file.parent.name}/{file.name}, {'.'.join(map(str, path))} {edit}"
    try:
        # Both tiers are read for either, but values are those of the one that runs.
        check(file, folder, "quick" if "quick" in path else "paper")
    except (ConfigError, ValueError) as error:
        message = str(error)
        # What is listed in one file may be missed in another that uses it.
        if ".yaml" not in message:
            return f"{shown}: no file is named: {message[:300]}"
        words = [step for step in path if isinstance(step, str)]
        # An unknown name is found where it is used, and what is listed, too.
        is_named = any(word in message for word in [*words[-2:], "zz"])
        if not is_named and not FREE & {*path}:
            return f"{shown}: the key is not named: {message[:300]}"
        return ""
    except Exception as error:
        return f"{shown}: {type(error).__name__}: {error}"
    # Names are free, and so are the fields of what other places take entries from.
    is_known = path[-1] in KNOWN or edit == "of another type"
    if edit in {"misspelt", "of another type"} and is_known and not FREE & {*path}:
        return f"{shown}: accepted"
    return ""


def candidates():
    """Return (file, path) of every key of every file."""
    files = sorted(config_dir().glob("*.yaml"))
    files += sorted((config_dir() / "papers").glob("*/*.yaml"))
    return [(file, path) for file in files for path in places(read_yaml(file))]


def keys(count, scratch):
    """Change keys that are drawn from all files."""
    known = candidates()
    rng = np.random.default_rng(SEED)
    folder = scratch / "edited"
    done = 0
    while done < count:
        file, path = known[rng.integers(len(known))]
        edit = EDITS[done % len(EDITS)]
        is_key = isinstance(path[-1], str)
        document = unshared(read_yaml(file))
        changed = edited(document, path, edit) if is_key else None
        if changed is None:
            continue
        done += 1
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(file.parent, folder, ignore=shutil.ignore_patterns("papers"))
        text = yaml.dump(changed, Dumper=Dumper, allow_unicode=True, sort_keys=False)
        (folder / file.name).write_text(text, encoding="utf-8")
        yield judged(file, folder, path, edit)


FAULTS = [
    Fault(
        "Configuration with a wrong key",
        "A key of any YAML file removed, misspelt, of another type or of unknown "
        "value: an error that names file and key before any work, or a key that may "
        "be so",
        keys,
        few=8,
        many=400,
    ),
]
