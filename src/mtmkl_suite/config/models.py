"""Models of a run and of a paper's configuration: what it may say, and its objects.

The names of attributes are the keys of the YAML files. Scores are selected by mappings
of columns to values (:data:`Selector`).
"""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from mtmkl_suite.data.protocols import Protocol
from mtmkl_suite.documents import (
    Count,
    Distinct,
    Model,
    Name,
    NotNegative,
    Number,
    Positive,
    Some,
    checked_by,
    missing,
    shown,
    some_keys,
    without_repeats,
    wrong,
)
from mtmkl_suite.errors import ConfigError

Tier = Literal["quick", "paper"]
TIERS: tuple[Tier, ...] = get_args(Tier)
Selector = dict[str, Any]
"""Columns of a scores table, and their values or lists of these."""
Selectors = dict[str, Selector]


def _combinations(axes: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Return every combination of values of some keys, the first key slowest."""
    every = itertools.product(*axes.values())
    return [dict(zip(axes, values, strict=True)) for values in every]


@dataclass(frozen=True)
class Variant:
    """A data set with its options, as ``name[key=value,…]`` in all results."""

    name: str
    """Registered name."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of its loader or generator, without the seed."""

    @property
    def id(self) -> str:
        """Name without folder, and the options by key: part of the names of files."""
        name = self.name.rpartition("/")[2]
        if not self.options:
            return name
        inner = ",".join(f"{k}={self.options[k]}" for k in sorted(self.options))
        return f"{name}[{inner}]"


class OwnData(Model):
    """Data of one's own, in place of papers."""

    source: str
    """A file, or ``package.module:function``."""
    options: dict[str, Any] = {}
    methods: list[str] = []


class Run(Model):
    """Settings of a run."""

    tier: Tier
    papers: Distinct[str]
    seed: NotNegative
    mirror: str | None
    download: Literal["all", "small", "never"] | None
    on_missing_data: Literal["report", "fail"] | None
    readings: bool | Distinct[str] = False
    """Factors of the papers' readings, or true for all."""
    results: str = "results"
    experiments: Distinct[str] | None = None
    artefacts: Distinct[str] | None = None
    settings: list[str] = []
    repeats: Count | None = None
    methods: list[str] = []
    grid: dict[str, Some[Any]] | list[dict[str, Some[Any]]] | None = None
    data: OwnData | None = None
    against: Literal["published"] | None = None


# experiments.yaml


class Publication(Model):
    """A paper, as it is cited."""

    id: Name
    title: str
    authors: str
    year: int
    venue: str
    doi: str | None = None


class Search(Model):
    """Limit on the points of a grid that are tried."""

    points: Count


Selection = Annotated[
    str,
    Field(
        pattern=r"^(common|per_task|alone|validation|own_validation|none|"
        r"[A-Za-z_0-9.]+:[A-Za-z_0-9]+)$"
    ),
]
"""A way to choose, or a paper's own as ``package.module:name``."""


class Method(Model):
    """A method, its fixed parameters and those that are chosen."""

    label: str
    class_name: str = Field(alias="class")
    params: dict[str, Any] = {}
    grid: Annotated[dict[str, Some[Any]], Field(min_length=1)] = {}
    search: Search | None = None
    selection: Selection

    @property
    def is_control(self) -> bool:
        """True for a floor or a ceiling."""
        return self.class_name.endswith("Control")

    @property
    def points(self) -> list[dict[str, Any]]:
        """All points of the grid; one without parameters if there is none."""
        return _combinations(self.grid)

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        chooses = self.selection != "none"
        if chooses and not self.grid:
            remedy = "give the values to choose from, or write selection: none"
            raise missing("grid", remedy)
        if not chooses and (self.grid or self.search):
            raise wrong(
                "grid" if self.grid else "search",
                "it cannot stand here: with selection: none nothing is chosen; write "
                "selection: common, per_task, alone, validation or own_validation",
            )
        return self


class DataSets(Model):
    """A data set with options, and those that vary."""

    name: str
    options: dict[str, Any] = {}
    vary: Annotated[dict[str, Some[Any]], Field(min_length=1)] = {}


class MethodEntry(Model):
    """A method as an experiment uses it."""

    method: str
    n_tasks: Some[Count] = []
    """Numbers of tasks learned together; empty means all."""
    tiers: Some[Tier] = ["quick", "paper"]
    hold: dict[str, NotNegative] = {}
    """Parameters that are chosen once in the given repeat and then held."""
    along: Some[str] = []
    """With selection "validation": parameters that are walked along."""
    settings: Method | None = None
    """Settings under a reading, in place of the paper's."""


class Arrays(Model):
    """Fitted attributes that are kept, and of which cells."""

    names: list[str]
    repeats: list[NotNegative]


class Experiment(Model):
    """Methods on data sets, by a protocol."""

    section: str
    title: str
    tiers: Some[Tier] = ["quick", "paper"]
    datasets: DataSets
    protocol: str
    repeats: Count | None = None
    mode: Literal["select", "path"] = "select"
    methods: Some[MethodEntry]
    metrics: Some[str]
    record_tasks: bool = False
    select_by: str | None = None
    record_path: bool = False
    arrays: Arrays | None = None

    @property
    def variants(self) -> list[Variant]:
        """The data sets: the product of what varies."""
        data = self.datasets
        varied = _combinations(data.vary)
        return [Variant(data.name, {**data.options, **each}) for each in varied]

    def entry(self, method: str) -> MethodEntry:
        """Return the entry of a method."""
        return {entry.method: entry for entry in self.methods}[method]


class ExperimentsFile(Model):
    """All of ``experiments.yaml``."""

    paper: Publication
    protocols: dict[str, Protocol]
    grids: dict[str, Any] = {}
    """Values that YAML anchors name; nothing else takes them from here."""
    lists: dict[str, Some[Any]] = {}
    """Lists that ``for_each`` names, in all files of the paper."""
    methods: dict[str, Method]
    experiments: dict[Name, Experiment]


# artefacts.yaml


class Tolerance(Model):
    """Distance allowed from a printed number, in its unit or relative to it."""

    absolute: Positive | None = None
    relative: Positive | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.absolute is None) == (self.relative is None):
            raise ValueError("give either an absolute or a relative tolerance")
        return self

    def at(self, published: float) -> float:
        """Return the tolerance for a published value, in its unit."""
        if self.absolute is not None:
            return self.absolute
        assert self.relative is not None
        return self.relative * abs(published)


