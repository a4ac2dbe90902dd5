import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from mtmkl.reporting.colours import figure_style
from mtmkl.reporting.files import write_figure_files


def draw():
    with figure_style():
        figure = Figure(figsize=(3, 2))
        left, right = figure.subplots(1, 2)
        left.plot([0, 1], [1, 0], label="γ")
        left.fill_between([0, 1], [0, 0], [1, 1])
        left.legend()
        right.imshow(np.eye(3))
    return figure


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    numbers = pd.DataFrame({"x": [0.1, 1.0]})
    for name in ("one", "two"):
        write_figure_files(tmp_path / name / "figure_1", draw(), numbers)
    for ending in ("svg", "pdf", "csv"):
        one = (tmp_path / "one" / f"figure_1.{ending}").read_bytes()
        two = (tmp_path / "two" / f"figure_1.{ending}").read_bytes()
        assert one == two, ending
    assert b"CreationDate" not in (tmp_path / "one" / "figure_1.pdf").read_bytes()


def test_svg_is_self_contained(tmp_path):
    write_figure_files(tmp_path / "f", draw(), pd.DataFrame())
    svg = (tmp_path / "f.svg").read_text()
    assert "<text" not in svg  # glyphs are outlines: no font is needed
    assert 'href="http' not in svg
    assert "<dc:date>" not in svg


def test_names_with_dots_keep_them(tmp_path):
    write_figure_files(tmp_path / "a.b", draw(), pd.DataFrame({"x": [1]}))
    assert {p.name for p in tmp_path.iterdir()} == {"a.b.svg", "a.b.pdf", "a.b.csv"}
