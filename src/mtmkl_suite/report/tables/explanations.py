"""What readings of a protocol explain: the table, from their scores and the record."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from mtmkl.documents import ConfigError
from mtmkl_suite.config.load import experiments_of
from mtmkl_suite.judge.claim_explanations import CLAIMS, ClaimResult, explain_claims
from mtmkl_suite.judge.explanations import (
    COLUMNS,
    DIFFERENT,
    EXPLAINED,
    FOLLOWS,
    WITHIN,
    CellId,
    Number,
    Reading,
    explain_cells,
    marked,
    shares_of,
)
from mtmkl_suite.judge.overlap import Overlaps
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.judge.verdicts import NOT_JUDGED, Tolerance
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.record.explained import labels_of, record_folder
from mtmkl_suite.report.record.overlaps import read_overlaps
from mtmkl_suite.report.record.written import RANK, TextTable
from mtmkl_suite.report.tables.printed_table import PrintedTable
from mtmkl_suite.report.tables.tables import build_quoted
from mtmkl_suite.run.layout import PaperFolder

_NUMBERS = {
    "published": "published",
    "published_sd": "published_sd",
    "published_n": "published_n",
    "reproduced": "reproduced",
    "sd": "reproduced_sd",
    "n": "n",
}
"""Attribute of a number -> column of a table's cells."""

_JUDGED = (*WITHIN, DIFFERENT)

_TWO_SIDED = ("paired_difference", "paired_difference_chosen", "trend")

OVERVIEW_HEADER = (
    "reading", "kind", "different cells it changes", "of these within the rule",
    "cells it moves out", "chance", "rows explained", "columns explained",
)  # fmt: skip


