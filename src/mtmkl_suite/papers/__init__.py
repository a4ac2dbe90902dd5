"""Parts that one paper alone needs: figures, steps, theory, algorithms as printed."""
