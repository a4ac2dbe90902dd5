from mtmkl.methods import *
from mtmkl.model_selection import *
from mtmkl.wrappers import *

__version__: str
