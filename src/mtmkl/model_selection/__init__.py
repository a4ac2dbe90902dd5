"""Tasks in scikit-learn's tools: routing, columns of X, folds, scores, searches."""

from mtmkl.model_selection.folds import TaskKFold
from mtmkl.model_selection.path_search import PathSearchCV
from mtmkl.model_selection.scoring import TaskScorer
from mtmkl.model_selection.task_column import TaskColumn, route_tasks

__all__ = ["PathSearchCV", "TaskColumn", "TaskKFold", "TaskScorer", "route_tasks"]