class QuotedCell(Model):
    """A printed number, and the scores behind ours."""

    row: str
    column: str
    where: Selector


class Quoted(Model):
    """Numbers that the text of a paper prints."""

    file: str
    unit: str
    scale: Number = 1
    tolerance: Tolerance
    cells: list[QuotedCell]


class ComparisonRow(Model):
    """A data set of a comparison."""

    experiment: str
    metric: str
    blocks: Some[str] | None = None
    readings: dict[str, str] = {}
    beside: dict[str, str] = {}
    properties: Annotated[list[str], AfterValidator(without_repeats)] = []


class Comparison(Model):
    """Methods (columns) over data sets (rows).

    It is as a paper prints them or, with ``pairs``, one of which nothing is published.
    """

    control: str
    scale: Number
    columns: Annotated[dict[str, str | Some[str]], Field(min_length=3)]
    rows: Annotated[dict[str, ComparisonRow], Field(min_length=1)]
    blocks: Selectors
    pairs: Annotated[
        list[str], Field(min_length=2), AfterValidator(without_repeats)
    ] = []
    """The columns that are tested against each other."""
    main: str = ""
    """The block that decides."""
    unit: str = ""
    """Unit of the scores times the scale."""
    rope: Positive = 0
    """Differences up to this, in the unit, count as none."""

    @property
    def methods(self) -> dict[str, list[str]]:
        """The methods of each column, of which an experiment has at most one."""
        return {
            name: [methods] if isinstance(methods, str) else methods
            for name, methods in self.columns.items()
        }

    @model_validator(mode="after")
    def _check_plan(self) -> Self:
        for key in ("main", "unit", "rope") if self.pairs else ():
            if not getattr(self, key):
                raise missing(key, "a comparison with 'pairs' has it")
        return self


class LeftOut(Model):
    """Methods that data sets are compared without, and why."""

    methods: Some[str]
    rows: Some[str] | None = None
    reason: str


class Setting(Model):
    """Data sets with a property, at a train size, for which methods are compared."""

    label: str
    property: str
    block: str


