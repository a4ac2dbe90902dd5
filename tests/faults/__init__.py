"""Faults outside of the code, made on purpose.

``make faults`` runs everything and writes a row for each test to
``figures/faults/faults.csv``; ``make test`` runs a few trials (``test_faults.py``).

| module | faults |
|---|---|
| ``kills`` | a run killed at any time and resumed, on one core or several |
| ``damage`` | files of the cache and of results flipped, cut, emptied |
| ``disks`` | a full disk, a folder that cannot be written |
| ``machines`` | no home, name of the user, letters to print, folder to write |
| ``solvers`` | random and extreme problems for every solver, with a reference |
| ``configuration`` | keys removed, misspelt, of another type, of unknown value |

A test is a :class:`faults.table.Fault`, whose trials are seeded. ``python -m faults
kills damage --trials 3`` runs some modules.
"""

from faults import configuration, damage, disks, kills, machines, solvers

FAULTS = {
    "kills": kills.FAULTS, "damage": damage.FAULTS, "disks": disks.FAULTS,
    "machines": machines.FAULTS, "solvers": solvers.FAULTS,
    "configuration": configuration.FAULTS,
}  # fmt: skip
"""The tests by the module that they are in."""
