"""A method that fails is named, so that the others can continue."""

from collections.abc import Iterator
from contextlib import contextmanager


class MethodFailedError(Exception):
    """A method could not be fitted or scored; its cause is the exception it raised."""


@contextmanager
def naming(cell: str) -> Iterator[None]:
    """Raise whatever goes wrong inside as a failure of the method in this cell."""
    try:
        yield
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else repr(error)
        raise MethodFailedError(f"{cell}: {what}") from error
