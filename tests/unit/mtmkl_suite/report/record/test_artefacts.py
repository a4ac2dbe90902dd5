import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from mtmkl_suite.report.figures.drawing import figure_style
from mtmkl_suite.report.record.artefacts import write_figure_files
from mtmkl_suite.run.folders import PaperFolder


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
        write_figure_files(PaperFolder(tmp_path / name), "figure_1", draw(), numbers)
    for ending in ("svg", "pdf", "csv"):
        one, two = (
            PaperFolder(tmp_path / name).artefact("figure_1", ending).read_bytes()
            for name in ("one", "two")
        )
        assert one == two, ending
    pdf = PaperFolder(tmp_path / "one").artefact("figure_1", "pdf")
    assert b"CreationDate" not in pdf.read_bytes()


def test_svg_is_self_contained(tmp_path):
    folder = PaperFolder(tmp_path)
    write_figure_files(folder, "f", draw(), pd.DataFrame())
    svg = folder.artefact("f", "svg").read_text()
    assert "<text" not in svg  # glyphs are outlines: no font is needed
    assert 'href="http' not in svg
    assert "<dc:date>" not in svg


def test_names_with_dots_keep_them(tmp_path):
    folder = PaperFolder(tmp_path)
    write_figure_files(folder, "a.b", draw(), pd.DataFrame({"x": [1]}))
    made = folder.artefact("a.b", "csv").parent.iterdir()
    assert {path.name for path in made} == {"a.b.svg", "a.b.pdf", "a.b.csv"}
