"""The data sets of a run and of its published records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtmkl.datasets import default_registry
from mtmkl_suite.config.models import Variant


@dataclass(frozen=True)
class DataUse:
    """A data set, with its options, in the experiments of a paper.

    Attributes
    ----------
    name : str
        Registered name.
    info : mapping
        What is known of it: title, origin, licence, citation, and more if it is there.
    paper, paper_name : str
        Id and short citation.
    options : str
        In words; "" for none.
    experiments : list of str
        Titles.
    is_of_run : bool
        False for one that only the full protocols use.
    digest, record_digest : str
        Hash of the content here and in the published record; "" where there is none.
    """

    name: str
    info: Mapping[str, Any]
    paper: str
    paper_name: str
    options: str
    experiments: list[str]
    is_of_run: bool
    digest: str
    record_digest: str

    @property
    def is_here(self) -> bool:
        """Whether the run had the data."""
        return self.info.get("status") == "ok"

    @property
    def hash_in_words(self) -> str:
        """The hash, and whether it is that of the published record."""
        if not self.digest:
            return f"{self.record_digest} (published record)" * bool(self.record_digest)
        if not self.record_digest:
            return self.digest
        if self.digest == self.record_digest:
            return f"{self.digest}, as in the published record"
        return f"{self.digest}; published record: {self.record_digest}"


def data_uses(
    config: Mapping[str, Any],
    paper_name: str,
    infos: Mapping[str, Mapping[str, Any]],
    *,
    published: Mapping[str, Mapping[str, Any]],
    full: Mapping[str, Any] | None,
) -> list[DataUse]:
    """Return the data sets of a paper's experiments."""
    found = _by_variant(config)
    uses = [
        DataUse(
            name=variant.name,
            info=infos.get(variant.id, {}),
            paper=config["paper"]["id"],
            paper_name=paper_name,
            options=options_in_words(variant.options),
            experiments=titles,
            is_of_run=True,
            digest=str(infos.get(variant.id, {}).get("digest", "")),
            record_digest=str(published.get(variant.id, {}).get("digest", "")),
        )
        for variant, titles in found.values()
    ]
    others = _by_variant(full) if full else {}
    return uses + [
        DataUse(
            name=variant.name,
            info=default_registry()[variant.name].describe(),
            paper=config["paper"]["id"],
            paper_name=paper_name,
            options=options_in_words(variant.options),
            experiments=titles,
            is_of_run=False,
            digest="",
            record_digest=str(published.get(variant.id, {}).get("digest", "")),
        )
        for key, (variant, titles) in others.items()
        if key not in found
    ]


def title_of(uses: Sequence[DataUse]) -> str:
    """Return the title of a data set, from all its uses."""
    return next((str(u.info["title"]) for u in uses if "title" in u.info), uses[0].name)


def variant_in_words(variant: Variant, info: Mapping[str, Any]) -> str:
    """Return a data set with its options for people."""
    title = str(info.get("title", variant.name.rpartition("/")[2]))
    options = options_in_words(variant.options)
    return f"{title} ({options})" if options else title


def options_in_words(options: Mapping[str, Any]) -> str:
    """Return options such as ``n_per_class=20`` as "n per class: 20"."""
    return "; ".join(
        f"{key.replace('_', ' ')}: {_value(value)}" for key, value in options.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "none"
    return str(value).replace("_", " ") if isinstance(value, str) else f"{value}"


def _by_variant(config: Mapping[str, Any]) -> dict[str, tuple[Variant, list[str]]]:
    found: dict[str, tuple[Variant, list[str]]] = {}
    for experiment in config["experiments"].values():
        for variant in experiment.variants:
            _, titles = found.setdefault(variant.id, (variant, []))
            if experiment["title"] not in titles:
                titles.append(experiment["title"])
    return found
