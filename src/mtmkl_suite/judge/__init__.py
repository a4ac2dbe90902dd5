"""Verdicts on published numbers and claims."""
