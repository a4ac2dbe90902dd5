"""Multi-task and multiple-kernel learning: certified solvers, replicated papers."""

from importlib.metadata import version

#: Version of the installed package.
__version__ = version("mtmkl")
