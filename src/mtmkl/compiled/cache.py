"""Decorators of compiled functions, with a cache that no edit leaves stale.

Numba's own cache watches the file of a function, not those of its callees. Here a file
is named by all that its code depends on: byte code and constants of the function and
of every compiled function that it reaches, types of the arguments, processor, versions.
An edit anywhere leads to another file, and processes that compile at the same time
write equal ones.

Numba copies what a function calls into its code, which it then compiles once more, at
every level of calls. Here a function that is too large to be inlined stays apart: its
callers know it by a name that is the same in all processes, and load it first.
"""

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, ParamSpec, TypeVar

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import caching, serialize
from numba.core.compiler import Compiler, CompileResult
from numba.core.dispatcher import Dispatcher

P = ParamSpec("P")
R = TypeVar("R")

SUFFIX = ".compiled"
_DIGEST = hashlib.sha256
_INLINED = 100
"""Instructions of the largest function that callers have a copy of."""
_files: set[Path] = set()
# Functions by their names; names of those that a library's code, or copies of it, call;
# name under which a function is compiled.
_kept: dict[str, CompileResult] = {}
_needed: dict[Any, set[str]] = {}
_names: dict[Any, str] = {}


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that Python calls."""
    return _dispatcher(function, no_cpython_wrapper=False)


def routine(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function for compiled code alone: it has no wrapper for Python."""
    return _dispatcher(function, no_cpython_wrapper=True)


