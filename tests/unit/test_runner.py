"""What ``run_paper`` refuses before any work."""

import pytest

from mtmkl.config import ConfigError
from mtmkl.runner import run_paper


@pytest.mark.parametrize(
    ("paper", "experiment", "tier", "message"),
    [
        ("yousefi2015", "vehicle", "quick", "only in tier paper: add --tier paper"),
        ("yousefi2015", "nope", "quick", "'nope' is unknown; known: robot, digits"),
        ("yousefi2015", "nope", "paper", "'nope' is unknown; known: robot, vehicle"),
    ],
)
def test_an_experiment_that_is_not_there(tmp_path, paper, experiment, tier, message):
    with pytest.raises(ConfigError, match=message):
        run_paper(paper, tier=tier, experiments=["robot", experiment], results=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("methods", [[], ["mtl_feat_linear", "floor"]])
def test_a_grid_is_for_a_method_that_has_none(tmp_path, methods):
    with pytest.raises(ConfigError, match="--grid needs --method package"):
        run_paper(
            "argyriou2008",
            experiments=["digits"],
            methods=methods,
            grid={"gamma": [1.0]},
            results=tmp_path,
        )
    assert not any(tmp_path.iterdir())
