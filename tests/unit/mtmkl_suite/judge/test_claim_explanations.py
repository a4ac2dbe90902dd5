import pytest

from mtmkl_suite.judge.claim_explanations import ClaimResult, explain_claims
from mtmkl_suite.judge.explanations import EXPLAINED, PARTLY, UNEXPLAINED, Reading

ROLES = Reading("roles", "permuted", is_optimistic=False)
INPUTS = Reading("inputs", "raw", is_optimistic=False)
TEST = Reading("choice", "on_test", is_optimistic=True)


def claim(verdict, effect, *, is_two_sided=True):
    return ClaimResult(verdict, f"mean {effect}", effect, is_two_sided)


def claims(count, verdict, effect):
    return {str(k): claim(verdict, effect) for k in range(count)}


def test_a_claim_is_explained_unless_its_reverse_would_be_as_well():
    main = claims(20, "undecided", 0.0)
    main["won"] = claim("holds", 1.0)
    holding = {name: claim("holds", 2.0) for name in main}
    found = explain_claims(main, {ROLES: holding}).set_index("row")
    assert "won" not in found.index
    assert set(found["status"]) == {EXPLAINED}
    assert set(found["chance"]) == {0.0}
    # Another alternative of the factor would have proved the opposite of ten.
    other = Reading("roles", "other", is_optimistic=False)
    opposite = {str(k): claim("does not hold", -2.0) for k in range(10)}
    found = explain_claims(main, {ROLES: holding, other: opposite}).set_index("row")
    assert set(found["status"]) == {PARTLY}
    assert found.loc["15", "chance"] == pytest.approx(10 / 21)


@pytest.mark.parametrize(
    ("count", "status"), [(1, PARTLY), (18, PARTLY), (19, EXPLAINED)]
)
def test_few_reversed_claims_cannot_tell_that_a_claim_is_explained(count, status):
    # None of the reversed claims holds: p is 1 / (count + 1), at most 0.05 from 19.
    main = claims(count, "undecided", 0.0)
    found = explain_claims(main, {ROLES: claims(count, "holds", 2.0)})
    assert set(found["status"]) == {status}
    assert set(found["chance"]) == {0.0}
    assert found["note"].str.startswith(f"p = {1 / (count + 1):.2g}; ").all()


@pytest.mark.parametrize(("count", "status"), [(38, PARTLY), (39, EXPLAINED)])
def test_a_second_reading_of_a_claim_halves_the_level(count, status):
    main = claims(count, "undecided", 0.0)
    holding, moved = claims(count, "holds", 2.0), claims(count, "undecided", 1.0)
    found = explain_claims(main, {ROLES: holding, INPUTS: moved})
    assert set(found["status"]) == {status}
    # A reading that leaves a claim as it is was not tried for it.
    found = explain_claims(main, {ROLES: holding, INPUTS: claims(9, "undecided", 1.0)})
    assert found["status"].tolist() == [status] * 9 + [EXPLAINED] * (count - 9)


def test_a_test_of_one_side_has_no_reverse():
    main = {"a": claim("undecided", 0.0, is_two_sided=False)}
    under = {ROLES: {"a": claim("holds", 1.0, is_two_sided=False)}}
    (found,) = explain_claims(main, under).to_dict("records")
    assert found["status"] == PARTLY
    assert found["note"].startswith("p = 1; 1 of 1 readings make")


def test_legitimate_readings_come_first():
    main = claims(20, "undecided", 0.0)
    under = {TEST: claims(20, "holds", 2.0), ROLES: claims(20, "holds", 1.0)}
    assert set(explain_claims(main, under)["reading"]) == {"roles=permuted"}


def test_a_claim_that_no_reading_supports_is_unexplained():
    main = {"a": claim("does not hold", -1.0), "b": claim("undecided", 0.0)}
    under = {
        ROLES: {"a": claim("undecided", 0.0)},
        INPUTS: {"a": claim("undecided", 1)},
    }
    found = explain_claims(main, under).set_index("row")
    assert found["status"].tolist() == [UNEXPLAINED, UNEXPLAINED]
    assert found.loc["a", "reading"] == "inputs=raw"
    assert found.loc["b", "note"] == "no reading changes it"
