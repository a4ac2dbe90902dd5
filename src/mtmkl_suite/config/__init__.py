"""Configuration: read, expanded and checked once."""
