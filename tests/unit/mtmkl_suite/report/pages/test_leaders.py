import numpy as np
from compared_methods import MEANS, artefact, context
from scipy import stats

from mtmkl_suite.report.pages.leaders import leaders

FEATURES = [name for name in MEANS if name != "Images"]


def test_the_best_methods_have_their_lead_over_the_control():
    found = context(FEATURES)
    table = artefact("baselines", baselines=["Linear"], proposed=["Ours"])
    found.config.artefacts["table_baselines_classification"] = table
    ((title, shown),) = leaders(found)
    assert title == "Classification on 6 data sets: the first 3 of 3, by mean rank"
    assert shown.header[-1] == "lead over Alone (mean and 95 % interval)"
    # Linear is above Alone on F alone.
    assert [row[:3] for row in shown.rows] == [
        ["Ours", "the five papers", "1.0"],
        ["Alone", "control", "2.2"],
        ["Linear", "current", "2.8"],
    ]
    alone, ours, _ = np.mean([MEANS[name] for name in FEATURES], axis=1).T
    gain = ours - alone
    low, high = stats.ttest_1samp(gain, 0).confidence_interval()
    lead = f"{gain.mean():+.1f} ({low:+.1f} to {high:+.1f})"
    assert shown.rows[0][3:] == [f"{ours.mean():.1f}", lead]
    assert shown.rows[1][4] == "–"