def _dispatcher(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    dispatcher = numba.njit(
        nogil=True, error_model="numpy", no_cfunc_wrapper=True,
        pipeline_class=_Compiler, **options
    )(function)  # fmt: skip
    dispatcher._cache = _Cache(dispatcher)
    return dispatcher


@cache
def _folders() -> list[Path]:
    """Return the folders in which compiled code is looked for.

    ``NUMBA_CACHE_DIR`` if it is set, else one beside these sources, which may be read
    where it cannot be written, and one in the user's cache.
    """
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        parents = [Path(given)]
    else:
        parents = [Path(__file__).parent / "__pycache__"]
        with suppress(RuntimeError):  # there is no home
            own = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            parents.append(Path(own) / "mtmkl" / "compiled")
    return [parent / str(sys.implementation.cache_tag) for parent in parents]


@cache
def cache_folder() -> Path | None:
    """Return the first of these folders that can be written, None if there is none."""
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


def used_files() -> set[Path]:
    """Return the files of all functions that this process has called so far."""
    return set(_files)


class _Cache(caching._Cache):
    """Compiled code of a function, in a file for all types of its arguments."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._key: bytes | None = None

    @property
    def cache_path(self) -> str:
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        name = self._name(sig, target_context.codegen())
        if found := _load(name, target_context):
            return found
        _names[self._dispatcher.py_func] = name
        _say_once()
        return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        name = self._name(sig, data.codegen)
        linked = data.library._linking_libraries
        needed = set().union(*(_needed.get(each, ()) for each in linked))
        if folder := cache_folder():
            _write(folder / name, serialize.dumps((needed, data._reduce())))
            _files.add(folder / name)
        _keep(name, needed, data)

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...

    def _name(self, sig: Any, codegen: Any) -> str:
        if self._key is None:
            self._key = _source_key(self._dispatcher)
        key = _DIGEST(self._key + repr((sig, codegen.magic_tuple())).encode())
        name = self._dispatcher.py_func.__qualname__
        return f"{name}-{key.hexdigest()[:32]}{SUFFIX}"


class _Compiler(Compiler):
    """Numba's, but for names by which functions in other files can be called."""

    def _compile_bytecode(self) -> CompileResult:
        function = self.state.func_id
        digest = _names[function.func].rpartition("-")[2]
        function.unique_id = int(digest[:16], 16)
        function.unique_name = f"{function.func_qualname}${function.unique_id}"
        return super()._compile_bytecode()


def _load(name: str, target_context: Any) -> CompileResult | None:
    """Return a function, after those that it calls; None if one of them is missing."""
    if name in _kept:
        return _kept[name]
    for path in (folder / name for folder in _folders()):
        if content := _read(path):
            try:
                needed, parts = pickle.loads(content)
            except (ImportError, AttributeError):
                continue  # a type of its arguments is in another module now
            if all(_load(each, target_context) for each in sorted(needed)):
                _files.add(path)
                function = CompileResult._rebuild(target_context, *parts)
                return _keep(name, needed, function)
    return None


def _keep(name: str, needed: set[str], function: CompileResult) -> CompileResult:
    """Keep a function that others may call, apart from them if it is large.

    Apart as well if it makes Python objects: a process that has loaded a caller would
    add to ``consts``, what these need, were it to compile the function itself.
    """
    library = function.library
    module = library._get_module_for_linking()
    blocks = module.get_function(function.fndesc.llvm_func_name).blocks
    size = islice((1 for block in blocks for _ in block.instructions), _INLINED + 1)
    if sum(size) > _INLINED or function.environment.consts:
        nothing = binding.parse_assembly("")
        nothing.triple, nothing.data_layout = module.triple, module.data_layout
        library._shared_module = nothing
        needed = {name}
    _kept[name], _needed[library] = function, needed
    return function


def _read(path: Path) -> bytes | None:
    """Return what was written, None if there is nothing or it is damaged."""
    with suppress(OSError):
        digest, content = (whole := path.read_bytes())[:32], whole[32:]
        if _DIGEST(content).digest() == digest:
            return content
    return None


def _write(path: Path, content: bytes) -> None:
    """Write a file whole; without it, the next process compiles again."""
    part = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        try:
            part.write_bytes(_DIGEST(content).digest() + content)
            part.replace(path)
        except OSError:
            part.unlink()


@cache
def _versions() -> bytes:
    """Return what all compiled code depends on, these sources included."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    texts = b"".join(path.read_bytes() for path in sources)
    versions = (numba.__version__, llvmlite.__version__, sys.version_info)
    return repr(versions).encode() + _DIGEST(texts).digest()


def _source_key(dispatcher: Dispatcher) -> bytes:
    """Return a digest of the sources that a function reaches."""
    reached: dict[str, bytes] = {}
    waiting = [dispatcher]
    while waiting:
        function = waiting.pop()
        code, namespace = function.py_func.__code__, function.py_func.__globals__
        name = f"{function.py_func.__module__}.{function.py_func.__qualname__}"
        if name in reached:
            continue
        used = dict(_used(code, namespace))
        waiting += [each for each in used.values() if isinstance(each, Dispatcher)]
        constants = {k: v for k, v in used.items() if not isinstance(v, Dispatcher)}
        options = sorted(map(repr, function.targetoptions.items()))
        reached[name] = repr((_fingerprint(code), constants, options)).encode()
    texts = (name.encode() + reached[name] for name in sorted(reached))
    return _DIGEST(_versions() + b"".join(texts)).digest()


def _used(code: CodeType, namespace: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the compiled functions and the constants that a code refers to."""
    modules = [namespace.get(name) for name in code.co_names]
    spaces = [vars(each) for each in modules if isinstance(each, ModuleType)]
    for space in (namespace, *spaces):
        for name in code.co_names:
            value = space.get(name)
            place = f"{space['__name__']}.{name}"
            if isinstance(value, Dispatcher | int | float | str | tuple | np.generic):
                yield place, value
            elif isinstance(value, np.ndarray):
                yield place, (value.dtype.str, value.shape, value.tobytes())
            elif isinstance(value, type) and hasattr(value, "_fields"):
                yield place, value._fields  # of a named tuple
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _used(constant, namespace)


def _fingerprint(code: CodeType) -> tuple[Any, ...]:
    """Return what a code does, without its lines and its docstring."""
    constants = [
        _fingerprint(each) if isinstance(each, CodeType) else repr(each)
        for each in code.co_consts
        if not isinstance(each, str)
    ]
    return code.co_code, constants, code.co_names, code.co_varnames


_said = False


def keep_quiet() -> None:
    """Compile without a word in this process: whoever asked for it knows."""
    global _said
    _said = True


def _say_once() -> None:
    """Tell that this process compiles, before the first function of it."""
    global _said
    if _said:
        return
    _said = True
    if cache_folder() is None:
        where = "in memory, as no folder of its cache can be written (NUMBA_CACHE_DIR)"
    else:
        where = "once; all of it at once: python -m mtmkl.compile"
    print(f"mtmkl compiles its solvers: up to half a minute, {where}", file=sys.stderr)