class Artefact(Model):
    """A figure or a table of a paper."""

    kind: Literal["figure", "table"]
    title: str
    derived: bool = False
    """True if all its numbers follow from others of the paper, or are these again."""
    steps: list[str] = []
    """Functions of the paper's ``steps`` that compute what it shows."""
    quoted: Quoted | None = None
    comparison: Comparison | None = None
    experiments: list[str] = []

    @property
    def shown(self) -> list[str]:
        """The experiments that it shows; none if it is from equations."""
        rows = self.comparison.rows.values() if self.comparison else ()
        return self.experiments or list(dict.fromkeys(row.experiment for row in rows))


class Figure(Artefact):
    """A figure, drawn by its own function or by one for comparisons."""

    kind: Literal["figure"]
    function: str = ""
    """Function of the paper that draws the comparison, in place of the figure's own."""

    @model_validator(mode="after")
    def _check_drawing(self) -> Self:
        if self.function and self.comparison is None:
            raise missing("comparison", "the function draws one")
        return self


class Table(Artefact):
    """A table of numbers, each selected by its row and its column."""

    kind: Literal["table"]
    layout: Literal["cells"] = "cells"
    comparison: None = None
    experiment: str
    file: str
    corner: str
    unit: str
    scale: Number
    decimals: NotNegative
    tolerance: Tolerance
    columns: Selectors
    rows: Selectors
    extra_rows: Selectors = {}
    extra_columns: Selectors = {}

    @property
    def shown(self) -> list[str]:
        """The experiments that it shows."""
        parts = (self.rows, self.columns, self.extra_rows, self.extra_columns)
        named = [s.get("experiment") for p in parts for s in p.values()]
        texts = [name for name in named if isinstance(name, str)]
        return list(dict.fromkeys([self.experiment, *texts]))


class Ranking(Artefact):
    """Scores of methods over data sets, and their ranks."""

    kind: Literal["table"]
    layout: Literal["ranking"]
    file: str
    unit: str
    decimals: NotNegative
    tolerance: Tolerance
    rank_tolerance: Tolerance
    comparison: Comparison


class RankTests(Artefact):
    """Tests of the mean ranks of methods."""

    kind: Literal["table"]
    layout: Literal["rank_tests"]
    file: str
    tolerances: dict[str, Tolerance]
    comparison: Comparison

    @model_validator(mode="after")
    def _check_tolerances(self) -> Self:
        for key in ("test statistic", "p value", "adjusted α", "methods dominated"):
            if key not in self.tolerances:
                raise wrong("tolerances", f"the key {key!r} is missing")
        return self


class MethodTable(Artefact):
    """A comparison of methods of which nothing is published."""

    kind: Literal["table"]
    layout: Literal[
        "method_scores",
        "method_ranks",
        "method_pairs",
        "method_posteriors",
        "baselines",
        "left_out",
        "decisions",
    ]
    comparison: Comparison
    left_out: list[LeftOut] = []
    settings: list[Setting] = []
    """Rows of a table of decisions."""
    baselines: list[str] = []
    """Columns that were added to what papers propose,"""
    proposed: list[str] = []
    """and those of what they propose."""
    notes: list[str] = []
    """Printed last below the table."""

    @model_validator(mode="after")
    def _check_settings(self) -> Self:
        if not self.comparison.pairs:
            raise wrong("comparison", "the key 'pairs' is missing")
        if self.layout == "decisions" and not self.settings:
            raise missing("settings", "a decision is for data sets with a property")
        if self.layout == "baselines" and not (self.baselines and self.proposed):
            raise missing("baselines", "they and 'proposed' name columns")
        return self


class StepTable(Artefact):
    """The numbers of a step of the paper."""

    kind: Literal["table"]
    layout: Literal["step"]
    comparison: None = None
    steps: Annotated[list[str], Field(min_length=1, max_length=1)]
    notes: list[str]


class ReadingsTable(Artefact):
    """A table of a run of readings; no file has it."""

    kind: Literal["table"] = "table"
    layout: Literal["reach", "bounds"]
    comparison: None = None


AnyTable = Table | Ranking | RankTests | MethodTable | StepTable | ReadingsTable

