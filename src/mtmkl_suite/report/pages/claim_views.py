"""Claims in the report: matrices where one template made many, lists otherwise."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.documents import read_yaml
from mtmkl_suite.config.expand import expand, resolve_tier

_AXES = "axes"
_LABELS = ("label", "name", "text", "title", "reading", "measure", "id")
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_MOST_COLUMNS = 6
_WORDS = {"dataset": "data set", "n_nodes": "nodes"}
_REFERENCE = re.compile(r"(Table|Fig)s?\.? (\d+)((?:[a-z](?:, |-|–|$)?)*)")


@dataclass(frozen=True)
class ClaimView:
    """A claim and what was found.

    Attributes
    ----------
    id, claim, section, verdict, source, note, reach : str
        ``source`` says whether the verdict is of the run or of the published record.
    own_verdict : str
        Of the paper's own test, where it is another one.
    results : list of str
        Statistic, p and interval; with the correction in a second line.
    """

    id: str
    claim: str
    section: str
    test: str
    verdict: str
    source: str
    note: str
    reach: str
    own_verdict: str
    results: list[str]


@dataclass(frozen=True)
class ClaimMatrix:
    """Claims that one template made, over one or two axes.

    Attributes
    ----------
    title : str
        The template, its axes in angle brackets.
    section : str
        Where the paper makes them.
    corner : str
        The name of the rows' axis.
    columns : list of str
    rows : list of (label, list of ClaimView or None)
    """

    title: str
    section: str
    corner: str
    columns: list[str]
    rows: list[tuple[str, list[ClaimView | None]]]


@dataclass(frozen=True)
class ClaimGroups:
    """All claims of a paper.

    Attributes
    ----------
    matrices : list of ClaimMatrix
    singles : list of ClaimView
        Those of no matrix.
    all : list of ClaimView
        Every one, as configured.
    """

    matrices: list[ClaimMatrix]
    singles: list[ClaimView]
    all: list[ClaimView]


def group_claims(
    claims: pd.DataFrame, reach: Mapping[str, str], config: Mapping[str, Any]
) -> ClaimGroups:
    """Return claims in the form of their configuration."""
    views = {str(row["id"]): _view(row, reach) for row in claims.to_dict("records")}
    matrices = []
    placed: set[str] = set()
    for title, places in _templates(Path(config["published"]).parent, config["tier"]):
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


def _view(row: Mapping[Any, Any], reach: Mapping[str, str]) -> ClaimView:
    own = row["own_verdict"]
    return ClaimView(
        id=str(row["id"]),
        claim=str(row["claim"]),
        section=str(row["section"]),
        test=str(row["test"]).replace("_", " "),
        verdict=str(row["verdict"]),
        source=str(row.get("source", "")),
        note=row["note"] if isinstance(row["note"], str) else "",
        reach=reach.get(str(row["id"]), ""),
        own_verdict=own if isinstance(own, str) and own != row["verdict"] else "",
        results=[text for text in (_own(row), _corrected(row)) if text],
    )


def _own(row: Mapping[Any, Any]) -> str:
    parts = []
    if not math.isnan(row["statistic"]):
        parts.append(f"statistic {row['statistic']:.3g}")
    if not math.isnan(row["p"]):
        parts.append(_p(row["p"]))
    if not math.isnan(row["interval_low"]):
        parts.append(_interval(row["interval_low"], row["interval_high"]))
    return ", ".join(parts)


def _corrected(row: Mapping[Any, Any]) -> str:
    if math.isnan(row["rho"]):
        return ""
    parts = []
    if not math.isnan(row["p_corrected"]):
        parts.append(_p(row["p_corrected"]))
    if not math.isnan(row["corrected_low"]):
        parts.append(_interval(row["corrected_low"], row["corrected_high"]))
    found = ", ".join(parts) or "nothing can be tested"
    return f"corrected for shared examples (ρ = {row['rho']:.3g}): {found}"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _interval(low: float, high: float) -> str:
    return f"interval {low:.3g} to {high:.3g}"


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
    views: Mapping[str, ClaimView],
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
        section="; ".join(dict.fromkeys(view.section for view in cells.values())),
        corner=corner,
        columns=columns,
        rows=[(row, [cells.get((row, name)) for name in columns]) for row in rows],
    )
