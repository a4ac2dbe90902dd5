"""The problems of the convex methods, stated once more for interior-point solvers.

Needs the extra ``reference``: cvxpy, in which problems are stated, and its solvers.
"""

try:
    import cvxopt  # noqa: F401
    import cvxpy  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'{error.name} is not installed: optima need pip install "mtmkl[reference]"'
    ) from error
