"""From configured experiments to a long table of scores."""
