"""Maximum entropy discrimination."""
