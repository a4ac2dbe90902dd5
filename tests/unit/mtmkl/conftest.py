"""Problems that many tests of the library share."""

from regression_problems import make_problem, problem  # noqa: F401
