"""Errors of data sets: files that are missing, damaged or unexpected."""


class DataNotAvailableError(RuntimeError):
    """A file of a data set is in no place that may be asked."""


class DataCorruptError(RuntimeError):
    """A file is there and is not what the registry expects."""