_KINDS: dict[str, type[Artefact]] = {"figure": Figure, "table": Table}
_LAYOUTS: dict[str, type[Artefact]] = {
    layout: model
    for model in (Table, Ranking, RankTests, MethodTable, StepTable)
    for layout in get_args(model.model_fields["layout"].annotation)
}


def model_of_artefact(artefact: dict[str, Any]) -> type[Artefact]:
    """Return the model of a figure, or of a table by its layout."""
    if "kind" not in artefact:
        raise missing("kind", "it must be one of 'figure', 'table'")
    key, value, models = "kind", artefact["kind"], _KINDS
    if value == "table":
        key, value, models = "layout", artefact.get("layout", "cells"), _LAYOUTS
    if value not in [*models]:
        raise wrong(key, f"{shown(value)} is not one of {', '.join(map(repr, models))}")
    return models[value]


def _as_artefact(artefact: Any) -> Any:
    if not isinstance(artefact, dict):
        return artefact
    return model_of_artefact(artefact).model_validate(artefact)


AnyArtefact = Annotated[Artefact, BeforeValidator(_as_artefact)]


class ArtefactsFile(Model):
    """All of ``artefacts.yaml``."""

    artefacts: dict[Name, AnyArtefact]


# claims.yaml


def _check_side(side: dict[str, Any]) -> dict[str, Any]:
    for key, value in side.items():
        if key in ("method", "experiment") and not isinstance(value, str):
            raise wrong(key, f"{shown(value)} is not text")
        values = value if isinstance(value, list) else [value]
        if any(isinstance(each, list | dict) for each in values):
            raise wrong(key, f"{shown(value)} is not text, a number, or a list of them")
    return side


Side = Annotated[Selector, AfterValidator(_check_side)]


class _Arguments(Model):
    model_config = ConfigDict(extra="allow")

    experiment: str
    metric: str = ""
    unit: Literal["repeat", "task", "train_size"] = "repeat"
    lower: Side = {}
    higher: Side = {}
    first: Side = {}
    second: Side = {}
    where: Side = {}
    minus: Side = {}
    axis: str = ""
    log_axis: bool = False
    direction: Literal["increasing", "decreasing", "nonincreasing", "nondecreasing"] = (
        "increasing"
    )
    margin: Positive = 1
    rows: list[Side] = []
    others: list[Side] = []
    control: str = ""
    baselines: list[str] = []
    low: Number = 0
    high: Number = 0
    at_least: Number = 0
    at_most: Number | None = None
    step: str = ""
    column: str = ""


QUOTATION = re.compile(r'l\. (\d+)(?:–\d+)?: "([^"]+)"')
"""A sentence of a paper in a basis: the line of the stored text, and the words."""


def _check_basis(basis: str) -> str:
    if re.match(r"l\. \d", basis):
        if not QUOTATION.match(basis):
            raise ValueError(
                f'{shown(basis)} quotes nothing; write l. LINE: "words of the text"'
            )
    elif not re.match("(published code|ours)($|[:;,] )", basis):
        raise ValueError(
            f'{shown(basis)} names no source; begin with l. LINE: "words of the text", '
            "published code, or ours"
        )
    return basis


Basis = Annotated[str, AfterValidator(_check_basis)]
"""The foundation of a reading: the text, published code, or our thought."""


class ClaimSetting(Model):
    """Arguments of a claim's test in one of its settings, and those of them that vary.

    ``over_tasks`` stands in place of arguments where another experiment has kept single
    tasks.
    """

    varied: dict[str, Any] = {}
    args: Annotated[dict[str, Any], checked_by(_Arguments)]
    over_tasks: dict[str, Any] = {}

    @property
    def experiments(self) -> set[str]:
        """All experiments with scores that the test compares."""
        sides = [value for value in self.args.values() if isinstance(value, dict)]
        parts = [self.args, *sides, *self.args.get("rows", [])]
        return {part["experiment"] for part in parts if "experiment" in part}


