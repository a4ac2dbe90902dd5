"""Base kernels, and coordinates in which they are linear."""
