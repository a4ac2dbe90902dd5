"""``mtmkl certify``: a method's solution compared with the optimum of its problem."""

import argparse
import sys
import time
from typing import Any

from sklearn.base import is_classifier

from mtmkl.certify.reference import judge, why_not
from mtmkl.methods._base.graph import GraphEstimator
from mtmkl_suite.cli.common import json_of, positive
from mtmkl_suite.data import load
from mtmkl_suite.data.sample import draw
from mtmkl_suite.methods import resolve

_DESCRIPTION = """\
Fit a convex method on a small sample of a data set, and solve the problem of its
documentation with a reference solver (cvxopt or Clarabel). The optimum must lie between
the method's objective and its dual bound.
"""


def add_arguments(certify: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    certify.description = _DESCRIPTION
    certify.epilog = (
        "Exits with status 0 if the optimum lies between the bounds, 1 if not, and 2 "
        "if the method has no optimum to compare with."
    )
    certify.add_argument("--method", required=True, metavar="NAME")
    certify.add_argument("--dataset", required=True, metavar="NAME")
    for name, example, what in (
        ("params", '{"C": 10}', "parameters of the method"),
        ("options", '{"n_classes": 5}', "options of the data set"),
    ):
        certify.add_argument(
            f"--{name}",
            type=json_of(dict[str, Any], "a JSON object"),
            default={},
            metavar="JSON",
            help=f"{what}, such as '{example}'",
        )
    for name, default, what in (
        ("samples", 12, "samples per task"),
        ("tasks", 4, "number of tasks"),
    ):
        certify.add_argument(
            f"--{name}",
            type=positive,
            default=default,
            metavar="N",
            help=f"{what} (default: {default})",
        )
    certify.add_argument(
        "--seed", type=int, default=0, help="seed of the draw (default: 0)"
    )
    certify.set_defaults(run=_certify)


def _certify(parsed: argparse.Namespace) -> int:
    method = resolve(parsed.method)
    reason = why_not(method)
    if reason:
        print(f"mtmkl: {reason}", file=sys.stderr)
        return 2
    model = method().set_params(**parsed.params)
    data = load(parsed.dataset, **parsed.options)
    sample = draw(
        data,
        n_tasks=parsed.tasks,
        n_samples=parsed.samples,
        seed=parsed.seed,
        is_classifier=is_classifier(model),
        is_graph=isinstance(model, GraphEstimator),
    )
    begin = time.perf_counter()
    model.fit(sample.X, sample.y, task=sample.task)
    fitted = time.perf_counter()
    found = judge(model, sample.X, sample.y, sample.task)
    judged = time.perf_counter()
    print(
        f"{method.__name__} on {data.name}: {sample.n_tasks} tasks, "
        f"{sample.y.size} samples, {sample.X.shape[1]} features\n"
        f"objective            {found.objective:.10g}  ({fitted - begin:.2f} s)\n"
        f"dual bound           {found.bound:.10g}\n"
        f"relative gap         {found.gap:.1e}\n"
        f"interior point       {found.optimum.value:.10g}  "
        f"({judged - fitted:.2f} s, to {found.optimum.accuracy:.0e})\n"
        f"relative difference  {found.difference:.1e}"
    )
    if found.holds:
        print("The optimum lies between the bounds.")
        return 0
    print("mtmkl: the optimum does not lie between the bounds", file=sys.stderr)
    return 1
