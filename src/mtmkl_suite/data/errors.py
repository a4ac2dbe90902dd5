"""Errors of data sets: files that are missing, damaged or unexpected."""


class DataNotAvailableError(RuntimeError):
    """A file of a data set is in no place that may be asked."""


class DataCorruptError(RuntimeError):
    """A file is there and is not what the registry, or its loader, expects."""


def check_expected(name: str, what: str, found: object, expected: object) -> None:
    """Compare a known fact of a data set with what was read.

    Raises
    ------
    DataCorruptError
        If they differ; the message names the data set, the fact and both values.
    """
    if found != expected:
        raise DataCorruptError(f"{name}: {what} is {found}, expected {expected}")
