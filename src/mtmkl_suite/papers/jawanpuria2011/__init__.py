"""Jawanpuria and Nath 2011: figures, and the steps behind them."""