def build_explanations(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return the table of explanations of a run of readings."""
    if not context.is_judged:
        return _unjudged(context, artefact)
    main = main_context(context)
    readings = readings_of(context)
    shown = {r: under_reading(context, main, r.factor, r.alternative) for r in readings}
    own = cells_of(main, context.config)
    cells, overview = explain_cells(
        own,
        {
            r: cells_of(each, context.config, bases_of(context, r))
            for r, each in shown.items()
        },
    )
    claims = explain_claims(
        claims_of(main), {r: claims_of(each) for r, each in shown.items()}
    )
    explanations = pd.concat([cells, claims], ignore_index=True)
    labels = labels_of(context.config["readings"]["factors"])
    body = [
        [
            labels[row["reading"]],
            str(row["kind"]),
            *(str(row[name]) for name in ("touched", "gained", "lost")),
            "–" if pd.isna(row["chance"]) else f"{row['chance']:.0%}",
            str(row["rows"]),
            str(row["columns"]),
        ]
        for row in overview.to_dict("records")
    ]
    return PrintedTable(
        title=artefact["title"],
        cells=explanations,
        header=OVERVIEW_HEADER,
        body=body,
        notes=_notes(explanations, own, {r.name for r in readings if r.is_optimistic}),
    )


def main_context(context: Context) -> Context:
    """Return the published results of the main protocol."""
    main = context.config["readings"]["main"]
    scores = record_folder(context.config) / "scores.csv.gz"
    if not scores.is_file():
        raise ConfigError(
            f"{scores} does not exist: readings are compared with the published record "
            "of the main protocol; run and publish that first"
        )
    return Context(
        config=main,
        scores=read_scores(scores),
        arrays={},
        data_info={},
        published=context.published,
        overlaps=read_overlaps(scores.with_name("overlaps.csv")),
    )


def under_reading(
    context: Context, main: Context, factor: str, alternative: str
) -> Context:
    """Return the main results with one reading in place of its experiments."""
    return replaced(context, main, experiments_under(context, {factor: alternative}))


def replaced(context: Context, main: Context, experiments: list[str]) -> Context:
    """Return the main results with those of experiments under readings in their place.

    Methods that a reading leaves as they are keep their main scores, unless it changes
    data, splits or metrics; those that it changes but does not run have none. A metric
    that stands for another does so for all methods. Claims that name repeats name as
    many times more where a reading has them.
    """
    scores, claims = main.scores, main.config["claims"]
    for name in experiments:
        origin = context.config["readings"]["experiments"][name]
        is_replaced = scores["experiment"] == origin["of"]
        kept, others = scores[is_replaced], scores[~is_replaced]
        rows = context.scores[context.scores["experiment"] == origin["fits"]]
        if origin["is_whole"]:
            kept = kept[:0]
        rows = pd.concat(
            [
                kept[
                    ~kept["method"].isin([*rows["method"].unique(), *origin["changes"]])
                ],
                rows.assign(experiment=origin["of"]),
            ]
        )
        for metric, measured in measured_in_place(context, origin["factors"]).items():
            moved = rows[rows["metric"] == measured].assign(metric=metric)
            rows = pd.concat([rows[rows["metric"] != metric], moved])
        scores = pd.concat([others, rows], ignore_index=True)
        claims = [
            claim.model_copy(
                update={"args": _with_repeats(claim.args, origin["times"])}
            )
            if claim["args"]["experiment"] == origin["of"]
            else claim
            for claim in claims
        ]
    return replace(
        main,
        config=main.config | {"claims": claims},
        scores=scores,
        overlaps=_replaced_overlaps(context, main, experiments),
    )


def _with_repeats(args: Mapping[str, Any], times: int) -> dict[str, Any]:
    """Return a claim's arguments with ``times`` repeats in place of each named one."""
    made: dict[str, Any] = {}
    for key, value in args.items():
        if isinstance(value, Mapping):
            made[key] = _with_repeats(value, times)
        elif key == "repeat" and isinstance(value, list):
            made[key] = [times * r + i for r in value for i in range(times)]
        else:
            made[key] = value
    return made


def _replaced_overlaps(
    context: Context, main: Context, experiments: list[str]
) -> Overlaps | None:
    """Return how repeats overlap, those of readings under the main names."""
    if context.overlaps is None:
        return main.overlaps
    origins = context.config["readings"]["experiments"]
    of = {origins[name]["fits"]: origins[name]["of"] for name in experiments}
    return {
        **(main.overlaps or {}),
        **{
            (of[fits], dataset, size): overlap
            for (fits, dataset, size), overlap in context.overlaps.items()
            if fits in of
        },
    }


def measured_in_place(context: Context, factors: Mapping[str, str]) -> dict[str, str]:
    """Return which metric stands for which of the main experiment."""
    documents = context.config["readings"]["factors"]
    changes = [documents[f]["alternatives"][a]["change"] for f, a in factors.items()]
    return {k: v for change in changes for k, v in change.get("in_place", {}).items()}


def unmeasured_main(context: Context) -> Context:
    """Return the main protocol without results."""
    main = context.config["readings"]["main"]
    return replace(context, config=main, scores=context.scores[:0])


def readings_of(context: Context, *, bounds: bool = False) -> list[Reading]:
    """Return the readings that have scores."""
    return [
        Reading(factor, name, each["kind"] == "optimistic")
        for factor, settings in context.config["readings"]["factors"].items()
        for name, each in settings["alternatives"].items()
        if (each["kind"] == "bound") == bounds
        and experiments_under(context, {factor: name})
    ]


def experiments_under(context: Context, factors: Mapping[str, str]) -> list[str]:
    """Return the experiments with exactly these alternatives that have scores.

    Those that read the main scores have them.
    """
    present = set(context.scores["experiment"])
    return [
        name
        for name, origin in context.config["readings"]["experiments"].items()
        if origin["factors"] == dict(factors)
        and origin["fits"] in {*present, origin["of"]}
    ]


def bases_of(context: Context, reading: Reading) -> set[str]:
    """Return the main experiments that a reading has scores for."""
    names = experiments_under(context, {reading.factor: reading.alternative})
    return {context.config["readings"]["experiments"][name]["of"] for name in names}


def cells_of(
    context: Context, config: Mapping[str, Any], experiments: set[str] | None = None
) -> dict[CellId, Number]:
    """Return the published numbers of a paper with ours and the verdicts."""
    from mtmkl_suite.report.tables.layouts import build

    cells: dict[CellId, Number] = {}
    for name, artefact in context.config["artefacts"].items():
        if experiments is not None and not experiments & set(experiments_of(artefact)):
            continue
        frames = []
        if artefact["kind"] == "table":
            frames.append((build(context, artefact).cells, artefact.get("tolerance")))
        if "quoted" in artefact:
            quoted = artefact["quoted"]
            frames.append((build_quoted(context, quoted)[0], quoted["tolerance"]))
        for frame, tolerance in frames:
            for cell in frame[frame["in_paper"].astype(bool)].to_dict("records"):
                numbers = {
                    key: _number(cell[column]) for key, column in _NUMBERS.items()
                }
                limit = float("nan")
                if tolerance is not None:
                    limit = Tolerance(**tolerance).at(numbers["published"])
                cells[name, cell["row"], cell["column"]] = Number(
                    **numbers,
                    verdict=cell["verdict"],
                    tolerance=limit,
                    unit=cell["unit"],
                    is_derived=artefact.get("derived", False) or cell["unit"] == RANK,
                )
    return cells


def _number(value: Any) -> float:
    return float("nan") if pd.isna(value) else float(value)


def claims_of(context: Context) -> dict[str, ClaimResult]:
    """Return the results of the tests of all claims, by id.

    A claim on the numbers of a step, which no reading changes, is as published.
    """
    from mtmkl_suite.report.record.record import published_claims

    folder = PaperFolder(record_folder(context.config))
    return {
        row["id"]: ClaimResult(
            verdict=row["verdict"],
            note=row["note"],
            effect=effect(row),
            is_two_sided=row["test"] in _TWO_SIDED,
        )
        for row in published_claims(context, folder).to_dict("records")
    }


def effect(claim: Mapping[Any, Any]) -> float:
    """Return the middle of the interval of a claim: the mean difference or slope."""
    return (_number(claim["interval_low"]) + _number(claim["interval_high"])) / 2


def _unjudged(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return what the readings of a reduced run found, without any verdict."""
    main = unmeasured_main(context)
    rows = []
    for reading in readings_of(context):
        shown = under_reading(context, main, reading.factor, reading.alternative)
        cells = cells_of(shown, context.config, bases_of(context, reading))
        rows += [
            {
                **dict(zip(COLUMNS, cell, strict=False)),
                "reading": reading.name,
                "reproduced": number.reproduced,
                "sd": number.sd,
                "n": number.n,
                "verdict_under_reading": NOT_JUDGED,
                "status": NOT_JUDGED,
                "note": marked(reading, "repeats, grid or data are reduced"),
            }
            for cell, number in cells.items()
            if not pd.isna(number.reproduced)
        ]
    found = pd.DataFrame(rows, columns=list(COLUMNS))
    counts = found["reading"].value_counts(sort=False)
    labels = labels_of(context.config["readings"]["factors"])
    return PrintedTable(
        title=artefact["title"],
        cells=found,
        header=("reading", "published numbers that it has ours for"),
        body=[[labels[str(name)], str(count)] for name, count in counts.items()],
        notes=(NOT_JUDGED.capitalize() + ".",),
    )


def cells_table(explanations: pd.DataFrame, config: Mapping[str, Any]) -> TextTable:
    """Return the explanations of all cells and claims for readers, one a line."""
    claims = {c["id"]: c["claim"] for c in config["readings"]["main"]["claims"]}
    labels = labels_of(config["readings"]["factors"])

    def number(value: Any, form: str) -> str:
        return "" if pd.isna(value) else f"{value:{form}}"

    rows = [
        [
            _name(row["artefact"]),
            claims[row["row"]] if row["artefact"] == CLAIMS else str(row["row"]),
            str(row["column"]),
            labels[row["reading"]] if row["reading"] else "",
            number(row["reproduced"], ".4g"),
            number(row["sd"], ".2g"),
            number(row["n"], ".0f"),
            ""
            if pd.isna(row["verdict_under_reading"])
            else str(row["verdict_under_reading"]),
            number(row["chance"], ".0%"),
            str(row["status"]),
            str(row["note"]),
        ]
        for row in explanations.to_dict("records")
    ]
    return TextTable([name.replace("_", " ") for name in COLUMNS], rows)


def _name(artefact: str) -> str:
    """Return ``table_1`` as "Table 1"."""
    return artefact.replace("_", " ").capitalize()


def _notes(
    explanations: pd.DataFrame,
    main: Mapping[CellId, Number],
    optimistic: set[str],
) -> tuple[str, ...]:
    sentences = []
    by_test_data = shares_of(explanations[explanations["reading"].isin(optimistic)])
    chances = explanations.groupby("artefact")["chance"].mean()
    for artefact, counts in shares_of(explanations).items():
        of_these = by_test_data.get(artefact, {})
        following = counts.pop(FOLLOWS, 0)
        parts = ", ".join(
            f"{n} {status}"
            + (f" ({of_these[status]} with test data)" if status in of_these else "")
            for status, n in counts.items()
        )
        of = "undecided or not holding" if artefact == CLAIMS else "different cells"
        chance = chances[artefact]
        sentences.append(
            f"{_name(artefact)}, {sum(counts.values())} {of}: {parts or 'none'}"
            + f"; {following} more follow from others" * bool(following)
            + ("" if pd.isna(chance) else f"; mean chance {chance:.0%}")
            + "."
        )
    judged = [n for n in main.values() if not n.is_derived and n.verdict in _JUDGED]
    explained = explanations["status"].eq(EXPLAINED) & (
        explanations["artefact"] != CLAIMS
    )
    reached = sum(n.verdict in WITHIN for n in judged) + int(explained.sum())
    if judged:
        sentences.append(
            f"Of {len(judged)} judged numbers that do not follow from others {reached} "
            f"({reached / len(judged):.0%}) are reproduced, close or explained."
        )
    return (
        "Chance: the share of wrong numbers of the same cells that some alternative of "
        "the same factor also brings within the rule (docs/verdicts.md).",
        *sentences,
    )
