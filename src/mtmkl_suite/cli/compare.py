"""``mtmkl compare``: statistics of scores from any source."""

import argparse
import sys
from pathlib import Path

from mtmkl_suite.files import name_of
from mtmkl_suite.report.pages.comparison_page import PAGE, sentences, write_comparison
from mtmkl_suite.statistics.matrix_tests import compare_matrix
from mtmkl_suite.statistics.score_tables import read_matrix

_DESCRIPTION = """\
Compare methods over data sets. SCORES is a long table, with columns method, dataset,
score and, if a method has several scores on a data set, repeat; or a wide one, with a
column dataset and a column per method. Writes csv tables and one HTML page, on which
the reader selects methods and data sets.
"""


def add_arguments(compare: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    compare.description = _DESCRIPTION
    compare.add_argument("scores", type=Path, help=".csv, .tsv (also .gz) or .parquet")
    compare.add_argument(
        "--control", metavar="METHOD", help="test the others against this method"
    )
    compare.add_argument(
        "--rope",
        type=float,
        default=0.0,
        metavar="WIDTH",
        help="differences up to this size, in the unit of the scores, count as none; "
        "fix it before you see the scores (default: 0)",
    )
    better = compare.add_mutually_exclusive_group()
    for name, value in (("higher", True), ("lower", False)):
        better.add_argument(
            f"--{name}-is-better",
            dest="higher_better",
            action="store_const",
            const=value,
            help="needed unless the name of the score implies it (accuracy, rmse, …)",
        )
    for kind in ("method", "dataset", "score"):
        compare.add_argument(
            f"--{kind}-column",
            dest=kind,
            default=kind,
            metavar="COLUMN",
            help=f"column of the {kind}s (default: {kind})",
        )
    compare.add_argument(
        "--repeat-column",
        dest="repeats",
        action="append",
        metavar="COLUMN",
        help="column that numbers repeats, folds or tasks within a data set (may be "
        "repeated; default: repeat, if there is one)",
    )
    compare.add_argument(
        "--seconds-column",
        dest="seconds",
        default="seconds",
        metavar="COLUMN",
        help="column of run times, for score against seconds (default: seconds, if a "
        "long table has one)",
    )
    compare.add_argument(
        "--test-share",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="share of the samples of a data set in each test set, which is the "
        "correlation of two repeats: 0.1 for tenfold cross-validation, 0 if each "
        "repeat has samples of its own (default: 0.5, which is cautious)",
    )
    compare.add_argument(
        "--where",
        action="append",
        default=[],
        type=_condition,
        metavar="COLUMN=VALUE",
        help="keep only these rows; several values of a column are alternatives",
    )
    compare.add_argument(
        "--independent",
        action="store_true",
        help="treat data sets whose names differ only by a number as independent",
    )
    compare.add_argument(
        "--drop-incomplete",
        choices=("datasets", "methods"),
        help="leave out the data sets or the methods with missing scores",
    )
    compare.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder for page and tables (default: comparison-<name of the file>)",
    )
    compare.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed of the bootstrap and the posterior (default: 0)",
    )
    compare.set_defaults(run=_compare)


def _condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=VALUE")
    return column, value


def _compare(parsed: argparse.Namespace) -> int:
    where: dict[str, list[str]] = {}
    for column, value in parsed.where:
        where.setdefault(column, []).append(value)
    scores = read_matrix(
        parsed.scores,
        method=parsed.method,
        dataset=parsed.dataset,
        score=parsed.score,
        repeats=parsed.repeats or ("repeat",),
        seconds=parsed.seconds,
        where=where,
        higher_better=parsed.higher_better,
        independent=parsed.independent,
        drop_incomplete=parsed.drop_incomplete,
    )
    for remark in [scores.read, *scores.remarks]:
        print(f"mtmkl: note: {remark}", file=sys.stderr)
    found = compare_matrix(
        scores,
        control=parsed.control,
        rope=parsed.rope,
        test_share=parsed.test_share,
        seed=parsed.seed,
    )
    folder = parsed.output or Path(f"comparison-{name_of(parsed.scores)}")
    earlier = folder / PAGE
    before = earlier.read_bytes() if earlier.is_file() else None
    conditions = [f"{column} = {value}" for column, value in parsed.where]
    page = write_comparison(
        found, folder, source=", ".join([parsed.scores.name, *conditions])
    )
    if before not in (None, page.read_bytes()):
        print(
            f"mtmkl: note: another comparison in {folder} was replaced; --output sets "
            "another folder",
            file=sys.stderr,
        )
    print("\n".join(sentences(found)))
    print(f"Page: {page.resolve().as_uri()}")
    return 0
