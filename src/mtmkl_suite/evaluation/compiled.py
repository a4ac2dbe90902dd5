"""Numbers come from code that was loaded, never from a process that has compiled.

Code that is compiled in a process and the same code loaded from disk may differ in
which functions were put into which others, and so in the last digits of sums.
"""

import os
import signal
import sys
from typing import Any

_HAS_COMPILED = 75  # exit status of a process that is to be started again
_STARTS = 100  # each leaves at least one more function compiled on disk

_compiled: list[str] | None = None
"""Names of the functions compiled here; None where nobody asks."""


def start_again_when_compiled() -> None:
    """Continue in a new process, and in another one whenever that has compiled.

    Only the last of them returns from here to the end of the program.
    """
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    for _ in range(_STARTS):
        process = os.fork()
        if not process:
            signal.signal(signal.SIGINT, handler)
            _watch()
            return
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status < 0:
            os.kill(os.getpid(), -status)
        if status != _HAS_COMPILED:
            sys.exit(status)
    raise RuntimeError(f"Numba still compiles after {_STARTS} starts: is it caching?")


def stop_if_compiled() -> None:
    """End this process if it has compiled, where that is watched."""
    if _compiled:
        print(f"Compiled {', '.join(_compiled)}: started again")
        sys.exit(_HAS_COMPILED)


def _watch() -> None:
    from numba.core import event

    global _compiled
    _compiled = names = []

    class Watch(event.Listener):
        def on_start(self, event: Any) -> None:
            names.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event: Any) -> None: ...

    event.register("numba:compile", Watch())
