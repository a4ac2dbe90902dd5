"""Bases and checks that methods share.

Solvers with compiled code are imported where they are called, here and in the methods:
an estimator loads without numba.
"""
