"""The commands of ``mtmkl``: one module per group, which adds its own parser."""
