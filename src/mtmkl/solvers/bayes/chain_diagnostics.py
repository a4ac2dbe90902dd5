"""Convergence diagnostics of Markov chains.

References
----------
A. Gelman et al., Bayesian Data Analysis, third edition, 2013, sections 11.4 and 11.5.
"""

import numpy as np

from mtmkl.typing import FloatArray


def split_r_hat(draws: FloatArray) -> FloatArray:
    """Return the split potential scale reduction of each parameter.

    It is near 1 where halves of all chains agree, and 1 for a constant. Draws have the
    shape (n_chains, n_samples, n_parameters), with at least 4 samples per chain.
    """
    _, within, pooled = _halves(draws)
    constant = within <= 0
    ratio = np.divide(pooled, within, out=np.ones_like(pooled), where=~constant)
    return np.sqrt(np.where(constant & (pooled > 0), np.inf, ratio))


def effective_sample_size(draws: FloatArray) -> FloatArray:
    """Return the effective number of independent draws of each parameter.

    The autocorrelations are summed in pairs while the pairs' sums are positive, each
    pair held at most as large as the one before (Geyer's initial monotone sequence).
    The size is at most n log10 n for n draws in all, and n for a constant. Draws are as
    for :func:`split_r_hat`.
    """
    halves, within, pooled = _halves(draws)
    m, n = halves.shape[:2]
    centred = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * n, axis=1)
    autocovariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n].mean(axis=0) / n
    sizes = np.full(draws.shape[2], float(m * n))
    for parameter in range(draws.shape[2]):
        if pooled[parameter] <= 0:
            continue
        correlation = (
            1
            - (within[parameter] - autocovariance[:, parameter] * n / (n - 1))
            / pooled[parameter]
        )
        correlation[0] = 1.0
        pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
        negative = np.flatnonzero(pairs <= 0)
        stop = negative[0] if negative.size else pairs.size
        total = np.minimum.accumulate(pairs[:stop]).sum()
        sizes[parameter] = m * n / max(2 * total - 1, 1 / np.log10(m * n))
    return sizes


def _halves(draws: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the halves of all chains, the variances within these, and of the whole."""
    n = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :n], draws[:, -n:]], axis=0)
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = n * halves.mean(axis=1).var(axis=0, ddof=1)
    return halves, within, (n - 1) / n * within + between / n
