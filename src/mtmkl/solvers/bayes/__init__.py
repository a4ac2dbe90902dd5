"""Bayesian models, sampled."""
