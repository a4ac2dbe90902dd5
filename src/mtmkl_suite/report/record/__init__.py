"""The published record of a paper."""
