"""Kernels of features, kernels of tasks, and their Gram matrices."""
