import math

import pytest

from mtmkl_suite.report.text import (
    few_digits,
    is_number,
    metric_words,
    metrics_in_words,
    number,
    p_text,
    with_minus,
)


@pytest.mark.parametrize(
    ("shown", "value", "text"),
    [
        (p_text, math.nan, "–"), (p_text, 0.0, "< 0.001"), (p_text, 0.0312, "0.031"),
        (p_text, 1.0, "1.000"),
        # Two digits, without a power of ten.
        (few_digits, 0.0, "+0.0"), (few_digits, 0.0123, "+0.012"),
        (few_digits, -0.96, "−0.96"), (few_digits, 123.4, "+123"),
        (few_digits, 2.3e-5, "+0.000023"), (few_digits, -1e-9, "+0.000000"),
        (number, -math.inf, "−∞"), (number, None, "–"), (number, math.nan, "–"),
    ],
)  # fmt: skip
def test_numbers_as_text(shown, value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-0.232 ± 0.015 (n = 2)", "−0.232 ± 0.015 (n = 2)"),
        ("0.1 to -0.2", "0.1 to −0.2"),
        ("1e-06", "1e-06"),
        ("2008-05", "2008-05"),
        ("-feature", "-feature"),
        ("no data: -1 is missing", "no data: -1 is missing"),
    ],
)
def test_numbers_have_a_minus_and_other_texts_stay(text, shown):
    assert with_minus(text) == shown


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("−0.2", True), ("+1.2 (n = 3)", True), ("< 0.001", True), ("12 %", True),
        ("–", False), ("", False), ("MT-MKL", False), ("< one", False),
        ("20 % of all samples are too few", False),
    ],
)  # fmt: skip
def test_what_is_a_number(text, is_one):
    assert is_number(text) == is_one


def test_metrics_have_words():
    assert metric_words("rmse") == "root mean squared error"
    assert metric_words("new_metric") == "new metric"
    assert metrics_in_words("auc, accuracy") == "AUC, accuracy"
