"""The optima of the methods' problems by an interior point, to hold solvers to."""
