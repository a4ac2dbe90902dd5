"""Loaders of data sets, by source.

A loader takes ``files``, which maps each path in ``config/datasets.yaml`` to the file,
if there are any, and options, whose annotations say what they may be. It compares what
it reads with known counts: where they differ it raises ``DataCorruptError``.
"""
