"""The replication suite: from configuration to scores, verdicts and the report."""
