"""Errors of data sets: files that are missing, damaged or unexpected."""


class DataNotAvailableError(RuntimeError):
    """A file of a data set is in no place that may be asked."""


class DataCorruptError(RuntimeError):
    """A file is there and is not what the registry, or its loader, expects."""


def check_expected(name: str, what: str, found: object, expected: object) -> None:
    """Refuse data of which a known fact is not what was read."""
    if found != expected:
        raise DataCorruptError(f"{name}: {what} is {found}, expected {expected}")
