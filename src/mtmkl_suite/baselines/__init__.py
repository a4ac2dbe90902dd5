"""Current baselines for such data: thin estimators with a ``task`` argument.

They are no methods of the papers, but what these are compared with. A configuration or
``--method`` names them as it does the library's. Some need packages of the extra
``mtmkl[baselines]``; without these a run says so, and goes on.
"""
