"""Jebara 2011: figures and theory."""
