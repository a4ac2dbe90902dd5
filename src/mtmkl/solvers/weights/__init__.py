"""Methods that learn the weights of kernels."""
