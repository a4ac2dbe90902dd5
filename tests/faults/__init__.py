"""Faults outside of the code, made on purpose.

``make faults`` runs everything and writes a row for each test to
``figures/faults/faults.csv``; ``make test`` runs a few trials (``test_faults.py``).

A test is a :class:`faults.table.Fault`, whose trials are seeded. ``python -m faults
kills damage --trials 3`` runs some modules.
"""

from importlib import import_module

from faults.table import FAULTS as FAULTS

for module in ("kills", "damage", "disks", "machines", "solvers", "configuration"):
    import_module(f"faults.{module}")  # adds its tests
