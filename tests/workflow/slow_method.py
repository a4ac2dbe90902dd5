"""A method from outside the package, slow enough to be interrupted."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


class SlowMean(RegressorMixin, BaseEstimator):
    """Sleeps for the delay, or SLOW_SECONDS, then predicts each task's mean."""

    def __init__(self, delay=0.0):
        self.delay = delay

    def fit(self, X, y, task=None):
        time.sleep(float(os.environ.get("SLOW_SECONDS", self.delay)))
        self.means_ = np.bincount(task, y) / np.bincount(task)
        return self

    def predict(self, X, task=None):
        return self.means_[task]
