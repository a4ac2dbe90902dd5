import pytest

from mtmkl_suite.report.record.written import TextTable


@pytest.mark.parametrize(
    ("texts", "are_numbers"),
    [
        (["0.1 ± 0.2", "–", "", "−3"], True),
        (["0.1", "no data"], False),
        (["–", ""], False),
    ],
)
def test_columns_of_numbers_are_told_from_others(texts, are_numbers):
    table = TextTable(["name", "value"], [["a", text] for text in texts])
    assert table.has_numbers(1) == are_numbers
    assert not table.has_numbers(0)
