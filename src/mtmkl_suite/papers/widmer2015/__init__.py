"""Widmer et al. 2015: what only this paper needs."""
