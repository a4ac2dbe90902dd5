"""Kernels of inputs, kernels of tasks, and their Gram matrices."""
