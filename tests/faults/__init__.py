"""Faults outside of the code, made on purpose.

``make faults`` runs everything and writes a row for each test to
``figures/faults/faults.csv``; rows of this very commit in which all went well are kept,
unless ``--again``. ``make test`` runs a few trials each (``test_faults.py``).

| module | faults |
|---|---|
| ``kills`` | a run killed at any time and resumed, on one core or several |
| ``damage`` | files of the cache and of results flipped, cut, emptied |
| ``disks`` | a full disk, a folder that cannot be written, two runs in one folder |
| ``machines`` | no home, name of the user, letters to print, folder to write |
| ``servers`` | servers that stall, cut, fail, lie, redirect; archives that escape |
| ``solvers`` | random and extreme problems for every solver, with a reference |
| ``configuration`` | keys removed, misspelt, of another type, of unknown value |

A test is a :class:`faults.table.Fault`, whose trials are seeded. ``python -m faults
kills damage --kills 3`` runs some modules, ``--few`` what ``make test`` takes.
"""

from faults import configuration, damage, disks, kills, machines, servers, solvers

FAULTS = {
    "kills": kills.FAULTS, "damage": damage.FAULTS, "disks": disks.FAULTS,
    "machines": machines.FAULTS, "servers": servers.FAULTS, "solvers": solvers.FAULTS,
    "configuration": configuration.FAULTS,
}  # fmt: skip
"""The tests by the module that they are in."""
