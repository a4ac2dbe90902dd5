"""Argyriou, Evgeniou and Pontil 2008: figures and theory."""
