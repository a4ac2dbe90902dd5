"""Tables of a report."""
