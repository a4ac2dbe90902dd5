"""One line that shows how far a run is."""

import sys
from types import TracebackType
from typing import TextIO

_PLAIN_LINES = 10


class ProgressLine:
    """A live line on a terminal; elsewhere a plain line at every tenth of the work."""

    def __init__(self, total: int, what: str, stream: TextIO | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.total = total
        self.what = what
        self._tenths = 0
        self._console = Console(
            file=stream or sys.stderr, soft_wrap=True, highlight=False, markup=False
        )
        self._progress = Progress(
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            console=self._console,
            transient=True,
            refresh_per_second=2,
            disable=not self._console.is_terminal,
            # What other code prints stays where it sends it.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task(self._text(0, None), total=total)
        self._progress.start()

    def update(self, done: int, seconds_left: float | None = None) -> None:
        """Show that so many pieces are done, and the time left where it is known."""
        text = self._text(done, seconds_left)
        self._progress.update(self._task, completed=done, description=text)
        tenths = _PLAIN_LINES * done // self.total if self.total else 0
        if not self._console.is_terminal and tenths > self._tenths:
            self._tenths = tenths
            self._console.print(text)

    def print(self, text: str) -> None:
        """Print lines above the live line."""
        self._console.print(text)

    def close(self) -> None:
        """Take the live line away."""
        # Elsewhere rich before version 14 prints an empty line in its place.
        if self._console.is_terminal:
            self._progress.stop()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _text(self, done: int, seconds_left: float | None) -> str:
        text = f"{done} of {self.total} {self.what}"
        if done == self.total:
            return text
        if seconds_left is None:
            return f"{text}, time left not known yet"
        return f"{text}, about {duration(seconds_left)} left"


def duration(seconds: float) -> str:
    """Return a time as people say it: "40 s", "3 min", "2 h 15 min"."""
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
