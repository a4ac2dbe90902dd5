"""The registry of data sets: list, locate, fetch, verify and load them."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from sklearn.utils._param_validation import make_constraint

from mtmkl.datasets.container import MultiTaskData
from mtmkl.errors import unknown
from mtmkl_suite.data.entries import DataSetEntry, own_entry, read_entries
from mtmkl_suite.data.fetch.obtaining import Places, obtain
from mtmkl_suite.data.loaders.own import is_own
from mtmkl_suite.data.scaling import scaled_inputs, scaled_targets
from mtmkl_suite.documents import config_dir, demand

_YAML = (bool, int, float, str, NoneType, Any)
_STRICT = ConfigDict(strict=True, allow_inf_nan=False)

Place = Literal["mirror", "cache", "built-in"]

# Options of every set.
_SCALED: dict[str, Callable[..., MultiTaskData]] = {
    "inputs": scaled_inputs,
    "targets": scaled_targets,
}


class Registry:
    """Data sets by name, from a file such as ``config/datasets.yaml``."""

    def __init__(self, path: Path) -> None:
        self._entries = read_entries(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __getitem__(self, name: str) -> DataSetEntry:
        if name not in self._entries and is_own(name):
            return own_entry(name)
        if name not in self._entries:
            raise ValueError(unknown("data set", name, sorted(self._entries)))
        return self._entries[name]

    def load(
        self, name: str, *, download: bool = True, **options: Any
    ) -> MultiTaskData:
        """Obtain, check and read a data set.

        The name is a registered one, or data of one's own, see
        :mod:`mtmkl_suite.data.loaders.own`. Options are those of the set's loader, such
        as ``bias`` or ``n_irrelevant``; and ``inputs`` and ``targets``, see
        :mod:`mtmkl_suite.data.scaling`.
        """
        entry, loader = self[name], self.check_options(name, options)
        wanted = {name: options.pop(name) for name in _SCALED if name in options}
        if not entry.files and not entry.uses:
            data = loader(**options)
        else:
            places = Places()
            files: dict[str, Path] = {}
            for part in self.parts(name):
                found = obtain(part, places, download=download)
                prefix = "" if part.name == entry.name else f"{part.name}/"
                files |= {prefix + path: each.path for path, each in found.items()}
            data = loader(files, **options)
        if not isinstance(data, MultiTaskData):
            raise ValueError(
                f"{entry.loader} returned {type(data).__name__}, wanted a "
                "mtmkl.datasets.MultiTaskData"
            )
        if data.name != name and name in self._entries:
            raise ValueError(f"loader {entry.loader} calls {name!r} {data.name!r}")
        for option, value in wanted.items():
            data = _SCALED[option](data, value)
        return data

    def check_options(
        self, name: str, options: Mapping[str, Any]
    ) -> Callable[..., MultiTaskData]:
        """Check the name of a data set and all its options, and return its loader.

        Values are checked as far as the loader says what they are.
        """
        entry = self[name]
        loader = entry.find_loader()
        parameters = inspect.signature(loader).parameters.values()
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
        # The positional argument of registered loaders is that of their files.
        is_ones_own = name not in self._entries
        known = {
            each.name: each
            for each in parameters
            if each.kind is each.KEYWORD_ONLY
            or (is_ones_own and each.kind is each.POSITIONAL_OR_KEYWORD)
        }
        for option, value in options.items():
            if not takes_any and option not in (names := [*known, *_SCALED]):
                raise ValueError(
                    f"data set {entry.name!r}: {unknown('option', option, names)}"
                )
            asked = _SCALED.get(option, loader)
            wanted = option_problem(asked, option, value)
            if wanted is not None:
                raise ValueError(
                    f"data set {entry.name!r}: {option} is {value!r}: {wanted}"
                )
        for option, parameter in known.items():
            if parameter.default is parameter.empty and option not in options:
                raise ValueError(f"data set {entry.name!r} needs the option {option!r}")
        return loader

    def locate(self, name: str) -> Place | None:
        """Tell where a data set is, from the names of its files alone.

        "cache" if some or all files are there and not in the mirror, None if one is
        missing or the files are the user's own.
        """
        entry, places = self[name], Places()
        if not entry.files and not entry.uses:
            return None if entry.own_files else "built-in"
        found = {
            places.find(part, file) for part in self.parts(name) for file in part.files
        }
        kinds = {None if place is None else place[0] for place in found}
        if None in kinds:
            return None
        return "cache" if "cache" in kinds else "mirror"

    def fetch(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """Download what is missing of data sets, and return a row per file.

        A damaged file in the cache is replaced, one in the mirror is an error.
        """
        places = Places()
        rows = []
        for entry in [part for name in names for part in self.parts(name)]:
            found = obtain(entry, places, download=True)
            for file in entry.files:
                place = found[file.path]
                row = {"dataset": entry.name, "file": file.path, "bytes": file.bytes}
                rows.append({**row, "source": place.kind, "path": str(place.path)})
        return rows

    def verify(self, names: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Check the files of data sets, all by default, without downloading."""
        places = Places()
        entries = list(self._entries.values())
        if names is not None:
            entries = [part for name in names for part in self.parts(name)]
        rows = []
        for entry in entries:
            for file in entry.files:
                row = {"dataset": entry.name, "file": file.path, "status": "missing"}
                row |= {"source": "", "path": "", "detail": ""}
                if (found := places.check(entry, file)) is not None:
                    row["status"] = "corrupt" if found.problem else "ok"
                    row |= {"source": found.kind, "path": str(found.path)}
                    row["detail"] = found.problem or ""
                rows.append(row)
        return rows

    def parts(self, name: str) -> Iterator[DataSetEntry]:
        """Yield a data set, and what it uses of others."""
        yield self[name]
        for use in self[name].uses:
            other, _, path = use.partition("/")
            yield self[other].model_copy(update={"files": [self[other].file(path)]})


def option_problem(loader: Callable[..., Any], option: str, value: Any) -> str | None:
    """Return the demand on an option of a loader that a value does not meet.

    The loader's annotations say what its options are, or scikit-learn's
    ``validate_params`` does; one that says nothing, or names a type that YAML does not
    have, takes anything.
    """
    if constraints := getattr(loader, "_skl_parameter_constraints", None):
        possible = list(map(make_constraint, constraints[option]))
        if any(each.is_satisfied_by(value) for each in possible):
            return None
        return f"input should be {' or '.join(map(str, possible))}"
    adapter = _type_of(loader, option)
    if adapter is None:
        return None
    try:
        adapter.validate_python(
            value.item() if isinstance(value, np.generic) else value
        )
    except ValidationError as error:
        return demand(error)
    return None


@lru_cache(maxsize=512)
def _type_of(loader: Callable[..., Any], option: str) -> TypeAdapter[Any] | None:
    # Of a partial function, those of the function itself.
    function = getattr(loader, "func", loader)
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # names that only a type checker knows
        hints = inspect.get_annotations(function)
    hint = hints.get(option, Any)
    return TypeAdapter(hint, config=_STRICT) if _is_yaml(hint) else None


def _is_yaml(hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_yaml(arguments[0])
    if origin in (Union, UnionType, Sequence, Mapping):
        return all(map(_is_yaml, arguments))
    return origin is Literal or hint in _YAML


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    """Return the registry of ``config/datasets.yaml``, read once per process."""
    return Registry(config_dir() / "datasets.yaml")


def load(name: str, *, download: bool = True, **options: Any) -> MultiTaskData:
    """Obtain, check and read a registered data set; see ``Registry.load``."""
    return default_registry().load(name, download=download, **options)
