"""Parts that one paper alone needs: figures, steps, theory, algorithms as printed.

A function of ``figures`` takes a :class:`~mtmkl_suite.report.context.Context` and
returns a figure and the plotted numbers, one of ``steps`` a table.
"""
