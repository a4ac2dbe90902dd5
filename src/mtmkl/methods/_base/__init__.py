"""Bases and mixins that methods share."""
