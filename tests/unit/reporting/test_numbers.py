import pytest

from mtmkl.reporting.numbers import p_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(float("nan"), "–"), (0.0, "< 0.001"), (0.0312, "0.031"), (1.0, "1.000")],
)
def test_probabilities_as_text(value, text):
    assert p_text(value) == text
