"""The numerical heart: plain functions on arrays, one algorithm a file."""
