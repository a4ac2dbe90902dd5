import pandas as pd
import pytest

from mtmkl_suite.config.load import load_paper, load_run_config
from mtmkl_suite.report.context import recorded_context
from mtmkl_suite.report.figures.main_claims import (
    main_answer,
    main_claim_svg,
    verdict_in_words,
)
from mtmkl_suite.report.record import read_claims
from mtmkl_suite.run.folders import PublishedFolder, record_folder

PAPERS = [name for name in load_run_config().papers if name != "comparison"]


def answer_of(paper):
    config = load_paper(paper, "paper")
    folder = PublishedFolder(record_folder(config))
    tables = read_claims(folder.claims), read_claims(folder.claim_settings)
    return main_answer(recorded_context(config, folder.path.parent), *tables), tables[0]


@pytest.mark.parametrize("paper", PAPERS)
def test_main_claims_are_judged_sentences_of_their_papers(paper):
    found, claims = answer_of(paper)
    row = claims.set_index("id").loc[found.main.claim]
    assert (found.verdict, found.quote) == (row["verdict"], row["quote"])
    assert found.words.startswith(found.verdict)
    assert set(found.effects["row"]) == set(range(len(found.main.rows)))
    svg = main_claim_svg(paper, found)
    assert svg == main_claim_svg(paper, found)
    assert b"prefers-color-scheme:dark" in svg


def test_effects_and_data_are_said_in_words():
    argyriou, _ = answer_of("argyriou2008")
    assert argyriou.printed == "Independent: 2.9; Aggregate: 4"
    assert argyriou.compared.startswith(
        "Lead in explained variance on School, points: Independent: 3."
    )
    assert "(corrected 95 % interval 3." in argyriou.ours
    widmer, _ = answer_of("widmer2015")
    assert widmer.words == "does not hold, on stand-in data"
    assert widmer.compared.startswith(
        "Lead in AUC, points, least to greatest (training sizes 2, 5, 10, 30, 60): "
        "Individual: 0."
    )
    jebara, _ = answer_of("jebara2011")
    assert "by training size, points, least to greatest: 0." in jebara.compared
    assert verdict_in_words("holds", ["original", "own kernels"]) == (
        "holds, with kernels of our own"
    )


def test_what_is_not_judged_has_no_effects():
    config = load_paper("argyriou2008", "quick")
    claim = config.main_claim.claim
    row = {"id": claim, "quote": "q", "line": 1, "verdict": "not judged (quick)"}
    settings = pd.DataFrame(
        [{"id": claim}] * 2,
        columns=["id", *answer_of("argyriou2008")[0].effects.columns[1:-1]],
    )
    context = recorded_context(config, record_folder(config).parent)
    found = main_answer(context, pd.DataFrame([row]), settings)
    assert (found.words, found.ours) == ("not judged (quick)", "")
    assert main_answer(context, pd.DataFrame([row])[:0], settings) is None
