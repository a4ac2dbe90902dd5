import io
import tarfile

import numpy as np
import pytest
from sklearn.datasets import load_sample_images
from sklearn.metrics.pairwise import chi2_kernel

pytest.importorskip("skimage", reason="scikit-image is not installed")
Image = pytest.importorskip("PIL.Image")

from mtmkl_suite.data.loaders import images as images_module  # noqa: E402
from mtmkl_suite.data.loaders.images import (  # noqa: E402
    SEVEN,
    Histogram,
    chi_squared_distances,
    image_histograms,
    images_of,
    stored_distances,
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Four parts of two photographs, stored in another order than that of names."""
    path = tmp_path_factory.mktemp("images") / "images.tar"
    china, flower = load_sample_images().images
    parts = {
        "d.jpg": flower[200:420, 300:640],
        "a.jpg": china[:200, :200],
        "c.jpg": flower[:170, :300],
        "b.jpg": china[100:300, 200:600],
    }
    with tarfile.open(path, "w") as tar:
        for name, pixels in parts.items():
            stream = io.BytesIO()
            Image.fromarray(pixels).save(stream, "jpeg", quality=95)
            info = tarfile.TarInfo(f"folder/{name}")
            info.size = stream.tell()
            stream.seek(0)
            tar.addfile(info, stream)
    return path


def test_images_are_squares_in_the_order_of_their_names(archive):
    images = list(images_of(archive))
    assert [image.shape for image in images] == [(160, 160, 3)] * 4
    assert all(image.min() >= 0 and image.max() <= 1 for image in images)
    # a.jpg is sky, which is brighter than the parts of the flower.
    assert images[0].mean() > images[2].mean()


def test_a_histogram_sums_to_one_and_depends_on_no_other_image(archive, monkeypatch):
    monkeypatch.setattr(images_module, "_PHOTO_SIDES", (160,))  # words are fewer
    images = list(images_of(archive))
    words = [kind for kind in SEVEN if kind.words != "gradients"]
    both = image_histograms(iter(images[:2]), words)
    alone = image_histograms(iter(images[1:2]), words)
    for kind in words:
        np.testing.assert_allclose(both[kind.label].sum(axis=1), 1.0, rtol=1e-5)
        np.testing.assert_array_equal(both[kind.label][1], alone[kind.label][0])


def test_parts_of_an_image_are_counted_apart():
    left_red = np.zeros((160, 160, 3))
    left_red[:, :80, 0] = 1.0
    right_red = left_red[:, ::-1]
    whole, parts = Histogram("whole", "hue"), Histogram("parts", "hue", (1, 2))
    found = image_histograms(iter([left_red, right_red]), [whole, parts])
    np.testing.assert_array_equal(found["whole"][0], found["whole"][1])
    assert chi_squared_distances(found["parts"])[0, 1] > 0.5
    assert np.count_nonzero(found["whole"][0]) == 2


def test_distances_are_those_of_scikit_learn():
    h = np.random.default_rng(0).dirichlet(np.ones(5), size=6)
    distances = chi_squared_distances(h)
    np.testing.assert_allclose(np.exp(-distances), chi2_kernel(h, gamma=1), rtol=1e-5)
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_array_equal(np.diag(distances), 0.0)


def test_distances_are_computed_once_and_damage_is_mended(archive, tmp_path, capsys):
    first = stored_distances(archive, SEVEN[:2], tmp_path)
    assert list(first) == ["colour", "colour layout"]
    assert first["colour"].shape == (4, 4)
    assert capsys.readouterr().out.count("\n") == 2
    again = stored_distances(archive, SEVEN[:2], tmp_path)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(first["colour"], again["colour"])
    kept = np.array(first["colour"])
    (path,) = tmp_path.glob("*/0.npy")
    content = bytearray(path.read_bytes())
    content[-35] ^= 1  # 32 bytes of the digest are behind the distances
    path.unlink()
    path.write_bytes(bytes(content))
    mended = stored_distances(archive, SEVEN[:2], tmp_path)
    assert capsys.readouterr().out.count("\n") == 2
    np.testing.assert_array_equal(mended["colour"], kept)
