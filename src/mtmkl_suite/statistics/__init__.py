"""From a scores table alone: verdicts, claims, comparisons of methods."""