def expanded_settings(args: Any, blocks: Any) -> list[dict[str, Any]]:
    """Return the arguments of a test in each setting.

    Blocks follow each other; each is the product of the values of its keys, of which
    ``lower.method`` is one within an argument, and ``lower.n_tasks, higher.n_tasks``
    two that are equal.
    """
    made = []
    for block in blocks if isinstance(blocks, list) else [blocks]:
        axes = {k: v if isinstance(v, list) else [v] for k, v in block.items()}
        for varied in _combinations(axes):
            arguments = deepcopy(args)
            for paths, value in varied.items():
                for path in paths.split(", "):
                    *parents, last = path.split(".")
                    place = arguments
                    for parent in parents:
                        place = place.setdefault(parent, {})
                    place[last] = value
            over_tasks = arguments.pop("over_tasks", {})
            made.append({"varied": varied, "args": arguments, "over_tasks": over_tasks})
    return made


class Claim(Model):
    """A sentence of a paper, and the test of it in each of its settings.

    In a file the settings are ``args`` and, under ``settings``, what varies of them.
    """

    id: Name
    section: str
    line: Count
    """Line of the stored text where the quotation begins."""
    quote: str
    tested: str
    """The test in words."""
    printed: str = ""
    """The margin as the paper prints it."""
    evidence: list[str] = []
    """Figures and tables that show it."""
    quantifier: Literal["all", "most", "some"] = "all"
    """In how many settings the sentence must hold."""
    test: str
    settings: Some[ClaimSetting]

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, document: Any) -> Any:
        if not isinstance(document, dict) or not isinstance(document.get("args"), dict):
            return document
        rest = {key: each for key, each in document.items() if key != "args"}
        blocks = document.get("settings", {})
        of = blocks if isinstance(blocks, list) else [blocks]
        if not all(isinstance(block, dict) for block in of):
            raise wrong(
                "settings", f"{shown(blocks)} is no mapping and no list of them"
            )
        return rest | {"settings": expanded_settings(document["args"], blocks)}

    @property
    def experiments(self) -> set[str]:
        """All experiments with scores that the settings compare."""
        return {name for each in self.settings for name in each.experiments}


def claims_on(
    claims: Iterable[Claim], is_kept: Callable[[ClaimSetting], bool]
) -> list[Claim]:
    """Return claims with some of their settings, those that are left with any."""
    kept = (
        (claim, [each for each in claim.settings if is_kept(each)]) for claim in claims
    )
    return [c.model_copy(update={"settings": found}) for c, found in kept if found]


class MainClaim(Model):
    """The sentence that a paper is about, chosen by hand, and how it is drawn."""

    claim: Name
    says: str
    """The sentence in our words."""
    artefact: Name
    """Table or figure that pages show first."""
    axis: str
    """The effect in words, with its unit."""
    scale: Number = 1
    rows: Some[str]
    """Labels; each is of as many settings, in their order."""
    lines: str = ""
    """The settings of a row, from the top, if they are several."""
    printed: list[Number] = []
    """Effect that the paper prints, or implies at the least, in each row."""
    remark: str = ""
    """Where the printed effects are from, or why there are none."""


class ClaimsFile(Model):
    """All of ``claims.yaml``."""

    main_claim: MainClaim | None = None
    claims: list[Claim]


# readings.yaml


class DataChange(Model):
    """Another data set, or other options of it."""

    name: str | None = None
    options: dict[str, Any] = {}

    _not_empty = model_validator(mode="before")(some_keys)


class MethodChange(Model):
    """Other settings of some methods; null leaves a parameter out."""

    of: Distinct[Name]
    class_name: str | None = Field(default=None, alias="class")
    params: Annotated[dict[str, Any], Field(min_length=1)] = {}
    grid: Annotated[dict[str, Some[Any] | None], Field(min_length=1)] = {}
    search: Search | None = None
    selection: Selection | None = None
    hold: dict[str, NotNegative] | None = None
    """In place of what the experiment holds; {} chooses in every repeat."""

    @model_validator(mode="after")
    def _check_change(self) -> Self:
        if len(self.model_fields_set) == 1:
            raise ValueError(
                "nothing changes: give class, params, grid, search, selection or hold"
            )
        return self


class ReadingChange(Model):
    """Changes that a reading makes to the main protocol."""

    datasets: DataChange | None = None
    protocol: Annotated[dict[str, Any], Field(min_length=1)] = {}
    methods: Some[MethodChange] = []
    metrics: Some[str] = []
    select_by: str | None = None
    in_place: Annotated[dict[str, str], Field(min_length=1)] = {}
    """Metrics of the experiment, and those that stand for them."""
    sizes: Annotated[dict[int, int], Field(min_length=1)] = {}
    """Train sizes, and those of the experiment that they stand for."""

    _not_empty = model_validator(mode="before")(some_keys)

    @property
    def is_fitted(self) -> bool:
        """True if it needs fits of its own."""
        return bool(self.model_fields_set - {"in_place"})


