"""Anderson acceleration."""

import numpy as np

from mtmkl.solvers.anderson import AndersonExtrapolation


def linear(seed=0, n=6):
    """Return F(V) = b − AV, whose plain iteration is slow, and its root."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    A = Q @ np.diag(np.geomspace(0.1, 1.0, n)) @ Q.T
    root = rng.normal(size=n)
    return (lambda V: (A @ (root - V.ravel())).reshape(V.shape)), root


def test_as_many_steps_as_dimensions_solve_a_linear_problem():
    F, root = linear()
    mixing, V = AndersonExtrapolation((2, 3), 6), np.zeros((2, 3))
    for _ in range(8):
        V = mixing.following(V, F(V))
    np.testing.assert_allclose(V.ravel(), root, rtol=1e-4)
    plain = np.zeros((2, 3))
    for _ in range(8):
        plain = plain + F(plain)
    assert np.linalg.norm(plain.ravel() - root) > 0.01 * np.linalg.norm(root)


def test_the_oldest_differences_are_forgotten():
    F, _ = linear()
    mixing, V = AndersonExtrapolation((6,), 2), np.zeros(6)
    moves, images = [], []
    for _ in range(5):
        moves.append(F(V))
        images.append(V + moves[-1])
        V = mixing.following(V, moves[-1])
    changes, steps = np.diff(moves[-3:], axis=0), np.diff(images[-3:], axis=0)
    shares = np.linalg.lstsq(changes.T, moves[-1], rcond=None)[0]
    np.testing.assert_allclose(V, images[-1] - shares @ steps, rtol=1e-6)


def test_from_a_mixture_that_is_far_worse_it_goes_back_to_the_plain_step():
    mixing = AndersonExtrapolation((2,), 5)
    first = mixing.following(np.zeros(2), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(first, [1.0, 0.0])
    second = mixing.following(first, np.array([0.9, 0.0]))
    assert second[0] > 5.0
    back = mixing.following(second, np.array([-4.0, 0.0]))
    np.testing.assert_array_equal(back, [1.9, 0.0])
    again = mixing.following(back, np.array([0.8, 0.0]))
    np.testing.assert_allclose(again, [2.7, 0.0])
