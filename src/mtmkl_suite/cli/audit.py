"""``mtmkl audit``: recompute printed ranks and tests."""

import argparse

from mtmkl.documents import config_dir
from mtmkl_suite.cli.printing import print_table
from mtmkl_suite.judge.audit import (
    AuditError,
    audit,
    audit_text,
    auditable_papers,
    read_comparisons,
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    command.add_argument("paper", help="folder in config/papers")
    command.set_defaults(run=_audit)


def _audit(parsed: argparse.Namespace) -> int:
    papers = config_dir() / "papers"
    try:
        comparisons = read_comparisons(papers / parsed.paper / "published")
    except AuditError as error:
        known = ", ".join(auditable_papers(papers))
        raise AuditError(
            f"paper {parsed.paper!r}: {error}; papers that can be audited: {known}"
        ) from error
    for printed in comparisons:
        found = audit(printed)
        print("\n".join(audit_text(found)))
        print_table(
            [
                {
                    str(name): value if isinstance(value, str) else f"{value:.4g}"
                    for name, value in row.items()
                }
                for row in found.differences.to_dict("records")
            ]
        )
    return 0
