import numpy as np
import pytest

from mtmkl_suite.evaluation.cells import content_key, get_or_compute


def test_second_request_reads_what_the_first_stored(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"rows": [1.5, "x"]}, {"a": np.arange(3.0)}

    first = get_or_compute(tmp_path, "ab12", compute)
    second = get_or_compute(tmp_path, "ab12", compute)
    assert calls == [1]
    assert first[0] == second[0] == {"rows": [1.5, "x"]}
    np.testing.assert_array_equal(second[1]["a"], [0.0, 1.0, 2.0])


def test_a_failed_computation_leaves_nothing(tmp_path):
    def fail():
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        get_or_compute(tmp_path, "ab12", fail)
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:40],
        lambda content: b"",
        lambda content: content + b"0",
    ],
    ids=["cut", "emptied", "longer"],
)
def test_a_damaged_entry_is_computed_again(tmp_path, damage, caplog):
    get_or_compute(tmp_path, "ab12", lambda: ([1], {}))
    path = tmp_path / "ab" / "ab12.npz"
    path.write_bytes(damage(path.read_bytes()))
    assert get_or_compute(tmp_path, "ab12", lambda: ([2], {}))[0] == [2]
    assert f"{path} is damaged (its digest is another)" in caplog.text
    assert get_or_compute(tmp_path, "ab12", lambda: ([3], {}))[0] == [2]
    assert len(caplog.messages) == 1


def test_a_flipped_bit_is_noticed_wherever_it_is(tmp_path):
    # Of a zip archive some bits say which array bears which name, how it is packed, or
    # that it is encrypted.
    arrays = {"a": np.arange(6.0), "errors": np.eye(3)}
    get_or_compute(tmp_path, "ab12", lambda: ([1], arrays))
    path = tmp_path / "ab" / "ab12.npz"
    content = path.read_bytes()
    for position in range(0, 8 * len(content), 17):
        flipped = bytearray(content)
        flipped[position // 8] ^= 1 << position % 8
        path.write_bytes(flipped)
        assert get_or_compute(tmp_path, "ab12", lambda: ([2], arrays))[0] == [2]


def test_key_depends_on_content_not_on_order():
    one = content_key(a=1, b={"x": np.array([1, 2]), "y": 2.0})
    assert one == content_key(b={"y": 2.0, "x": [1, 2]}, a=1)
    assert one != content_key(b={"y": 2.0, "x": [1, 3]}, a=1)
