"""Faults outside of the code, made on purpose.

``make faults`` runs everything (less than an hour on two idle cores) and writes one
row for each test to ``figures/faults/faults.csv``: what was done, how often, how often
it went well, the seconds, the commit and the date. It says which row it is at. A row in
which all went well at the same commit, with nothing changed since, is kept, so that an
interrupted run goes on where it was; ``--again`` measures it again. ``make test`` runs
the same functions with a few trials each (``test_faults.py``).

| module | faults |
|---|---|
| ``kills`` | a run killed at any time and resumed, on one core or several |
| ``damage`` | files of the cache and of results flipped, cut, emptied |
| ``disks`` | a full disk, a folder that cannot be written, two runs in one folder |
| ``machines`` | no home, name of the user, letters to print, folder to write |
| ``servers`` | servers that stall, cut, fail, lie, redirect; archives that escape |
| ``solvers`` | random and extreme problems for every solver, with a reference |
| ``configuration`` | keys removed, misspelt, of another type, of unknown value |

A test is a :class:`faults.table.Fault`: a function that yields a line for each trial,
empty where it went well. Trials are seeded: the same ones come again in each run.

``python -m faults kills damage`` runs the tests of some modules and keeps the rows of
the others; ``--kills 3`` sets the trials of one module; ``--few`` is what ``make test``
takes.
"""

from faults import configuration, damage, disks, kills, machines, servers, solvers

FAULTS = {
    "kills": kills.FAULTS, "damage": damage.FAULTS, "disks": disks.FAULTS,
    "machines": machines.FAULTS, "servers": servers.FAULTS, "solvers": solvers.FAULTS,
    "configuration": configuration.FAULTS,
}  # fmt: skip
"""The tests by the module that they are in."""
