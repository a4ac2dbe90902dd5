import pytest

from mtmkl_suite.report.pages.rendering import page_name


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("method", "MeTaG", "method-MeTaG.html"),
        ("method", "my.module:Mine", "method-my-module-Mine.html"),
        ("data", "digits_pairs", "data-digits-pairs.html"),
        ("data", "/home/me/My data.csv", "data-My-data-csv.html"),
    ],
)
def test_names_of_pages_are_names_of_files(kind, name, file):
    assert page_name(kind, name) == file
