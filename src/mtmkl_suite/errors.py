"""Errors that every room raises; loads nothing, so that the command starts at once."""


class ConfigError(ValueError):
    """A configuration file has an unknown key, a wrong value or a missing name."""


class TableError(ValueError):
    """A file that cannot be read as a table, or in two ways; says what to change."""


class DataNotAvailableError(RuntimeError):
    """A file of a data set is in no place that may be asked."""


class DataCorruptError(RuntimeError):
    """A file is there and is not what the registry expects."""


class ResultsInUseError(RuntimeError):
    """Another run is writing the same results."""
