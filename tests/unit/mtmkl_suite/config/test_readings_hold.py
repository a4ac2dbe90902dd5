"""What a method holds from one repeat may be chosen in every repeat by a reading."""

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.readings import load_readings

READ = load_readings("argyriou2008", "paper")


def test_a_reading_may_choose_in_every_repeat_what_the_main_protocol_holds():
    held, free = (
        {entry.method: entry for entry in experiments[name].methods}
        for experiments, name in (
            (load_paper("argyriou2008", "paper").experiments, "school"),
            (READ.experiments, "school@inputs=raw_school"),
        )
    )
    assert held["mtl_feat_gaussian"].hold == {"kernel": 0}
    assert free["mtl_feat_gaussian"].hold == {}
    assert free["mtl_feat_gaussian"].settings.params["standardize"] is False
