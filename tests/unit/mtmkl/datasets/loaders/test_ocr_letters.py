import numpy as np
import pytest

from mtmkl.datasets.errors import DataCorruptError
from mtmkl.datasets.loaders.ocr_letters import load_ocr_letters


@pytest.fixture
def files(data_mirror):
    return {"letter.data": data_mirror / "ocr_letters" / "letter.data"}


def test_eight_pairs(files):
    data = load_ocr_letters(files)
    assert data.task_names == (
        "c vs e", "g vs y", "m vs n", "a vs g", "i vs j", "a vs o", "f vs t", "h vs n",
    )  # fmt: skip
    np.testing.assert_array_equal(data.task_sizes, [400] * 4 + [389] + [400] * 3)
    assert data.X.shape[1] == 128
    assert set(np.unique(data.X)) == {0.0, 1.0}
    assert np.unique(data.sample).size == 12 * 200 + 189


def test_letters_in_two_pairs_are_the_same_images(files):
    data = load_ocr_letters(files, n_per_class=50)
    drawn = {}
    for task, name in enumerate(data.task_names):
        for letter, y in zip(name.split(" vs "), (1.0, -1.0), strict=True):
            rows = (data.task == task) & (data.y == y)
            drawn.setdefault(letter, []).append(set(data.sample[rows]))
    assert len(drawn) == 13
    for letter, samples in drawn.items():
        assert len(samples) == (2 if letter in "agn" else 1)
        assert all(each == samples[0] for each in samples)
        assert len(samples[0]) == 50


def test_an_image_is_that_of_its_letter(files):
    images = {}
    for line in files["letter.data"].read_text().splitlines():
        fields = line.split("\t")
        images.setdefault("".join(fields[6:134]), set()).add(fields[1])
    data = load_ocr_letters(files, n_per_class=10, seed=4)
    for row in range(len(data.y)):
        letters = data.task_names[data.task[row]].split(" vs ")
        image = "".join("1" if pixel else "0" for pixel in data.X[row])
        assert letters[0 if data.y[row] > 0 else 1] in images[image]


def test_equal_classes_have_the_size_of_the_rarest(files):
    data = load_ocr_letters(files, n_per_class=None)
    np.testing.assert_array_equal(data.task_sizes, 2 * 189)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda lines: lines[:-1], "number of rows is 52151, expected 52152"),
        (lambda lines: [lines[0] + "0", *lines[1:]], "row 1 does not end in 128"),
        (lambda lines: [lines[0][:-2] + "7\t", *lines[1:]], "pixels is"),
        (
            lambda lines: [line.replace("\tj\t", "\ti\t") for line in lines],
            "class sizes is",
        ),
    ],
)
def test_another_file_is_named(files, tmp_path, edit, message):
    lines = files["letter.data"].read_text().split("\n")[:-1]
    path = tmp_path / "letter.data"
    path.write_text("\n".join(edit(lines)) + "\n")
    with pytest.raises(DataCorruptError, match=f"ocr_letters: {message}"):
        load_ocr_letters({"letter.data": path})
