"""Multi-task and multiple-kernel learning: certified solvers, replicated papers."""
