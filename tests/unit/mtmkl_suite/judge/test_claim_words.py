import pytest

from mtmkl_suite.config.models import ClaimSetting
from mtmkl_suite.judge.claim_words import setting_in_words


@pytest.mark.parametrize(
    ("varied", "words"),
    [
        ({}, ""),
        ({"higher.method": "p2", "experiment": "toy_sd"}, "p = 2, toy sd"),
        ({"lower.train_size, higher.train_size": 20}, "training size 20"),
        ({"where.n_tasks": 5, "low": 3, "rows": [{}]}, "5 tasks, at least 3"),
        ({"higher.setting": '{"alpha": 148.41315}'}, "alpha = 148.4"),
        ({"where.dataset": "toy[n_a=5]"}, "data set toy (n a = 5)"),
        ({"over_tasks.experiment": "e"}, ""),
    ],
)
def test_what_varies_is_in_words(varied, words):
    setting = ClaimSetting(varied=varied, args={"experiment": "e"})
    assert setting_in_words(setting, {"p2": "p = 2"}) == words
