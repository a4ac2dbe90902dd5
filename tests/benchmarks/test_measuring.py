"""How benchmarks measure, on problems whose times and errors are known."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture
def measuring(benchmark):
    return benchmark("measuring")


@pytest.fixture
def toy(measuring):
    """A problem with the optimum 1, and solvers that say what they took."""

    def solver(seconds, error=lambda accuracy: 0.5 * accuracy):
        def solve(size, accuracy):
            return measuring.Outcome(
                1.0 + error(accuracy), 1.0 - accuracy, seconds(size, accuracy)
            )

        return solve

    def series(*baselines, sizes=(10, 20, 40), **options):
        ours = measuring.Solver(
            "ours", solver(lambda n, a: 1e-3 * n, lambda a: 1e-3 * a), (1.0,)
        )
        return measuring.Series(
            "toy", "n", sizes, lambda n: n, ours, baselines, **options
        )

    return solver, series


def measured(measuring, series, quick=False):
    table = measuring.Table("toy", "Toy")
    measuring.run(series, table, quick=quick)
    return table, {(row["baseline"], row["size"]): row for row in table.rows}


def test_baselines_are_as_accurate_as_ours_or_it_is_said(measuring, toy):
    """Errors are those of the objective, whatever the solver calls its accuracy."""
    solver, series = toy

    def fails(size, accuracy):
        raise RuntimeError("no\nway")

    table, rows = measured(
        measuring,
        series(
            measuring.Solver("squared", solver(lambda n, a: 1e-4 * n**2)),
            measuring.Solver("sloppy", solver(lambda n, a: 1e-6 / a, lambda a: 30 * a)),
            measuring.Solver("coarse", solver(lambda n, a: 0.1, lambda a: 0.3)),
            measuring.Solver("slow", solver(lambda n, a: 0.3 * n)),
            measuring.Solver("broken", fails),
            measuring.Solver("absent", solver(lambda n, a: 1.0), package="no_such_one"),
            accuracy=1e-4,
        ),
    )
    assert [rows["squared", n]["ratio"] for n in (20, 40)] == pytest.approx([2.0, 4.0])
    assert rows["squared", 40]["slope"] == pytest.approx(2.0)
    assert rows["ours", 40]["slope"] == pytest.approx(1.0)
    assert rows["squared", 10]["slope"] == ""
    # The loosest setting that is good enough.
    assert rows["sloppy", 10]["accuracy"] == pytest.approx(1e-6)
    assert rows["sloppy", 10]["remark"] == ""
    assert rows["coarse", 10]["error"] == pytest.approx(0.3)
    assert "lower bound" in rows["coarse", 10]["remark"]
    assert {size for name, size in rows if name == "slow"} == {10}
    assert table.left_out == [
        "toy: absent needs no_such_one", "toy: broken fails at n = 10: no",
        "toy: slow from n = 20 on, after 3 s",
    ]  # fmt: skip


def test_table_figure_and_page(benchmark, measuring, toy, tmp_path):
    solver, series = toy
    table, _ = measured(
        measuring, series(measuring.Solver("other", solver(lambda n, a: 0.1)))
    )
    measuring.write(table, tmp_path, quick=False)
    benchmark("figures").write_page(tmp_path, measuring.provenance(), False)
    with (tmp_path / "toy.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == measuring.COLUMNS
    assert len(rows) == 6
    about = json.loads((tmp_path / "toy.json").read_text())
    assert about["quick"] is False
    assert about["packages"]["numpy"] == np.__version__
    assert about["cores"] >= 1
    assert "<svg" in (tmp_path / "toy.svg").read_text()
    page = (tmp_path / "README.md").read_text()
    assert "| toy | n 40 | other | 0.1 | 2.5 |  |" in page
    assert "n 20" not in page
    assert "no measurements" not in page
    first = (tmp_path / "toy.svg").read_bytes()
    measuring.write(table, tmp_path, quick=False)
    assert (tmp_path / "toy.svg").read_bytes() == first
