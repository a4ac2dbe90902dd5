"""Claims on the page of their paper: matrices where one template made many."""

import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from mtmkl.documents import read_yaml
from mtmkl_suite.config.expand import expand, resolve_tier
from mtmkl_suite.config.models import Paper

_AXES = "axes"

_LABELS = ("label", "name", "text", "title", "reading", "measure", "id")

_PLACEHOLDER = re.compile(r"\{(\w+)(?:\.(\w+))?\}")

_MOST_COLUMNS = 6

_WORDS = {"dataset": "data set", "n_nodes": "nodes"}

_REFERENCE = re.compile(r"(Table|Fig)s?\.? (\d+)((?:[a-z](?:, |-|–|$)?)*)")


Claim = dict[Hashable, Any]
"""A row of ``claims.csv`` with its results in words."""


class ClaimMatrix(NamedTuple):
    """Claims that one template made, over one or two axes.

    ``title`` is the template, its axes in angle brackets; ``corner`` names the rows'.
    """

    title: str
    section: str
    corner: str
    columns: list[str]
    rows: list[tuple[str, list[Claim | None]]]


class ClaimGroups(NamedTuple):
    """All claims of a paper, and those of no matrix."""

    matrices: list[ClaimMatrix]
    singles: list[Claim]
    all: list[Claim]


def group_claims(
    claims: pd.DataFrame, reach: Mapping[str, str], config: Paper
) -> ClaimGroups:
    """Return claims in the form of their configuration."""
    rows: list[Claim] = claims.to_dict("records")
    views = {row["id"]: _in_words(row, reach) for row in rows}
    matrices = []
    placed: set[str] = set()
    for title, places in _templates(config.published.parent, config.tier):
        found = {name: axes for name, axes in places.items() if name in views}
        if len(found) > 1:
            matrices.append(_matrix(title, found, views))
            placed |= set(found)
    singles = [view for name, view in views.items() if name not in placed]
    return ClaimGroups(matrices, singles, list(views.values()))


def artefacts_of_section(section: str, artefacts: Iterable[str]) -> list[str]:
    """Return the figures and tables that a claim's section names."""
    wanted = set()
    for kind, number, letters in _REFERENCE.findall(section):
        stem = f"{'table' if kind == 'Table' else 'figure'}_{number}"
        parts = re.findall("[a-z]", letters)
        wanted |= {f"{stem}{part}" for part in parts} | {stem}
        if not parts:
            wanted.add(f"{stem}*")
    return [
        name
        for name in artefacts
        if name in wanted or re.sub("[a-z]$", "*", name) in wanted
    ]


def _in_words(row: Claim, reach: Mapping[str, str]) -> Claim:
    """Return a claim with its results, and the paper's own verdict if another."""
    own = row["own_verdict"]
    return {
        **row,
        "test": row["test"].replace("_", " "),
        "note": row["note"] if isinstance(row["note"], str) else "",
        "reach": reach.get(row["id"], ""),
        "own_verdict": own if isinstance(own, str) and own != row["verdict"] else "",
        "results": [text for text in (_own(row), _corrected(row)) if text],
    }


def _own(row: Claim) -> str:
    parts = []
    if not math.isnan(row["statistic"]):
        parts.append(f"statistic {row['statistic']:.3g}")
    parts += _p_and_interval(row["p"], row["interval_low"], row["interval_high"])
    return ", ".join(parts)


def _corrected(row: Claim) -> str:
    if math.isnan(row["rho"]):
        return ""
    ends = row["corrected_low"], row["corrected_high"]
    found = ", ".join(_p_and_interval(row["p_corrected"], *ends))
    return (
        f"corrected for shared examples (ρ = {row['rho']:.3g}): "
        f"{found or 'nothing can be tested'}"
    )


def _p_and_interval(p: float, low: float, high: float) -> Iterator[str]:
    if not math.isnan(p):
        yield "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if not math.isnan(low):
        yield f"interval {low:.3g} to {high:.3g}"


def _templates(
    folder: Path, tier: str
) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    """Yield each generated claim's template, and its claims by id with their axes."""
    path = folder / "claims.yaml"
    if not path.is_file():
        return
    document = resolve_tier(read_yaml(path), tier)
    settings = resolve_tier(read_yaml(folder / "experiments.yaml"), tier)
    lists = document.get("lists", settings.get("lists", {}))
    for entry, axes in _leaves(document["claims"], {}):
        if not axes:
            continue
        # Expanded like the claim itself, with the values of its axes beside the id.
        probe = {
            "for_each": axes,
            "id": entry["id"],
            _AXES: {name: f"{{{name}}}" for name in axes},
        }
        made = expand([probe], lists)
        text = str(entry["claim"])
        words = {
            name: _labels([one[_AXES][name] for one in made], name, text)
            for name in axes
        }
        places = {
            str(one["id"]): {_words(name): words[name][k] for name in axes}
            for k, one in enumerate(made)
        }
        yield _PLACEHOLDER.sub(_axis_in_words, text), places


def _leaves(
    entries: Sequence[Any], axes: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    for entry in entries:
        inner = {**axes, **entry.get("for_each", {})}
        if "entries" in entry:
            yield from _leaves(entry["entries"], inner)
        else:
            yield entry, inner


def _words(axis: str) -> str:
    return _WORDS.get(axis, axis.replace("_", " "))


def _axis_in_words(found: re.Match[str]) -> str:
    axis, part = found.groups()
    return (
        f"‹{_words(axis if part in (None, *_LABELS) and part != 'measure' else part)}›"
    )


def _labels(values: Sequence[Any], axis: str, text: str) -> list[str]:
    """Return the labels of an axis; if not unique, with all that the text says."""
    labels = [_label(value) for value in values]
    if len(set(labels)) == len({repr(value) for value in values}):
        return labels
    said = [part for name, part in _PLACEHOLDER.findall(text) if name == axis and part]
    return [", ".join(str(value[part]) for part in said) for value in values]


def _label(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    texts = [str(value[key]).strip(" ,") for key in _LABELS if key in value]
    return next((text for text in texts if text), "as printed")


def _matrix(
    title: str,
    places: Mapping[str, Mapping[str, str]],
    views: Mapping[str, Claim],
) -> ClaimMatrix:
    names = list(next(iter(places.values())))
    # An axis of a single value is in the title's words already.
    varying = [n for n in names if len({axes[n] for axes in places.values()}) > 1]
    first, rest = (varying or names)[0], (varying or names)[1:]
    cells = {
        (axes[first], ", ".join(axes[axis] for axis in rest) or "verdict"): views[name]
        for name, axes in places.items()
    }
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    corner = first
    if len(columns) > max(_MOST_COLUMNS, len(rows)):
        cells = {(column, row): view for (row, column), view in cells.items()}
        rows, columns, corner = columns, rows, ", ".join(rest)
    return ClaimMatrix(
        title=title,
        section="; ".join(dict.fromkeys(view["section"] for view in cells.values())),
        corner=corner,
        columns=columns,
        rows=[(row, [cells.get((row, name)) for name in columns]) for row in rows],
    )
