"""Reach of a paper's numbers and claims under readings, and their upper bounds."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import (
    Claim,
    ClaimSetting,
    Origin,
    Ranking,
    RankTests,
    ReadingsTable,
    Table,
    claims_on,
)
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.judge.overlap import Overlaps
from mtmkl_suite.judge.reach import (
    CLAIM,
    DIFFERENT,
    NUMBER,
    WITHIN,
    CellId,
    Number,
    Numbers,
    Reading,
    changed,
    reach_of_claims,
    reach_of_numbers,
)
from mtmkl_suite.judge.verdicts import NOT_JUDGED, Published, Reproduced, judge
from mtmkl_suite.report.context import Context, recorded_context
from mtmkl_suite.report.published_reach import labels_of, others_text, reach_counts
from mtmkl_suite.report.record import claims_tables
from mtmkl_suite.report.tables.cells import (
    MEAN_SD_NOTE,
    NOT_JUDGED_NOTE,
    RANK,
    build_quoted,
    build_table,
    mean_sd,
    published_numbers,
)
from mtmkl_suite.report.tables.ranking import build_rank_tests, build_ranking
from mtmkl_suite.report.text import DASH, PrintedTable
from mtmkl_suite.run.folders import PaperFolder, record_folder

OVERVIEW_HEADER = (
    "reading", "kind", "numbers it changes", "different in the main run",
    "of these within the rule", "others it moves out",
)  # fmt: skip
SENTENCES_HEADER = (
    "sentence of the paper", "readings", "holds", "undecided", "does not hold", "note",
)  # fmt: skip
_TABLES: Mapping[type, Callable[[Context, Any], PrintedTable]] = {
    Table: build_table,
    Ranking: build_ranking,
    RankTests: build_rank_tests,
}
"""Tables with printed numbers."""

BOUND_COLUMNS = (
    "artefact", "row", "column", "unit", "published", "reading", "bound", "bound_sd",
    "n", "difference", "is_above",
)  # fmt: skip
"""Columns of ``bounds.csv``: a line for each printed number that has a bound."""

ABOVE = "▲"

_DECIMALS = 2


def build_reach(context: Context, artefact: ReadingsTable) -> PrintedTable:
    """Return the reach of *different* numbers and claims; people read an overview."""
    main = main_context(context) if context.is_judged else unmeasured_main(context)
    readings = readings_of(context)
    shown = {r: replaced(context, main, names) for r, names in readings.items()}
    bases = {r: bases_of(context, names) for r, names in readings.items()}
    own = cells_of(main)
    under = {r: changed(own, cells_of(each, bases[r])) for r, each in shown.items()}
    reach = reach_of_numbers(own, under, is_judged=context.is_judged)
    notes = [f"{NOT_JUDGED.capitalize()}."]
    header = OVERVIEW_HEADER
    body = [_overview(own, reading, found) for reading, found in under.items()]
    if context.is_judged:
        claims = {
            r: claims_of(each, bases[r])
            for r, each in shown.items()
            if r.kind != "bound"
        }
        of_claims = reach_of_claims(main.config.claims, claims_of(main), claims)
        reach = pd.concat([reach, of_claims], ignore_index=True)
        notes = _notes(reach)
        if all(number.is_derived for number in own.values()):
            header, body = SENTENCES_HEADER, _sentences(main.config.claims, of_claims)
    return PrintedTable(artefact.title, reach, header, body, notes)


def main_context(context: Context) -> Context:
    """Return the published results of the main protocol."""
    folder = record_folder(context.config)
    scores = folder / "scores.csv.gz"
    if not scores.is_file():
        raise ConfigError(
            f"{scores} does not exist: readings are compared with the published record "
            "of the main protocol; run and publish that first"
        )
    return recorded_context(context.readings.main, folder.parent)


def replaced(context: Context, main: Context, experiments: list[str]) -> Context:
    """Return the main results with those of experiments under readings in their place.

    Methods that a reading leaves as they are, or is not read for, keep their main
    scores, unless it changes data, splits or metrics; those that it changes but does
    not run have none. A metric that stands for another does so for all methods. Claims
    that name repeats name as many times more where a reading has them.
    """
    scores, claims = main.scores, main.config.claims
    origins = [context.readings.experiments[name] for name in experiments]
    for origin in origins:
        is_replaced = scores["experiment"] == origin.of
        kept, others = scores[is_replaced], scores[~is_replaced]
        rows = context.scores[context.scores["experiment"] == origin.fits]
        if origin.only:
            rows = rows[rows["method"].isin(origin.only)]
        if origin.is_whole:
            kept = kept[:0]
        rows = pd.concat(
            [
                kept[~kept["method"].isin([*rows["method"].unique(), *origin.changes])],
                rows.assign(experiment=origin.of),
            ]
        )
        for metric, measured in origin.in_place.items():
            moved = rows[rows["metric"] == measured].assign(metric=metric)
            rows = pd.concat([rows[rows["metric"] != metric], moved])
        rows = rows.replace({"train_size": origin.sizes})
        scores = pd.concat([others, rows], ignore_index=True)
        claims = [
            claim.model_copy(
                update={"settings": [_repeated(s, origin) for s in claim.settings]}
            )
            for claim in claims
        ]
    return replace(
        main,
        config=main.config.model_copy(update={"claims": claims}),
        scores=scores,
        overlaps=_replaced_overlaps(context, main, origins),
    )


def _repeated(setting: ClaimSetting, origin: Origin) -> ClaimSetting:
    """Return a claim's setting with several repeats in place of each named one."""
    if setting.args["experiment"] != origin.of:
        return setting
    args = dict(setting.args)
    for key, side in args.items():
        if isinstance(side, Mapping) and isinstance(side.get("repeat"), list):
            first = [origin.times * repeat for repeat in side["repeat"]]
            repeats = [r + i for r in first for i in range(origin.times)]
            args[key] = {**side, "repeat": repeats}
    return setting.model_copy(update={"args": args})


