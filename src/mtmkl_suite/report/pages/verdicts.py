"""Verdicts on numbers and claims: answers in a word, rules, tables, the summary."""

import inspect
import math
import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mtmkl_suite.config.expand import expand, resolve_tier
from mtmkl_suite.config.models import Paper, Quoted, Ranking, RankTests, Table, Tier
from mtmkl_suite.documents import read_yaml
from mtmkl_suite.files import read_json, read_table
from mtmkl_suite.judge import claims as claim_tests
from mtmkl_suite.judge import verdicts as verdict_rule
from mtmkl_suite.judge.comparison import practical_equivalence
from mtmkl_suite.judge.reach import DIFFERENT, WITHIN
from mtmkl_suite.judge.step_tests import TESTS
from mtmkl_suite.report.context import Context, load_context
from mtmkl_suite.report.record.record import RECORD
from mtmkl_suite.report.tables.cells import tolerance_text
from mtmkl_suite.report.tables.standing import standings
from mtmkl_suite.report.tables.text import metric_words, metrics_in_words, with_minus
from mtmkl_suite.run.fit_warnings import counted_warnings
from mtmkl_suite.run.folders import PaperFolder, RunFolder

MOSTLY, PARTLY = 0.75, 0.25
"""Shares from which an answer is "mostly" and "partly"."""

_BEST = 5
"""Methods shown at the end of a run."""

_AXES = "axes"

_LABELS = ("label", "name", "text", "title", "reading", "measure", "id")

_PLACEHOLDER = re.compile(r"\{(\w+)(?:\.(\w+))?\}")

_MOST_COLUMNS = 6

_WORDS = {"dataset": "data set", "n_nodes": "nodes"}

_LETTERS = {"percent": "N", "word": "k"}
"""Letters that stand for numbers in the title of a matrix."""

_EFFECTS = {
    "paired_difference": "difference",
    "paired_difference_chosen": "difference",
    "equivalence": "difference",
    "trend": "slope",
    "within_range": "mean",
}
"""Estimates that are the middle of the interval of a claim, by its test."""

_REFERENCE = re.compile(r"(Table|Fig)s?\.? (\d+)((?:[a-z](?:, |-|–|$)?)*)")


class _Unit(NamedTuple):
    """Unit of a metric in a paper's tables, with its scale and decimals."""

    name: str
    scale: float
    decimals: int


Claim = dict[Hashable, Any]
"""A row of ``claims.csv`` with its results in words."""


class Answer(NamedTuple):
    """Verdicts and claims of an artefact, or of a paper, together.

    ``claims_word`` is that of the paper's claims, "" where ``word`` is already.
    ``differences`` has those of numbers, and ``why`` names the number or the claim that
    decides most. ``numbers`` and ``claims`` count each verdict, claims by their author;
    numbers that follow from others are left out. ``sources`` says where the verdicts
    are from.
    """

    word: str
    claims_word: str
    sentence: str
    differences: str
    why: str
    numbers: dict[str, int]
    claims: dict[str, dict[str, int]]
    sources: list[str]

    @property
    def is_of_record(self) -> bool:
        """True if some of it is from the published record."""
        return RECORD in self.sources

    @property
    def words(self) -> list[str]:
        """The verdict in a word, or in one on numbers and one on claims."""
        if not self.claims_word:
            return [self.word]
        return [f"Numbers: {self.word.lower()}", f"Claims: {self.claims_word.lower()}"]


