"""Typed configuration of runs and papers: read, expanded and checked once."""
