"""Loaders, one module per source."""
