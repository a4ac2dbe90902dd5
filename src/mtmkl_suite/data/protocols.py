"""Protocols: how data are split. :mod:`mtmkl_suite.data.splits` does the splitting."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from mtmkl_suite.documents import Count, Model, missing, validated, wrong

AS_PUBLISHED = 0
"""Train size of splits whose sizes the data set itself decides."""

WITH_FOLDS = ("published", "first_rows", "random", "per_task", "per_class", "given")
"""Kinds of protocols whose training rows are dealt to folds."""

_DRAWN_ROLES = ("halves", "thirds", "fractions")
WITH_VALIDATION = (*_DRAWN_ROLES, "given_roles")
"""Kinds of protocols whose splits have validation rows in place of folds."""

_SIZES = {
    "first_rows": ("train_sizes", "samples per task"),
    "halves": ("train_sizes", "samples per task"),
    "random": ("train_samples", "samples"),
    "per_task": ("train_sizes", "samples per task"),
    "per_class": ("train_sizes", "samples per class"),
    "fractions": ("train_percent", "%"),
}
"""Key of a protocol's train sizes, and what they count."""

Sizes = Count | Annotated[list[Count], Field(min_length=1)]
Percent = Annotated[int, Field(ge=1, le=98)]
Percents = Percent | Annotated[list[Percent], Field(min_length=1)]
Folds = Annotated[int, Field(ge=2)]


class Protocol(Model):
    """A way to split data; keys that do not belong to its kind are refused.

    Attributes
    ----------
    kind : str
        - ``published``: repeat r takes the r-th split that came with the data
          (``truth["train_1"]``, ``truth["train_2"]``, … mark training rows;
          ``truth["test_1"]`` … mark test rows, by default all others);
        - ``first_rows``: the first ``train_sizes`` rows of each task outside its
          test block (``truth["test_block"]``) are for training, the test block
          for testing; repeats differ in folds and task order only;
        - ``random``: ``train_samples`` samples drawn at random are for
          training, the others for testing;
        - ``per_task``: ``train_sizes`` samples of each task drawn at random are
          for training, its others for testing; tasks of the same samples have
          the same roles;
        - ``per_class``: likewise ``train_sizes`` samples of each class, that is of
          those with the same label in every task;
        - ``given``: ``truth["is_test"]`` marks the test rows;
        - ``given_roles``: ``truth["is_validation"]`` and ``truth["is_test"]`` mark
          the validation and the test rows, all others are for training;
        - ``halves``: ``train_sizes`` samples per task are for training; of the
          others one half each for validation and testing;
        - ``thirds``: a third of each task for training, validation and testing;
        - ``fractions``: ``train_percent`` of the samples that belong to the same
          tasks are for training, of the others one half each for validation and
          testing.
    train_sizes, train_samples, train_percent : int, list of int or None
        Training samples per task or class (8 by default with ``first_rows``), in all,
        or in percent; the train size in the key of a split.
    repeats : int
        Repeats are numbered from 0.
    folds : int or None
        Cross-validation folds; None for kinds with validation rows.
    stratified : bool
        With ``halves``, ``thirds`` and ``fractions``: whether every role has its share
        of each label within a task, and at least one sample of a label of which the
        task has three.
    shared : bool
        With ``fractions`` and ``halves``: whether a sample has one role in all of
        its tasks. If not, each task divides its samples by itself, so that what one
        task is tested on may train another.
    """

    kind: Literal[
        "published", "first_rows", "random", "per_task", "per_class", "given",
        "given_roles", "halves", "thirds", "fractions",
    ]  # fmt: skip
    train_samples: Sizes | None = None
    train_sizes: Sizes | None = None
    train_percent: Percents | None = None
    repeats: Count
    folds: Folds | None = None
    shared: bool = True
    stratified: bool = True

    @property
    def sizes(self) -> list[int]:
        """Train sizes of the splits."""
        if self.kind not in _SIZES:
            return [AS_PUBLISHED]
        given = getattr(self, _SIZES[self.kind][0])
        given = 8 if given is None else given
        return given if isinstance(given, list) else [given]

    def named(self, name: str) -> "NamedProtocol":
        """Return the protocol with an id."""
        given = {key: getattr(self, key) for key in self.model_fields_set}
        return NamedProtocol.model_construct(id=name, **given)

    @model_validator(mode="after")
    def _check_keys_of_kind(self) -> Self:
        size, _ = _SIZES.get(self.kind, (None, ""))
        allowed = {"id", "kind", "repeats", size}
        allowed |= {"folds"} if self.kind in WITH_FOLDS else set()
        allowed |= {"stratified"} if self.kind in _DRAWN_ROLES else set()
        allowed |= {"shared"} if self.kind in ("fractions", "halves") else set()
        for key in sorted(self.model_fields_set - allowed):
            keys = ", ".join(sorted(filter(None, allowed - {"id"})))
            if key == "folds":
                keys += ", and has validation rows in place of folds"
            raise wrong(key, f"it is not a key of kind {self.kind!r}, which has {keys}")
        if self.kind in WITH_FOLDS and self.folds is None:
            raise missing("folds", "this kind of protocol chooses by cross-validation")
        if size and self.kind != "first_rows" and getattr(self, size) is None:
            raise missing(size, "it says how many are for training")
        if len(set(self.sizes)) != len(self.sizes):
            raise wrong(str(size), f"{self.sizes} has a value twice")
        if self.kind == "random" and (self.folds or 0) > min(self.sizes):
            text = f"{self.folds} is more than the {min(self.sizes)} training samples"
            raise wrong("folds", f"{text}; take fewer")
        return self


class NamedProtocol(Protocol):
    """A protocol with an id, which is in the seeds of its draws and in messages."""

    id: Annotated[str, Field(min_length=1)]


AnyProtocol = Mapping[str, Any] | NamedProtocol
"""A protocol, or the keys of one."""


def check_protocol(protocol: AnyProtocol) -> NamedProtocol:
    """Return a protocol of which all keys are given, "id" among them."""
    if isinstance(protocol, NamedProtocol):
        return protocol
    name = protocol.get("id", "?")
    return validated(NamedProtocol, dict(protocol), source=f"protocol {name!r}")


def train_unit(kind: str) -> str:
    """Return what the train sizes of a kind of protocol count, "" if it has none."""
    return _SIZES[kind][1] if kind in _SIZES else ""