def _replaced_overlaps(
    context: Context, main: Context, origins: Iterable[Origin]
) -> Overlaps | None:
    """Return how repeats overlap, those of readings under the main names."""
    if context.overlaps is None:
        return main.overlaps
    of = {origin.fits: origin for origin in origins}
    return dict(main.overlaps or {}) | {
        (of[fits].of, dataset, of[fits].sizes.get(size, size)): overlap
        for (fits, dataset, size), overlap in context.overlaps.items()
        if fits in of
    }


def unmeasured_main(context: Context) -> Context:
    """Return the main protocol without results."""
    main = context.readings.main
    return replace(context, config=main, scores=context.scores[:0])


def readings_of(context: Context) -> dict[Reading, list[str]]:
    """Return the readings with their experiments that have scores, or the main ones."""
    factors = context.readings.factors
    names: dict[str, list[str]] = defaultdict(list)
    for name, origin in context.readings.experiments.items():
        if origin.fits in {*context.by_experiment, origin.of}:
            names[origin.reading].append(name)
    labels = labels_of(factors)
    return {
        Reading(factor, name, each.kind, labels[key]): names[key]
        for factor, settings in factors.items()
        for name, each in settings.alternatives.items()
        for key in [f"{factor}={name}"]
        if key in names
    }


def bases_of(context: Context, names: Iterable[str]) -> set[str]:
    """Return the main experiments of some under readings."""
    return {context.readings.experiments[name].of for name in names}


def cells_of(
    context: Context, experiments: set[str] | None = None
) -> dict[CellId, Number]:
    """Return the printed numbers of a paper with ours and the verdicts."""
    cells: dict[CellId, Number] = {}
    for name, artefact in context.config.artefacts.items():
        if experiments is not None and not experiments & set(artefact.shown):
            continue
        frames: list[tuple[pd.DataFrame, Any]] = []
        if type(artefact) in _TABLES:
            frames.append((_TABLES[type(artefact)](context, artefact).cells, artefact))
        if artefact.quoted is not None:
            quoted = artefact.quoted
            frames.append((build_quoted(context, quoted)[0], quoted))
        for frame, of in frames:
            printed = published_numbers(context, of.file)
            of_tests = isinstance(of, RankTests)
            is_printed = frame["in_paper"].astype(bool) & frame["published"].notna()
            for cell in frame[is_printed].to_dict("records"):
                place = cell["row"], cell["column"]
                ours = None
                if not pd.isna(cell["reproduced"]):
                    n = int(cell["n"])
                    ours = Reproduced(cell["reproduced"], cell["reproduced_sd"], n)
                cells[name, *place] = Number(
                    # Of tests one number is from another file.
                    printed.get(place) or Published(cell["published"]),
                    ours,
                    verdict=cell["verdict"],
                    tolerance=None if of_tests else of.tolerance,
                    unit=cell["unit"],
                    is_derived=of_tests or cell["unit"] == RANK,
                )
    return cells


def claims_of(context: Context, experiments: set[str] | None = None) -> pd.DataFrame:
    """Return the results of the tests of all claims, or of those on experiments.

    A claim on the numbers of a step, which no reading changes, is as published.
    """
    config = context.config
    if experiments is not None:
        kept = claims_on(config.claims, lambda s: bool(s.experiments & experiments))
        config = config.model_copy(update={"claims": kept})
    folder = PaperFolder(record_folder(config))
    return claims_tables(replace(context, config=config), folder)[1]


