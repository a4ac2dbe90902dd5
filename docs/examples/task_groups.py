"""Groups of tasks that share kernels, as in Figure 1 of Yousefi et al. (2015).

Each task distinguishes two digits and has weights for two Gaussian kernels. The larger
λ, the more of these weights are fused, until all tasks share one feature space. Change
the parameters, run the file, look at the picture. It needs no download.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mtmkl.methods import GroupFeatureSharingClassifier
from mtmkl_suite.data import load, make_split

# %% Parameters
#
# The paper uses letters instead of digits, spreads 2 and 2^8, and 10 or 50 % of the
# examples for training.
N_CLASSES = 4
WIDTHS = [2.0, 16.0]
TRAIN_PERCENT = 40
C = 128.0
LAMBDAS = 2.0 ** np.arange(-6, 6)


# %% The path
#
# fit_path warm-starts each λ from the previous one. Tasks with equal weights have the
# same label in groups_.
def path():
    """Return the tasks' names and, for each λ, the first weight and group per task."""
    data = load("digits_pairs", n_classes=N_CLASSES, n_per_class=100, seed=0)
    protocol = {
        "id": "task_groups",
        "kind": "fractions",
        "train_percent": TRAIN_PERCENT,
        "repeats": 1,
    }
    split = make_split(data, protocol, seed=0, train_size=TRAIN_PERCENT, repeat=0)
    train = data.subset(split.train)
    method = GroupFeatureSharingClassifier(
        C=C,
        kernels=[{"name": "gaussian", "width": width} for width in WIDTHS],
        standardize=True,
    )
    grid = [{"lam": lam} for lam in LAMBDAS]
    fits = method.fit_path(train.X, train.y, task=train.task, grid=grid)
    rows = [(fit.weights_[:, 0], fit.groups_) for fit in fits]
    weights, groups = (np.array(column) for column in zip(*rows, strict=True))
    return data.task_names, weights, groups


# %% The figure
def plot(target):
    """Draw the weights and the number of groups against λ, and save the figure."""
    names, weights, groups = path()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    left.plot(LAMBDAS, weights, marker=".", label=names)
    left.set(ylabel=f"weight of the kernel of width {WIDTHS[0]:g}", ylim=(0, 1))
    left.legend(fontsize=7)
    right.plot(LAMBDAS, [len(set(labels)) for labels in groups], marker="o")
    right.set(ylabel="groups of tasks", ylim=(0, None))
    for axis in (left, right):
        axis.set(xscale="log", xlabel="λ")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target)
    print(f"figure: {target}")


if __name__ == "__main__":
    plot(Path(sys.argv[1] if len(sys.argv) > 1 else "results/examples/task_groups.svg"))
