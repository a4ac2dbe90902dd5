"""From results to figures, tables, the published record and the report."""
