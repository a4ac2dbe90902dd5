"""Processes that Ctrl-C can stop, however the tests were started."""

import signal


def allow_interrupts():
    """Restore the default of SIGINT in a new process, before it executes.

    Shells start background commands with SIGINT ignored, and so are their children.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
