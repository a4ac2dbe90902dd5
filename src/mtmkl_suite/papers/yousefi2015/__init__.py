"""Yousefi et al. 2015: figures, theory and the protocol of the published code."""