def answer(verdicts: pd.DataFrame, claims: pd.DataFrame) -> Answer:
    """Return what verdicts on numbers and on claims say together.

    Numbers and the paper's claims are judged separately; claims of ours do not count.
    *Yes*: all numbers are reproduced or close, or all claims hold. *Undecided*: most
    claims are. Otherwise the share of numbers, or of decided claims, gives *mostly*
    (from :data:`MOSTLY`), *partly* (from :data:`PARTLY`) or *no*.
    """
    own = verdict_rule.own_numbers(verdicts)
    numbers = counts(own["verdict"], verdict_rule.VERDICTS)
    found = claims_by_author(claims)
    within = numbers["reproduced"] + numbers["close"]
    total = within + numbers["different"]
    of_claims = {
        author: (each["holds"], each["does not hold"], each["undecided"])
        for author, each in found.items()
    }
    papers, ours = of_claims.values()
    word = _word(within, total - within, 0) if total else _word(*papers)
    parts = []
    if total:
        illegible = int(own["status"].eq("illegible").sum())
        parts.append(_numbers_text(within, total, illegible))
    if any(papers):
        parts.append(_claims_text(*papers, "the paper's "))
    if any(ours):
        parts.append(_claims_text(*ours, "our own "))
    used = pd.concat([own["source"], claims["source"]])
    return Answer(
        word=word,
        claims_word=_word(*papers) if total and any(papers) else "",
        sentence=_sentence("; ".join(parts)) if parts else _why_none(own, claims),
        differences=_differences(own),
        why=_why(own, claims),
        numbers=numbers,
        claims=found,
        sources=[str(source) for source in used.unique()],
    )


def with_labels(verdicts: pd.DataFrame, config: Paper) -> pd.DataFrame:
    """Return verdicts with the names of ranked methods here in place of print."""
    names = {
        (key, column): config.methods[method].label
        for key, artefact in config.artefacts.items()
        if isinstance(artefact, Ranking | RankTests)
        for column, method in artefact.comparison.columns.items()
    }
    keys = zip(verdicts["artefact"], verdicts["column"], strict=True)
    return verdicts.assign(column=[names.get(key, key[1]) for key in keys])


