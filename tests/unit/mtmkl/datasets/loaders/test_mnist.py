import gzip

import numpy as np
import pytest

from mtmkl.datasets.errors import DataCorruptError
from mtmkl.datasets.loaders import mnist
from mtmkl.datasets.loaders.mnist import load_mnist


@pytest.fixture
def files(data_mirror):
    return {path.name: path for path in (data_mirror / "mnist").iterdir()}


def test_images_are_those_of_the_files(files):
    data = load_mnist(files, n_per_class=40, seed=2)
    assert data.X.shape == (45 * 80, 784)
    assert data.X.min() == 0
    assert data.X.max() == 1
    raw = [
        np.frombuffer(gzip.decompress(files[name].read_bytes()), np.uint8)
        for name in (
            "train-images-idx3-ubyte.gz",
            "t10k-images-idx3-ubyte.gz",
            "train-labels-idx1-ubyte.gz",
            "t10k-labels-idx1-ubyte.gz",
        )
    ]
    images = np.concatenate([raw[0][16:], raw[1][16:]]).reshape(70000, 784)
    label = np.concatenate([raw[2][8:], raw[3][8:]])
    digit_of = {}
    for image, digit in zip(images, label, strict=True):
        digit_of.setdefault(image.tobytes(), digit)
    for row in range(0, len(data.y), 97):
        names = data.task_names[data.task[row]].split(" vs ")
        image = np.round(255 * data.X[row]).astype(np.uint8)
        assert str(digit_of[image.tobytes()]) == names[0 if data.y[row] > 0 else 1]


def test_files_are_read_once_for_many_draws(files, monkeypatch):
    first = load_mnist(files, n_per_class=5, seed=0)
    monkeypatch.setattr(mnist, "_read_idx", None)
    second = load_mnist(files, n_per_class=5, seed=1)
    assert second.digest() != first.digest()
    np.testing.assert_array_equal(second.y, first.y)


def idx(array):
    sizes = b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    return bytes((0, 0, 8, array.ndim)) + sizes + array.tobytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no gzip", "is not gzip"),
        (gzip.compress(b"\0\0\x09\x01" + bytes(8)), "is not an idx file of bytes"),
        (gzip.compress(idx(np.zeros(7, np.uint8))[:-1]), "values in .* is 6, expected"),
        (gzip.compress(idx(np.zeros(7, np.uint8))), r"shapes is .*\(7,\)"),
    ],
    # A gzip file has the time in it, and the test processes must agree on names.
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_another_file_is_named(tmp_path, content, message):
    names = (
        "train-images-idx3-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    )
    for name in names:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataCorruptError, match=f"mnist: .*{message}"):
        load_mnist({name: tmp_path / name for name in names})
