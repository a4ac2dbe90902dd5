"""Warnings of fits: each in the log of its job, one line per kind at the end."""

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

_TOLERANCE = re.compile(r"tol=([\d.e+-]*\d)")
_GAP = re.compile(r"duality gap of (\S*\d)")


@dataclass(frozen=True)
class FitWarning:
    """A warning that a fit has given.

    Attributes
    ----------
    category : str
        Name of its class.
    text : str
    """

    category: str
    text: str

    @property
    def tolerance(self) -> str | None:
        """What a solver did not reach, as its warning says it."""
        found = _TOLERANCE.search(self.text)
        is_solver = self.category == "ConvergenceWarning"
        return found[1] if found and is_solver else None

    @property
    def gap(self) -> float:
        """The relative duality gap that a solver has reached, 0 if unknown."""
        found = _GAP.search(self.text)
        return float(found[1]) if found else 0.0


@contextmanager
def warnings_to(log: TextIO) -> Iterator[list[FitWarning]]:
    """Write warnings to a log in place of the standard error."""
    from sklearn.exceptions import ConvergenceWarning

    found: list[FitWarning] = []

    def show(
        message: Warning | str, category: type[Warning], *_: object, **__: object
    ) -> None:
        found.append(FitWarning(category.__name__, str(message)))
        print(f"{category.__name__}: {message}", file=log)

    with warnings.catch_warnings():
        # By default the same text from the same line comes once.
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.showwarning = show
        yield found


def counted(found: Iterable[tuple[str, FitWarning]]) -> list[str]:
    """Return a line for each method and kind of warning.

    Solvers that stopped short are of one kind if they have the same tolerance, other
    warnings if they have the same text.
    """
    kinds: dict[tuple[str, str], list[FitWarning]] = {}
    for method, each in found:
        kind = each.tolerance or f"{each.category}: {each.text}"
        kinds.setdefault((method, kind), []).append(each)
    return [_line(method, kind, mine) for (method, kind), mine in kinds.items()]


def _line(method: str, kind: str, found: list[FitWarning]) -> str:
    if found[0].tolerance is None:
        times = f" ({len(found)} times)" if len(found) > 1 else ""
        return f"{method}: {kind}{times}"
    fits = f"{len(found)} fits" if len(found) > 1 else "1 fit"
    worst = max(each.gap for each in found)
    gap = f", worst gap {worst:.1e}" if worst else ""
    return f"{method}: {fits} ended above tol={kind}{gap}"
