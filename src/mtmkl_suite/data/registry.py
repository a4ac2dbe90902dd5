"""The registry of data sets: list, locate, fetch, verify and load them."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from mtmkl.datasets.container import MultiTaskData
from mtmkl.errors import unknown
from mtmkl_suite.data.entries import DataSetEntry, own_entry, read_entries
from mtmkl_suite.data.fetch.integrity import find_problem
from mtmkl_suite.data.fetch.obtaining import Places, obtain
from mtmkl_suite.data.loaders.own import is_own
from mtmkl_suite.data.options import option_problem
from mtmkl_suite.data.scaling import scaled_inputs, scaled_targets
from mtmkl_suite.documents import config_dir

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
        self,
        name: str,
        *,
        mirror: str | Path | None = None,
        download: bool = True,
        **options: Any,
    ) -> MultiTaskData:
        """Obtain, check and read a data set.

        The name is a registered one, or data of one's own, see
        :mod:`mtmkl_suite.data.loaders.own`. Files come from the ``mirror``, a folder
        with one folder per data set (by default ``MTMKL_DATA_MIRROR``), from the cache,
        or from the network. Options are those of the set's loader, such as ``bias`` or
        ``n_irrelevant``; and ``inputs`` and ``targets``, see
        :mod:`mtmkl_suite.data.scaling`.

        Errors say where a file was looked for, and the remedy.
        """
        entry, loader = self[name], self.check_options(name, options)
        wanted = {name: options.pop(name) for name in _SCALED if name in options}
        if not entry.files and not entry.uses:
            data = loader(**options)
        else:
            places = Places(mirror)
            files: dict[str, Path] = {}
            for part in self.parts(name):
                found = obtain(part, places, download=download, repair=False)
                prefix = "" if part.name == entry.name else f"{part.name}/"
                files |= {prefix + path: place[1] for path, place in found.items()}
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

    def locate(self, name: str, *, mirror: str | Path | None = None) -> Place | None:
        """Tell where a data set is, from the names of its files alone.

        "cache" if some or all files are there and not in the mirror, None if one is
        missing or the files are the user's own.
        """
        entry, places = self[name], Places(mirror)
        if not entry.files and not entry.uses:
            return None if entry.own_files else "built-in"
        found = {
            places.find(part, file) for part in self.parts(name) for file in part.files
        }
        kinds = {None if place is None else place[0] for place in found}
        if None in kinds:
            return None
        return "cache" if "cache" in kinds else "mirror"

    def fetch(
        self, names: str | Iterable[str], *, mirror: str | Path | None = None
    ) -> list[dict[str, Any]]:
        """Download what is missing of data sets, and return a row per file.

        A damaged file in the cache is replaced, one in the mirror is an error; files
        that were complete before stay. Each source is "mirror", "cache", "shipped" or
        "downloaded".
        """
        places = Places(mirror)
        rows = []
        for entry in [part for name in _as_names(names) for part in self.parts(name)]:
            found = obtain(entry, places, download=True, repair=True)
            for file in entry.files:
                source, path = found[file.path]
                row = {"dataset": entry.name, "file": file.path, "bytes": file.bytes}
                rows.append({**row, "source": source, "path": str(path)})
        return rows

    def verify(
        self,
        names: str | Iterable[str] | None = None,
        *,
        mirror: str | Path | None = None,
    ) -> list[dict[str, Any]]:
        """Check the files of data sets, all by default, without downloading.

        The status of each is "ok", "corrupt" or "missing"; the detail says what is
        wrong.
        """
        places = Places(mirror)
        entries = list(self._entries.values())
        if names is not None:
            entries = [part for name in _as_names(names) for part in self.parts(name)]
        rows = []
        for entry in entries:
            for file in entry.files:
                row = {"dataset": entry.name, "file": file.path}
                status, source, path, problem = "missing", "", "", None
                if (place := places.find(entry, file)) is not None:
                    sums = places.checksums(entry, file)
                    problem = find_problem(
                        place[1], file, checksums=sums, remember=False
                    )
                    status = "corrupt" if problem else "ok"
                    source, path = place[0], str(place[1])
                row |= {"status": status, "source": source, "path": path}
                rows.append({**row, "detail": problem or ""})
        return rows

    def parts(self, name: str) -> Iterator[DataSetEntry]:
        """Yield a data set, and what it uses of others."""
        yield self[name]
        for use in self[name].uses:
            other, _, path = use.partition("/")
            yield self[other].model_copy(update={"files": [self[other].file(path)]})


def _as_names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    """Return the registry of ``config/datasets.yaml``, read once per process."""
    return Registry(config_dir() / "datasets.yaml")


def load(
    name: str,
    *,
    mirror: str | Path | None = None,
    download: bool = True,
    **options: Any,
) -> MultiTaskData:
    """Obtain, check and read a registered data set; see ``Registry.load``."""
    return default_registry().load(name, mirror=mirror, download=download, **options)
