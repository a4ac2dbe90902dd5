"""Numbers that the documentation quotes from the published record.

``quoted.yaml`` has sentences with a gap for each number, and where the number stands. A
sentence that is not in its page is shown as the record would have it.
"""

from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
QUOTED = yaml.safe_load(Path(__file__).with_name("quoted.yaml").read_text("utf-8"))
CASES = [(page, *each) for page, found in QUOTED.items() for each in found.items()]
WORDS = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
]  # fmt: skip


@cache
def table(name):
    found = pd.read_csv(ROOT / "figures" / name, dtype={"row": str, "column": str})
    if "basis" in found:
        found["ours"] = found["basis"].str.startswith("ours")
    return found


def value(number):
    """Return the one value of a column in the rows asked for, or how many there are."""
    rows = table(number["in"])
    if where := number.get("where"):
        rows = rows.query(where, engine="python")
    if "column" not in number:
        return len(rows)
    values = rows[number["column"]]
    if "less" in number:
        values = values - rows[number["less"]]
    if "take" in number:
        return getattr(values, number["take"])()
    (one,) = values
    return one


def text(number):
    if number.get("as") == "word":
        return dict(enumerate(WORDS)).get(value(number), str(value(number)))
    return format(value(number), number.get("as", "d")).replace("-", "−")


def sentence(says, numbers):
    return says.format(*map(text, numbers))


def words(path):
    return " ".join((ROOT / path).read_text("utf-8").replace("\n> ", " ").split())


@pytest.mark.parametrize(("page", "says", "numbers"), CASES)
def test_a_page_quotes_the_record(page, says, numbers):
    expected = sentence(says, numbers)
    assert expected in words(page), f"{page} has to say: {expected}"


def test_another_number_is_noticed():
    number = {"in": "comparison/table_ranks_regression.csv", "column": "n"}
    assert text({**number, "take": "max"}) == "4"
    assert (
        text({**number, "column": "above_control", "take": "min", "as": ".0f"})[0]
        == "−"
    )
    with pytest.raises(ValueError, match="too many values"):
        text(number)
