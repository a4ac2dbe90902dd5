"""Multi-task and multiple-kernel learning with certified solvers."""

from importlib.metadata import version

#: Version of the installed package.
__version__ = version("mtmkl")
