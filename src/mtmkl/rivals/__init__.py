"""Rivals of today for such data: thin estimators with a ``task`` argument.

They are no methods of the papers, but what these are compared with. A configuration or
``--method`` names them by path, as ``mtmkl.rivals.trees:LightGBMClassifier``. Some need
packages of the extra ``mtmkl[rivals]``; without these a run says so, and goes on.
"""