class ReadExperiment(Model):
    """The methods and repeats that an experiment has under a reading."""

    methods: Distinct[Name] = []
    repeats: Count | None = None


class Reading(Model):
    """An alternative to what the main protocol does."""

    label: str
    basis: Basis
    kind: Literal["legitimate", "optimistic", "bound"]
    """Optimistic if test data choose anything, bound if it only shows which numbers are
    out of reach."""
    experiments: Annotated[dict[Name, ReadExperiment], Field(min_length=1)]
    change: ReadingChange
    only: Distinct[Name] = []
    """The methods that it is read for, all others as in the main protocol."""


class Factor(Model):
    """A choice that a paper leaves open."""

    label: str
    main: str
    alternatives: Annotated[dict[Name, Reading], Field(min_length=1)]


class ReadingsFile(Model):
    """All of ``readings.yaml``."""

    readings: Annotated[dict[Name, Factor], Field(min_length=1)]
    figures: dict[Name, Figure] = {}
    """Drawn by functions of the paper from all of their experiments."""


class Origin(Model):
    """Origin of an experiment in a run of readings."""

    of: str
    """The main experiment."""
    reading: str
    """``factor=alternative``."""
    fits: str
    """The experiment whose scores it reads: ``of`` if those of the main record."""
    is_whole: bool
    """True if nothing of the main experiment can stand beside it."""
    times: int
    """Number of repeats that stand for each of the main experiment."""
    changes: list[str]
    """Methods that are not the main ones any more, run or not."""
    only: list[str] = []
    """Methods that are read under it, if not all that it fits."""
    in_place: dict[str, str] = {}
    """Metrics of the main experiment, and those that stand for them."""
    sizes: dict[int, int] = {}
    """Train sizes, and those of the main experiment that they stand for."""


class Readings(Model):
    """Readings of a paper, as a run has them."""

    factors: dict[str, Factor]
    experiments: dict[str, Origin]
    main: "Paper"


class Record(Model):
    """A published record that methods are compared with."""

    folder: Path
    note: str
    """Whose scores these are."""


# A paper's folder, for one tier


class Paper(Model):
    """A paper's configuration with the values of one tier."""

    paper: Publication
    protocols: dict[str, Protocol]
    methods: dict[str, Method]
    experiments: dict[str, Experiment]
    artefacts: dict[str, Artefact] = {}
    claims: list[Claim] = []
    main_claim: MainClaim | None = None
    tier: Tier
    published: Path
    """Folder of the printed numbers."""
    seconds: dict[str, float] = {}
    """Measured seconds of a repeat, by ``experiment/data set/method``."""
    changes: dict[str, Any] = {}
    """Keys that were set to other values."""
    own: list[str] | None = None
    """Methods that joined."""
    remarks: list[str] = []
    """Sentences on the methods that joined, for the end of a run."""
    readings: Readings | None = None
    parts: list[str] = []
    """Experiments or artefacts that were chosen."""
    record: Record | None = None
    """Published scores that are compared with those of the methods that joined."""

    @property
    def folder(self) -> Path:
        """Folder of the configuration."""
        return self.published.parent

    @property
    def variants(self) -> list[Variant]:
        """The data sets of all experiments, each once."""
        every = (v for each in self.experiments.values() for v in each.variants)
        return list({variant.id: variant for variant in every}.values())

    def method_of(self, entry: MethodEntry) -> Method:
        """Return the definition of a method as an experiment uses it."""
        return entry.settings or self.methods[entry.method]

    def n_repeats(self, experiment: str) -> int:
        """Return the repeats of an experiment: the first of its protocol's."""
        settings = self.experiments[experiment]
        available = self.protocols[settings.protocol].repeats
        wanted = settings.repeats or available
        if wanted > available:
            raise ConfigError(
                f"key 'experiments.{experiment}.repeats': {wanted} is more than the "
                f"{available} of protocol {settings.protocol!r}"
            )
        return wanted
