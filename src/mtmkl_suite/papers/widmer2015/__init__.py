"""Widmer et al. 2015: figures, a timing step and the choice of C by organism."""
