"""Reach of a paper's numbers and claims under readings, and their upper bounds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import (
    ClaimSetting,
    Origin,
    Paper,
    Ranking,
    RankTests,
    ReadingChange,
    ReadingsTable,
    Table,
    Tolerance,
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
from mtmkl_suite.judge.verdicts import NOT_JUDGED, Published, Reproduced, Row, judge
from mtmkl_suite.report.context import Context, recorded_context
from mtmkl_suite.report.published_reach import (
    labels_of,
    others_text,
    reach_counts,
)
from mtmkl_suite.report.record import published_claims
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
from mtmkl_suite.report.text import DASH, PrintedTable, TextTable
from mtmkl_suite.run.folders import PaperFolder, record_folder

OVERVIEW_HEADER = (
    "reading", "kind", "numbers it changes", "different in the main run",
    "of these within the rule", "others it moves out",
)  # fmt: skip
_PLACE = ("artefact", "row", "column")
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
    """Return the reach of every *different* number and every claim.

    People read an overview of the readings, and below it the numbers under each of
    them. Of a reduced run there are numbers, and no verdicts.
    """
    main = main_context(context) if context.is_judged else unmeasured_main(context)
    readings = readings_of(context)
    shown = {r: under_reading(context, main, r.factor, r.alternative) for r in readings}
    own = cells_of(main, context.config)
    under = {
        r: changed(own, cells_of(each, context.config, bases_of(context, r)))
        for r, each in shown.items()
    }
    reach = reach_of_numbers(own, under, is_judged=context.is_judged)
    notes = [f"{NOT_JUDGED.capitalize()}."]
    if context.is_judged:
        claims = {
            r: claims_of(_of_claims_on(each, bases_of(context, r)))
            for r, each in shown.items()
            if r.kind != "bound"
        }
        of_claims = reach_of_claims(main.config.claims, claims_of(main), claims)
        reach = pd.concat([reach, of_claims], ignore_index=True)
        notes = _notes(reach)
    body = [_overview(own, reading, found) for reading, found in under.items()]
    details = _numbers_table(own, under)
    return PrintedTable(artefact.title, reach, OVERVIEW_HEADER, body, notes, details)


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


def under_reading(
    context: Context, main: Context, factor: str, alternative: str
) -> Context:
    """Return the main results with one reading in place of its experiments."""
    return replaced(context, main, experiments_under(context, {factor: alternative}))


def replaced(context: Context, main: Context, experiments: list[str]) -> Context:
    """Return the main results with those of experiments under readings in their place.

    Methods that a reading leaves as they are, or is not read for, keep their main
    scores, unless it changes data, splits or metrics; those that it changes but does
    not run have none. A metric
    that stands for another does so for all methods. Claims that name repeats name as
    many times more where a reading has them.
    """
    scores, claims = main.scores, main.config.claims
    for name in experiments:
        origin = context.readings.experiments[name]
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
        for metric, measured in measured_in_place(context, origin.factors).items():
            moved = rows[rows["metric"] == measured].assign(metric=metric)
            rows = pd.concat([rows[rows["metric"] != metric], moved])
        rows = rows.replace({"train_size": _sizes(context, name)})
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
        overlaps=_replaced_overlaps(context, main, experiments),
    )


def _repeated(setting: ClaimSetting, origin: Origin) -> ClaimSetting:
    if setting.args["experiment"] != origin.of:
        return setting
    return setting.model_copy(
        update={"args": _with_repeats(setting.args, origin.times)}
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
    origins = context.readings.experiments
    of = {origins[name].fits: name for name in experiments}
    return dict(main.overlaps or {}) | {
        (
            origins[of[fits]].of,
            dataset,
            _sizes(context, of[fits]).get(size, size),
        ): overlap
        for (fits, dataset, size), overlap in context.overlaps.items()
        if fits in of
    }


def _sizes(context: Context, experiment: str) -> dict[int, int]:
    """Return which train sizes of the main experiment those of a reading stand for."""
    changes = _changes(context, context.readings.experiments[experiment].factors)
    return {k: v for change in changes for k, v in change.sizes.items()}


def measured_in_place(context: Context, factors: Mapping[str, str]) -> dict[str, str]:
    """Return which metric stands for which of the main experiment."""
    changes = _changes(context, factors)
    return {k: v for change in changes for k, v in change.in_place.items()}


def _changes(context: Context, factors: Mapping[str, str]) -> list[ReadingChange]:
    documents = context.readings.factors
    return [documents[f].alternatives[a].change for f, a in factors.items()]


def unmeasured_main(context: Context) -> Context:
    """Return the main protocol without results."""
    main = context.readings.main
    return replace(context, config=main, scores=context.scores[:0])


def readings_of(context: Context) -> list[Reading]:
    """Return the readings that have scores."""
    factors = context.readings.factors
    labels = labels_of(factors)
    return [
        Reading(factor, name, each.kind, labels[f"{factor}={name}"])
        for factor, settings in factors.items()
        for name, each in settings.alternatives.items()
        if experiments_under(context, {factor: name})
    ]


def experiments_under(context: Context, factors: Mapping[str, str]) -> list[str]:
    """Return the experiments with exactly these alternatives that have scores.

    Those that read the main scores have them.
    """
    present = context.by_experiment.keys()
    return [
        name
        for name, origin in context.readings.experiments.items()
        if origin.factors == dict(factors) and origin.fits in {*present, origin.of}
    ]


def bases_of(context: Context, reading: Reading) -> set[str]:
    """Return the main experiments that a reading has scores for."""
    names = experiments_under(context, {reading.factor: reading.alternative})
    return {context.readings.experiments[name].of for name in names}


def cells_of(
    context: Context, config: Paper, experiments: set[str] | None = None
) -> dict[CellId, Number]:
    """Return the printed numbers of a paper with ours and the verdicts."""
    cells: dict[CellId, Number] = {}
    for name, artefact in context.config.artefacts.items():
        if experiments is not None and not experiments & set(artefact.shown):
            continue
        frames: list[tuple[pd.DataFrame, str, Tolerance | None]] = []
        if isinstance(artefact, Table | Ranking | RankTests):
            tolerance = None
            if isinstance(artefact, Ranking | Table):
                tolerance = artefact.tolerance
            cells_of_table = _TABLES[type(artefact)](context, artefact).cells
            frames.append((cells_of_table, artefact.file, tolerance))
        if artefact.quoted is not None:
            quoted = artefact.quoted
            of_text = build_quoted(context, quoted)[0]
            frames.append((of_text, quoted.file, quoted.tolerance))
        for frame, file, tolerance in frames:
            printed = published_numbers(context, file)
            for cell in frame[frame["in_paper"].astype(bool)].to_dict("records"):
                if not pd.isna(cell["published"]):
                    cells[name, cell["row"], cell["column"]] = Number(
                        printed.get((cell["row"], cell["column"]), _published(cell)),
                        _reproduced(cell),
                        verdict=cell["verdict"],
                        tolerance=tolerance,
                        unit=cell["unit"],
                        is_derived=isinstance(artefact, RankTests)
                        or cell["unit"] == RANK,
                    )
    return cells


def _published(cell: Mapping[Any, Any]) -> Published:
    sd = None if pd.isna(cell["published_sd"]) else float(cell["published_sd"])
    n = 1 if pd.isna(cell["published_n"]) else int(cell["published_n"])
    return Published(float(cell["published"]), sd, n)


def _reproduced(cell: Mapping[Any, Any]) -> Reproduced | None:
    if pd.isna(cell["reproduced"]):
        return None
    sd = 0.0 if pd.isna(cell["reproduced_sd"]) else float(cell["reproduced_sd"])
    return Reproduced(float(cell["reproduced"]), sd, int(cell["n"]))


def claims_of(context: Context) -> pd.DataFrame:
    """Return the results of the tests of all claims in their settings.

    A claim on the numbers of a step, which no reading changes, is as published.
    """
    folder = PaperFolder(record_folder(context.config))
    return published_claims(context, folder)[1]


def _of_claims_on(context: Context, experiments: set[str]) -> Context:
    claims = claims_on(
        context.config.claims, lambda s: bool(s.experiments & experiments)
    )
    config = context.config.model_copy(update={"claims": claims})
    return replace(context, config=config)


def _overview(main: Numbers, reading: Reading, found: Numbers) -> list[str]:
    own = [(main[c].verdict, n) for c, n in found.items() if not main[c].is_derived]
    different = [now for before, now in own if before == DIFFERENT]
    within = sum(now.is_within for now in different)
    left = sum(before in WITHIN and not now.is_within for before, now in own)
    counts = len(own), len(different), within, left
    return [reading.label, reading.kind, *map(str, counts)]


def _numbers_table(main: Numbers, under: Mapping[Reading, Numbers]) -> TextTable:
    """Return the numbers that readings change, under each of them, one a line."""
    rows = [
        [
            _name(cell[0]),
            *cell[1:],
            f"{number.published.value:g}",
            DASH if pd.isna(number.value) else f"{number.value:.4g}",
            reading.label,
            f"{found[cell].value:.4g}",
            found[cell].verdict,
        ]
        for cell, number in main.items()
        for reading, found in under.items()
        if cell in found and not number.is_derived
    ]
    header = (*_PLACE, "published", "main run", "reading", "under it", "verdict")
    return TextTable(header, rows)


def _name(artefact: str) -> str:
    """Return ``table_1`` as "Table 1"."""
    return artefact.replace("_", " ").capitalize()


def _notes(reach: pd.DataFrame) -> list[str]:
    """Count numbers and claims, and say how much being within reach means."""
    numbers, claims = (reach[reach.kind == kind] for kind in (NUMBER, CLAIM))
    sentences = []
    for artefact, mine in numbers.groupby("artefact", sort=False):
        sentences.append(
            f"{_name(str(artefact))}, {len(mine)} different: {reach_counts(mine)}."
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
    printed = cells_of(main, context.config)
    rows: list[dict[str, Any]] = []
    lines, labels = [], []
    for reading in readings_of(context):
        if reading.kind != "bound":
            continue
        shown = under_reading(context, main, reading.factor, reading.alternative)
        settings = context.readings.factors[reading.factor]
        labels.append(settings.alternatives[reading.alternative].label)
        found = cells_of(shown, context.config, bases_of(context, reading))
        for cell, bound in found.items():
            if bound.is_derived or bound.reproduced is None:
                continue
            mine = {
                place[2]: _row(place, number, reading.name, bound, context)
                for place, number in printed.items()
                if place[:2] == cell[:2]
            }
            rows += mine.values()
            ours = bound.reproduced
            shown_bound = mean_sd(ours.value, ours.sd, ours.n, _DECIMALS)
            lines.append((cell[1], shown_bound, mine))
    columns = list(dict.fromkeys(column for *_, mine in lines for column in mine))
    body = [
        [row, bound, *(_text(mine.get(column)) for column in columns)]
        for row, bound, mine in lines
    ]
    cells = pd.DataFrame(rows, columns=list(BOUND_COLUMNS))
    notes, header = _notes_on_bounds(context, labels), ("row", "bound", *columns)
    return PrintedTable(artefact.title, cells, header, body, notes)


def _row(
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


def _text(row: Row | None) -> str:
    if row is None:
        return "–"
    return f"{row['published']:.{_DECIMALS}f}{f' {ABOVE}' * bool(row['is_above'])}"


def _notes_on_bounds(context: Context, labels: list[str]) -> tuple[str, ...]:
    what = f"Bound: {'; '.join(labels)}. The other columns are the printed numbers."
    if not context.is_judged:
        return (MEAN_SD_NOTE, what, NOT_JUDGED_NOTE)
    above = (
        f"{ABOVE} above the bound by more than max(2 SE, tol): with these features and "
        "splits, SVMs with one kernel for each task that share nothing cannot reach it."
    )
    return (MEAN_SD_NOTE, what, above)
