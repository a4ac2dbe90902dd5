"""R-hat and effective sample size on chains whose answers are known."""

import numpy as np
import pytest

from mtmkl.solvers.bayes.chain_diagnostics import effective_sample_size, split_r_hat


def _autoregressive(phi, *, n_chains=4, n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n_chains, n))
    chain = np.empty_like(noise)
    chain[:, 0] = noise[:, 0] / np.sqrt(1 - phi**2)
    for i in range(1, n):
        chain[:, i] = phi * chain[:, i - 1] + noise[:, i]
    return chain[:, :, None]


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_size_of_an_autoregressive_chain(phi):
    """For x_i = φx_{i−1} + e_i the size is n(1 − φ)/(1 + φ)."""
    draws = _autoregressive(phi)
    expected = draws.size * (1 - phi) / (1 + phi)
    assert effective_sample_size(draws)[0] == pytest.approx(expected, rel=0.15)
    assert split_r_hat(draws)[0] == pytest.approx(1.0, abs=0.01)


def test_r_hat_sees_chains_apart_and_a_drifting_chain():
    draws = _autoregressive(0.0, n=500)
    apart = draws + np.arange(4)[:, None, None]
    drifting = draws + np.linspace(0, 3, 500)[None, :, None]
    both = split_r_hat(np.concatenate([draws, apart, drifting], axis=2))
    assert both[0] < 1.02
    assert both[1] > 1.4
    assert both[2] > 1.2


def test_r_hat_of_two_half_chains_by_hand():
    draws = np.array([[0.0, 2.0, 4.0, 6.0]])[:, :, None]
    # Halves {0, 2} and {4, 6}: W = 2, B = 2·var(1, 5) = 16, so V = W/2 + B/2 = 9.
    assert split_r_hat(draws)[0] == pytest.approx(np.sqrt(9 / 2))


def test_constants():
    draws = np.ones((2, 8, 1))
    assert split_r_hat(draws)[0] == 1.0
    assert effective_sample_size(draws)[0] == 16
    draws[1] = 2.0
    assert split_r_hat(draws)[0] == np.inf
