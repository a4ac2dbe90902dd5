import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtmkl_suite.judge.claim_tests import ClaimError
from mtmkl_suite.judge.claims import result_of
from mtmkl_suite.judge.observations import NoDataError

ABOUT = {"experiment": "e", "step": "times", "column": "seconds"}
SIDES = {"lower": {"solver": "fast"}, "higher": {"solver": "slow"}}


def run(test, times, **args):
    return result_of(test, ABOUT | args, None, steps={"times": times})


@pytest.fixture
def times():
    rng = np.random.default_rng(5)
    rows = [
        {
            "solver": solver, "repeat": repeat, "n": n, "C": C,
            "seconds": base * n**power * C * np.exp(0.1 * rng.normal()),
        }
        for solver, base, power in (("fast", 1e-3, 0.5), ("slow", 3e-3, 1.5))
        for repeat in range(6)
        for n in (10, 100, 1000)
        for C in (1.0, 5.0)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def logs_of(times, solver, keys):
    part = times[times["solver"] == solver]
    return np.log(part["seconds"]).groupby([part[key] for key in keys]).mean()


class TestRatio:
    # Slow takes 3 n times as long as fast, 300 times by the mean logarithm.
    @pytest.mark.parametrize(
        ("at_least", "verdict"),
        [(1.0, "holds"), (1e3, "does not hold")],
    )
    def test_matches_scipy_on_logarithms(self, times, at_least, verdict):
        found = run("ratio", times, **SIDES, at_least=at_least)
        slow, fast = (logs_of(times, s, ["repeat"]) for s in ("slow", "fast"))
        wanted = stats.ttest_1samp(slow - fast, np.log(at_least))
        assert found.verdict == verdict
        assert found.own.p == pytest.approx(wanted.pvalue)
        assert found.own.statistic == pytest.approx(np.exp((slow - fast).mean()))
        np.testing.assert_allclose(
            found.own.interval, np.exp(wanted.confidence_interval())
        )
        assert "6 values of repeat" in found.note

    def test_noise_and_a_single_unit_are_undecided(self, times):
        times["solver"] = np.tile(["fast", "slow"], len(times) // 2)
        times["C"] = 1.0
        times["seconds"] = np.exp(np.random.default_rng(0).normal(size=len(times)))
        assert run("ratio", times, **SIDES).verdict == "undecided"
        one = run("ratio", times[times["repeat"] == 0], **SIDES)
        assert one.verdict == "undecided"
        assert "one unit, so no test" in one.note

    @pytest.mark.parametrize(
        ("change", "error", "words"),
        [
            ({"column": "hours"}, ClaimError, "'hours' is not a column of step times"),
            ({"lower": {"tool": 1}}, ClaimError, "'tool' is not a column of step"),
            ({"lower": {"solver": "lost"}}, NoDataError, "solver lost"),
        ],
    )
    def test_errors_name_what_is_missing(self, times, change, error, words):
        with pytest.raises(error, match=words):
            run("ratio", times, **(SIDES | change))

    def test_values_that_have_no_logarithm_are_refused(self, times):
        times.loc[0, "seconds"] = 0.0
        with pytest.raises(ClaimError, match="not positive"):
            run("ratio", times, **SIDES)


class TestGrowth:
    @pytest.mark.parametrize(
        ("high", "verdict"),
        [(1.6, "holds"), (1.4, "does not hold"), (1.5, "undecided")],
    )
    def test_slope_of_logarithms(self, times, high, verdict):
        where = {"solver": "slow"}
        found = run("growth", times, where=where, axis="n", high=high)
        logs = logs_of(times, "slow", ["repeat", "n"]).unstack("n")
        slopes = [
            stats.linregress(np.log([10, 100, 1000]), row).slope
            for row in logs.to_numpy()
        ]
        assert found.own.statistic == pytest.approx(np.mean(slopes))
        wanted = stats.ttest_1samp(slopes, 0.0).confidence_interval()
        np.testing.assert_allclose(found.own.interval, wanted)
        assert found.verdict == verdict

    def test_a_single_level_is_no_data(self, times):
        part = times[times["n"] == 10]
        with pytest.raises(NoDataError, match="n of step times has a single level, 10"):
            run("growth", part, where={}, axis="n", high=1.0)


class TestEveryValue:
    @pytest.mark.parametrize(
        ("ends", "verdict"),
        [
            ({"low": 0.0, "high": 1e9}, "holds"),
            ({"high": 0.01}, "does not hold"),
            ({"low": 0.01}, "does not hold"),
        ],
    )
    def test_a_single_value_outside_refutes(self, times, ends, verdict):
        where = {"solver": "fast"}
        found = run("every_value", times, where=where, **ends)
        values = times[times["solver"] == "fast"]["seconds"]
        assert found.verdict == verdict
        assert found.own.statistic == values.max()
        assert found.own.interval == (values.min(), values.max())
        assert found.n_units == len(values)