def claims_by_author(claims: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count the verdicts on the paper's claims, and on ours."""
    return {
        author: counts(each["verdict"], claim_tests.VERDICTS)
        for author, each in claim_tests.by_author(claims).items()
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def counts(values: pd.Series, names: Sequence[str]) -> dict[str, int]:
    """Return how often each of some values occurs."""
    return {name: int((values == name).sum()) for name in names}


def _word(good: int, bad: int, undecided: int) -> str:
    if good + bad + undecided == 0:
        return "–"
    if bad + undecided == 0:
        return "Yes"
    if undecided > good + bad:
        return "Undecided"
    share = good / (good + bad) if good + bad else 0.0
    if share >= MOSTLY:
        return "Mostly"
    return "Partly" if share >= PARTLY else "No"


def _numbers_text(within: int, total: int, illegible: int) -> str:
    more = f", {illegible} more cannot be read in the paper" if illegible else ""
    if total == 1:
        found = "reproduced or close" if within else "neither reproduced nor close"
        return f"The published number is {found}{more}"
    share = {0: f"None of the {total}", total: f"All {total}"}.get(within)
    many = share or f"{within} of {total}"
    verb = "is" if within < 2 else "are"
    return f"{many} published numbers {verb} reproduced or close{more}"


def _claims_text(holds: int, fails: int, undecided: int, whose: str) -> str:
    total = holds + fails + undecided
    if total == 1:
        verb = "holds" if holds else "is undecided" if undecided else "does not hold"
        return f"{whose.removesuffix('own ')}only claim {verb}"
    every, none = ("both", "neither") if total == 2 else ("all", "none")
    if holds == total:
        return f"{whose}{total} claims {every} hold"
    if undecided == total:
        return f"{whose}{total} claims are {every} undecided"
    if fails == total:
        return f"{none} of {whose}{total} claims holds"
    parts = [f"{holds} hold{'s' * (holds == 1)}"] if holds else []
    if undecided:
        parts.append(f"{undecided} {'is' if undecided == 1 else 'are'} undecided")
    if fails:
        parts.append(f"{fails} {'does' if fails == 1 else 'do'} not hold")
    return f"of {whose}{total} claims {', '.join(parts)}"


def _judged(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return judged numbers, those that can be read in two ways only if all can.

    How far ours is from such a number is not known.
    """
    found = verdicts[verdicts["verdict"].isin([*WITHIN, DIFFERENT])]
    certain = found[found["status"] != "ambiguous"]
    found = certain if len(certain) else found
    found = found.astype({"published": float, "reproduced": float})
    return found.assign(difference=found["reproduced"] - found["published"])


def _differences(verdicts: pd.DataFrame) -> str:
    """Say how far our numbers are from print, for each unit by itself."""
    parts, judged = [], _judged(verdicts)
    n_left = int(verdicts["verdict"].isin([*WITHIN, DIFFERENT]).sum()) - len(judged)
    left = f" ({n_left} ambiguous left out)" if n_left else ""
    for unit, mine in judged.groupby("unit", dropna=False):
        ends = mine["difference"].agg(["median", "min", "max"])
        median, low, high = (_signed(float(end)) for end in ends)
        text = median if len(mine) == 1 else f"median {median}, from {low} to {high}"
        named = "points" if unit == "%" else "" if pd.isna(unit) else str(unit)
        parts.append(f"{text} {named}".strip())
    return f"Ours − published: {'; '.join(parts)}{left}." if parts else ""


def _signed(value: float) -> str:
    """Return a difference to two digits, never as a power of ten."""
    size = math.floor(math.log10(abs(value))) if value else 0
    return with_minus(f"{value:+z.{min(max(1 - size, 0), 6)}f}")


def farthest(verdicts: pd.DataFrame) -> str:
    """Return the number that is farthest from print, "" without any.

    Differences of several units are compared in units of what is printed.
    """
    judged = _judged(verdicts)
    gaps = judged["difference"].abs()
    if judged["unit"].nunique(dropna=False) > 1:
        gaps /= judged["published"].abs().clip(lower=1e-12)
    if not gaps.notna().any():
        return ""
    worst = judged.iloc[int(np.nanargmax(gaps.to_numpy()))]
    return (
        f"{worst['column']}, {worst['row']}: {worst['reproduced']:.4g}, "
        f"printed {worst['published']:g}"
    )


def _why(verdicts: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Return the largest difference from print, and claims of the worst verdict."""
    worst = farthest(verdicts)
    parts = [f"Largest difference: {worst}."] if worst else []
    groups = claim_tests.by_author(claims).values()
    mine = next((each for each in groups if len(each)), claims)
    for verdict in ("does not hold", "undecided", "holds"):
        texts = list(mine["claim"][mine["verdict"] == verdict])
        if texts:
            more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
            said = texts[0].rstrip(".")
            parts.append(f"{verdict.capitalize()}: “{said}”{more}.")
            break
    return " ".join(parts)


def _why_none(verdicts: pd.DataFrame, claims: pd.DataFrame) -> str:
    found = pd.concat([verdicts["verdict"], claims["verdict"]])
    if found.empty:
        return "The paper prints no number for it, and no claim on it is tested."
    if found.eq(verdict_rule.NOT_JUDGED).any():
        return "Not judged: this run reduces repeats, grids or data."
    return "No data."


def number_rules(
    config: Paper, paper_name: str, verdicts: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the tolerances of a paper's tables, and of the numbers that it quotes."""
    found = []
    for name, artefact in config.artefacts.items():
        mine = verdicts[verdicts["artefact"] == name]
        cells = artefact.quoted.cells if artefact.quoted else []
        quoted = {(cell.row, cell.column) for cell in cells}
        keys = zip(mine["row"], mine["column"], strict=True)
        is_quoted = np.array([key in quoted for key in keys], dtype=bool)
        title = name.replace("_", " ").capitalize()
        for rows, part, where in (
            (mine[~is_quoted], artefact, title),
            (mine[is_quoted], artefact.quoted, f"{title}, in the text"),
        ):
            if len(rows) and isinstance(part, Table | Ranking | Quoted):
                units = [*map(str, rows["unit"].dropna()), ""]
                tolerance = tolerance_text(part.tolerance, units[0])
                rule = {"artefact": where, "tolerance": tolerance, "n": len(rows)}
                found.append(rule | {"paper_name": paper_name})
    return found


def pair_rules(
    context: Context, paper_name: str, statistics: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return how the pairs of each experiment were compared.

    ``rope`` is the half width of the region of practical equivalence, ``rho`` the
    correlation of repeats that share examples; nan for none.
    """
    ropes = practical_equivalence(context.config, context.published)
    titles = {k: e.title for k, e in context.config.experiments.items()}
    groups = statistics.groupby(["experiment", "metric", "unit", "n"], sort=False)
    return [
        {
            "paper_name": paper_name,
            "experiment": titles.get(str(name), str(name)),
            "metric": metrics_in_words(str(metric)),
            "units": f"{n} {unit}s",
            "pairs": len(rows),
            "rope": ropes.get((str(name), str(metric)), float("nan")),
            "rho": float(rows["rho"].max()),
        }
        for (name, metric, unit, n), rows in groups
    ]


def claim_tests_of(claims: Iterable[pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the tests that decide claims, with their verdicts over several papers."""
    found: dict[str, list[str]] = {name: [] for name in TESTS}
    for table in claims:
        for test, verdict in zip(table["test"], table["verdict"], strict=True):
            found[test].append(verdict)
    return [
        {
            "name": name.replace("_", " "),
            "decides": _test_in_words(test),
            "found": counts(pd.Series(found[name], dtype=str), claim_tests.VERDICTS),
        }
        for name, test in TESTS.items()
    ]


def _test_in_words(test: Any) -> list[str]:
    text = (inspect.getdoc(test) or "").partition("\nParameters\n")[0]
    text = re.sub(r":func:`(\w+)`", lambda m: m[1].replace("_", " "), text)
    text = re.sub(r"``([^`]*)``", r"“\1”", text).replace("*", "")
    paragraphs = re.split(r"\n\s*\n", text)
    return [" ".join(part.split()) for part in paragraphs if part.strip()]


class ClaimGroups(NamedTuple):
    """All claims of a paper, and those of no matrix.

    A matrix has the claims that one template made, over one or two axes: ``title`` is
    the template, its axes in angle brackets; ``corner`` names the rows'.
    """

    matrices: list[dict[str, Any]]
    singles: list[Claim]
    all: list[Claim]


def group_claims(
    claims: pd.DataFrame, reach: Mapping[str, str], config: Paper
) -> ClaimGroups:
    """Return claims in the form of their configuration."""
    ours = claim_tests.by_author(claims)["claims of ours"]["id"]
    claims = claims.assign(is_ours=claims["id"].isin(ours))
    rows: list[Claim] = claims.to_dict("records")
    metrics = {claim.id: str(claim.args.get("metric", "")) for claim in config.claims}
    units = _units(config)
    views = {
        row["id"]: _in_words(row, reach, metrics.get(row["id"], ""), units)
        for row in rows
    }
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
    section = re.sub(r"(Table|Fig)s(\.? \w+) and (\d)", r"\1\2, \1. \3", section)
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


def _units(config: Paper) -> dict[str, _Unit]:
    """Return the units of the metrics that a paper's tables show."""
    found: dict[str, _Unit] = {}
    for table in config.artefacts.values():
        metrics: list[Any]
        if isinstance(table, Ranking):
            scale = table.comparison.scale
            metrics = [row.metric for row in table.comparison.rows.values()]
        elif isinstance(table, Table):
            scale = table.scale
            parts = table.rows, table.columns, table.extra_rows, table.extra_columns
            metrics = [s.get("metric") for part in parts for s in part.values()]
        else:
            continue
        unit = _Unit(table.unit, scale, table.decimals)
        found |= {metric: unit for metric in metrics if isinstance(metric, str)}
    return found


def _amount(value: float, unit: _Unit | None, sign: str = "") -> str:
    """Return a value as a table shows it; of no table, to few digits."""
    if unit is None:
        return _signed(value) if sign else f"{value:.3g}"
    return with_minus(f"{value * unit.scale:{sign}z.{unit.decimals}f}")


def _in_words(
    row: Claim, reach: Mapping[str, str], metric: str, units: Mapping[str, _Unit]
) -> Claim:
    """Return a claim with its results, and the paper's own verdict if another."""
    own = row["own_verdict"]
    size = estimate = ""
    effect = _EFFECTS.get(row["test"], "")
    # A slope is by another unit still, that of its axis.
    unit = units.get(metric) if effect in ("difference", "mean") else None
    if unit and unit.name == "%" and effect == "difference":
        unit = unit._replace(name="points")
    if effect and not math.isnan(row["interval_low"]):
        middle = (row["interval_low"] + row["interval_high"]) / 2
        size = _amount(middle, unit, "" if effect == "mean" else "+")
        shown_in = f"in {unit.name}" if unit and unit.name else ""
        estimate = ", ".join(filter(None, (effect, metric_words(metric), shown_in)))
    return {
        **row,
        "test": row["test"].replace("_", " "),
        "size": size,
        "estimate": estimate,
        "note": row["note"] if isinstance(row["note"], str) else "",
        "reach": reach.get(row["id"], ""),
        "own_verdict": own if isinstance(own, str) and own != row["verdict"] else "",
        "results": list(_results(row, unit)),
    }


def _results(row: Claim, unit: _Unit | None) -> Iterator[str]:
    """Yield the result of the own test, and that corrected for shared examples."""
    has_statistic = not math.isnan(row["statistic"])
    parts = [f"statistic {row['statistic']:.3g}"] if has_statistic else []
    ends = row["interval_low"], row["interval_high"]
    parts += _p_and_interval(row["p"], *ends, unit)
    if parts:
        yield ", ".join(parts)
    if not math.isnan(row["rho"]):
        ends = row["corrected_low"], row["corrected_high"]
        found = ", ".join(_p_and_interval(row["p_corrected"], *ends, unit))
        found = found or "nothing can be tested"
        yield f"corrected for shared examples (ρ = {row['rho']:.3g}): {found}"
    over_tasks = claim_tests.over_tasks_in_words(row)
    if over_tasks:
        yield over_tasks


def _p_and_interval(
    p: float, low: float, high: float, unit: _Unit | None
) -> Iterator[str]:
    if not math.isnan(p):
        yield "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if not math.isnan(low):
        ends = f"{_amount(low, unit)} to {_amount(high, unit)}"
        yield f"interval {ends} {unit.name if unit else ''}".rstrip()


def _templates(
    folder: Path, tier: Tier
) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    """Yield each generated claim's template, and its claims by id with their axes."""
    path = folder / "claims.yaml"
    if not path.is_file():
        return
    document = resolve_tier(read_yaml(path), tier)
    settings = resolve_tier(read_yaml(folder / "experiments.yaml"), tier)
    lists = settings.get("lists", {})
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
    if letter := _LETTERS.get(part or axis):
        return letter
    name = _words(axis if part in (None, *_LABELS) and part != "measure" else part)
    # A value may bring its own space along, or a comma.
    is_glued = re.search(r"[\w%]$", found.string[: found.start()])
    return f" ‹{name}›" if is_glued else f"‹{name}›"


def _labels(values: Sequence[Any], axis: str, text: str) -> list[str]:
    """Return the labels of an axis; if not unique, with all that the text says."""
    labels = [_label(value) for value in values]
    if len(set(labels)) == len({repr(value) for value in values}):
        return labels
    said = [part for name, part in _PLACEHOLDER.findall(text) if name == axis and part]
    return [
        ": ".join(f"{value[part]}{' %' * (part == 'percent')}" for part in said)
        for value in values
    ]


def _label(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    texts = [str(value[key]).strip(" ,") for key in _LABELS if key in value]
    return next((text for text in texts if text), "as printed")


def _matrix(
    title: str, places: Mapping[str, Mapping[str, str]], views: Mapping[str, Claim]
) -> dict[str, Any]:
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
    sections = dict.fromkeys(view["section"] for view in cells.values())
    found = pd.Series([view["verdict"] for view in cells.values()])
    return {
        "found": counts(found, claim_tests.VERDICTS),
        "estimates": {view["estimate"] for view in cells.values()} - {""},
        "title": title,
        "section": "; ".join(sections),
        "corner": corner,
        "columns": columns,
        "rows": [(row, [cells.get((row, name)) for name in columns]) for row in rows],
    }


def closing_summary(configs: Iterable[Paper], run: RunFolder) -> str:
    """Return verdicts and claims by paper, missing data, warnings, the report.

    Of a run of parts, and of methods or data of one's own, the best methods too.
    """
    lines = []
    missing: set[str] = set()
    for config in configs:
        paper = config.paper
        folder = run.paper(paper.id)
        lines += ["", f"{paper.title} ({paper.authors}, {paper.year})"]
        is_part = config.own is not None or bool(config.parts)
        best = _best_methods(config, folder) if is_part else []
        counted = {
            "published numbers": verdict_rule.counts_text(read_table(folder.verdicts)),
        } | {
            author: claim_tests.counts_of(claims["verdict"])
            for author, claims in claim_tests.by_author(
                read_table(folder.claims)
            ).items()
        }
        lines += best
        lines += [
            f"  {title + ':':<20}{text}"
            for title, text in counted.items()
            if not (best and text == "none")
        ]
        missing |= missing_data(config, folder)
    lines.append("")
    if missing:
        names = " ".join(sorted(missing))
        lines += [
            f"Missing data: {names.replace(' ', ', ')}",
            f"  Download them:  {program()} datasets fetch {names}",
            "  or set MTMKL_DATA_MIRROR to a folder that holds them; then run again.",
            "",
        ]
    if warned := counted_warnings(sorted(run.logs.rglob("*.log"))):
        lines += [*warned, f"All warnings: {run.logs}", ""]
    lines.append(f"Report: {run.report.resolve().as_uri()}")
    return "\n".join(lines)


def _best_methods(config: Paper, folder: PaperFolder) -> list[str]:
    """Return where the methods of a run stand, over all experiments or in the first."""
    context = load_context(config, folder)
    found = standings(context, read_table(folder.statistics))
    if not found:
        return []
    first, table = found[0], found[0].table
    hidden = ("rank among", "95 %", "seconds")
    shown = [k for k, name in enumerate(table.header) if not name.startswith(hidden)]
    best = [[row[k] for k in shown] for row in [table.header, *table.rows[:_BEST]]]
    widths = [max(map(len, column)) for column in zip(*best, strict=True)]
    return [
        *(f"  {sentence}" for sentence in first.sentences),
        *("    " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in best),
    ]


def missing_data(config: Paper, folder: PaperFolder) -> set[str]:
    """Return the names of the data sets that a paper's run lacked."""
    infos = [
        read_json(folder.data_info(variant.id))
        for experiment in config.experiments.values()
        for variant in experiment.variants
    ]
    return {info["name"] for info in infos if info["status"] == "missing"}


def program() -> str:
    """Return how to call ``mtmkl`` from here."""
    command = Path(sys.executable).with_name("mtmkl")
    if command.is_relative_to(Path.cwd()):
        return str(command.relative_to(Path.cwd()))
    return str(command) if command.is_file() else "mtmkl"
