"""Warnings of fits: each in the log of its job, one line per kind at the end."""

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

_LINE = re.compile(r"(.*): (\w*Warning): (.*)")
_TOLERANCE = re.compile(r"tol=([\d.e+-]*\d)")
_GAP = re.compile(r"duality gap of (\S*\d)")


@contextmanager
def warnings_of(method: str) -> Iterator[None]:
    """Print warnings, each in a line with the label of the method that is fitted."""

    def show(
        message: Warning | str, category: type[Warning], *_: object, **__: object
    ) -> None:
        text = " ".join(str(message).split())
        print(f"{method}: {category.__name__}: {text}")

    with warnings.catch_warnings():
        # By default the same text from the same line comes once.
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.showwarning = show
        yield


def counted_warnings(logs: Iterable[Path]) -> list[str]:
    """Return a line for each method and kind of warning in the logs of jobs.

    Solvers that stopped short are of one kind if they have the same tolerance, other
    warnings if they have the same text.
    """
    kinds: dict[tuple[str, str, bool], list[float]] = {}
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines():
            if found := _LINE.fullmatch(line):
                method, category, text = found.groups()
                kind, is_solver, gap = f"{category}: {text}", False, _GAP.search(text)
                tolerance = _TOLERANCE.search(text)
                if category == "ConvergenceWarning" and tolerance:
                    kind, is_solver = tolerance[1], True
                gaps = kinds.setdefault((method, kind, is_solver), [])
                gaps.append(float(gap[1]) if gap else 0.0)
    return [_line(*kind, gaps) for kind, gaps in kinds.items()]


def _line(method: str, kind: str, is_solver: bool, gaps: list[float]) -> str:
    if not is_solver:
        times = f" ({len(gaps)} times)" if len(gaps) > 1 else ""
        return f"{method}: {kind}{times}"
    fits = f"{len(gaps)} fits" if len(gaps) > 1 else "1 fit"
    gap = f", worst gap {max(gaps):.1e}" if max(gaps) else ""
    return f"{method}: {fits} ended above tol={kind}{gap}"