def _overview(main: Numbers, reading: Reading, found: Numbers) -> list[str]:
    own = [(main[c].verdict, n) for c, n in found.items() if not main[c].is_derived]
    different = [now for before, now in own if before == DIFFERENT]
    within = sum(now.is_within for now in different)
    left = sum(before in WITHIN and not now.is_within for before, now in own)
    counts = len(own), len(different), within, left
    return [reading.label, reading.kind, *map(str, counts)]


def _sentences(claims: Iterable[Claim], reach: pd.DataFrame) -> list[list[str]]:
    """Return the sentences that some reading concerns, for papers without numbers."""
    quotes = {claim.id: f"“{claim.quote}” (l. {claim.line})" for claim in claims}
    counts = ["n_readings", "holds", "undecided", "does_not_hold"]
    return [
        [quotes[row["row"]], *(str(row[count]) for count in counts), row["note"]]
        for row in reach[reach["n_readings"] > 0].to_dict("records")
    ]


def _notes(reach: pd.DataFrame) -> list[str]:
    """Count numbers and claims, and say how much being within reach means."""
    numbers, claims = (reach[reach.kind == kind] for kind in (NUMBER, CLAIM))
    sentences = []
    for artefact, mine in numbers.groupby("artefact", sort=False):
        name = str(artefact).replace("_", " ").capitalize()
        sentences.append(
            f"{name}, {len(mine)} different: {reach_counts(mine)}."
            + others_text(int(mine["others"].sum()), int(mine["others_within"].sum()))
        )
    tried = claims[claims["n_readings"] > 0]
    if len(claims):
        whole = tried["holds"] == tried["n_readings"]
        some = (tried["holds"] > 0) & ~whole
        sentences.append(
            f"Of {len(claims)} claims, {len(tried)} with other readings: "
            f"{whole.sum()} hold under all of them, {some.sum()} under some, "
            f"{len(tried) - whole.sum() - some.sum()} under none."
        )
    return sentences


def build_bounds(context: Context, artefact: ReadingsTable) -> PrintedTable:
    """Return the printed numbers beside what a row could reach at most.

    A bound that is measured for one cell of a row stands beside all printed numbers of
    the row. A number is above if it is larger and the rule of verdicts would not call
    it *reproduced* by the bound.
    """
    main = unmeasured_main(context)
    printed = cells_of(main)
    readings = readings_of(context)
    bounds = [each for each in readings if each.kind == "bound"]
    cells = pd.DataFrame(
        [
            _bounded(place, printed[place], reading.name, bound, context)
            for reading in bounds
            for names in [readings[reading]]
            for shown in [replaced(context, main, names)]
            for cell, bound in cells_of(shown, bases_of(context, names)).items()
            if bound.reproduced is not None and not bound.is_derived
            for place in printed
            if place[:2] == cell[:2]
        ],
        columns=list(BOUND_COLUMNS),
    )
    header = ["row", "bound", *cells["column"].unique()]
    body = []
    for _, mine in cells.groupby(["row", "reading", "bound"], sort=False):
        row, bound, sd, n = mine[["row", "bound", "bound_sd", "n"]].iloc[0]
        texts = {
            each["column"]: f"{each['published']:.{_DECIMALS}f}"
            + f" {ABOVE}" * bool(each["is_above"])
            for each in mine.to_dict("records")
        }
        shown_bound = mean_sd(bound, sd, n, _DECIMALS)
        body.append([row, shown_bound, *(texts.get(c, DASH) for c in header[2:])])
    factors = context.readings.factors
    labels = [factors[r.factor].alternatives[r.alternative].label for r in bounds]
    notes = [
        MEAN_SD_NOTE,
        f"Bound: {'; '.join(labels)}. The other columns are the printed numbers.",
        f"{ABOVE} above the bound by more than max(2 SE, tol): with these features and "
        "splits, SVMs with one kernel for each task that share nothing cannot reach it."
        if context.is_judged
        else NOT_JUDGED_NOTE,
    ]
    return PrintedTable(artefact.title, cells, header, body, notes)


def _bounded(
    place: CellId, number: Number, reading: str, bound: Number, context: Context
) -> dict[str, Any]:
    ours, printed = bound.reproduced, number.published.value
    assert ours is not None
    assert printed is not None
    assert number.tolerance is not None
    is_above = None
    if context.is_judged:
        verdict = judge(number.published, ours, number.tolerance).verdict
        is_above = printed > ours.value and verdict != "reproduced"
    return {
        **dict(zip(BOUND_COLUMNS, place, strict=False)), "unit": number.unit,
        "published": printed, "reading": reading, "bound": ours.value,
        "bound_sd": ours.sd, "n": ours.n, "difference": printed - ours.value,
        "is_above": is_above,
    }  # fmt: skip
