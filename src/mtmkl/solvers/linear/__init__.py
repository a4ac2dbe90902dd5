"""Linear models of several tasks."""
