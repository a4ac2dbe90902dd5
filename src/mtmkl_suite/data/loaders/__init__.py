"""Loaders of data sets, by source.

A loader takes ``files``, which maps each path in ``config/datasets.yaml`` to the file,
if there are any, and options, whose annotations say what they may be. The registry has
compared the bytes of files with their hashes before.
"""
