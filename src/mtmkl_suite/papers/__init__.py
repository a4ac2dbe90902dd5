"""What one paper alone needs: its figures, its theory, a protocol of its own."""
