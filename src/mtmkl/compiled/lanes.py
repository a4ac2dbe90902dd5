"""Sums in explicit lanes, added up by a fixed tree.

Four vectors of four float64 take sixteen elements at a time; whole fours that are left
go to the first vector, and the last three elements are added at the end. Any processor
does these operations in this order, in registers of whatever width it has.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from mtmkl.compiled.cache import routine
from mtmkl.typing import FloatArray

_WIDTH, _VECTORS = 4, 4
_DOUBLE = ir.DoubleType()
_LANES = ir.VectorType(_DOUBLE, _WIDTH)
_INDEX = ir.IntType(64)


def _is_contiguous(array: Any) -> bool:
    is_array = isinstance(array, types.Array)
    return is_array and array.layout == "C" and array.dtype == types.float64


def _loader(
    context: Any, builder: Any, array: Any, value: Any, first: Any
) -> Callable[[Any, ir.Type], Any]:
    """Return a function that loads a float64, or four, from the k-th element on."""
    data = context.make_array(array)(context, builder, value).data
    start = builder.gep(data, [first])

    def load(k: Any, kind: ir.Type) -> Any:
        place = builder.bitcast(builder.gep(start, [k]), kind.as_pointer())
        return builder.load(place, align=8)

    return load


def _sum(builder: Any, n: Any, term: Callable[[Any, ir.Type], Any]) -> Any:
    """Build the sum of ``term(k)``, k < n."""
    sums = [
        cgutils.alloca_once_value(builder, ir.Constant(_LANES, [0.0] * _WIDTH))
        for _ in range(_VECTORS)
    ]

    def add(place: Any, summand: Any) -> None:
        builder.store(builder.fadd(builder.load(place), summand), place)

    def up_to(first: Any, step: int) -> Any:
        left = builder.sub(n, first)
        return builder.add(first, builder.and_(left, ir.Constant(_INDEX, -step)))

    zero = ir.Constant(_INDEX, 0)
    whole = up_to(zero, _WIDTH * _VECTORS)
    step = ir.Constant(_INDEX, _WIDTH * _VECTORS)
    with cgutils.for_range_slice(builder, zero, whole, step, _INDEX) as (k, _):
        for v, place in enumerate(sums):
            add(place, term(builder.add(k, ir.Constant(_INDEX, v * _WIDTH)), _LANES))
    fours = up_to(whole, _WIDTH)
    step = ir.Constant(_INDEX, _WIDTH)
    with cgutils.for_range_slice(builder, whole, fours, step, _INDEX) as (k, _):
        add(sums[0], term(k, _LANES))
    a, b, c, d = map(builder.load, sums)
    four = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
    e, f, g, h = (
        builder.extract_element(four, ir.Constant(ir.IntType(32), lane))
        for lane in range(_WIDTH)
    )
    result = cgutils.alloca_once_value(
        builder, builder.fadd(builder.fadd(e, f), builder.fadd(g, h))
    )
    one = ir.Constant(_INDEX, 1)
    with cgutils.for_range_slice(builder, fours, n, one, _INDEX) as (k, _):
        add(result, term(k, _DOUBLE))
    return builder.load(result)


@intrinsic
def dot_at(typing: Any, a: Any, i: Any, b: Any, j: Any, n: Any) -> Any:
    """Return Σ_k a[i + k] b[j + k], k < n, where the elements of each are in a row.

    Both are contiguous arrays of float64, of any number of dimensions: it takes no time
    to make a view of a part first.
    """
    if not (_is_contiguous(a) and _is_contiguous(b)):
        return None

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        one, i, other, j, n = values
        left = _loader(context, builder, a, one, i)
        right = _loader(context, builder, b, other, j)

        def product(k: Any, kind: ir.Type) -> Any:
            return builder.fmul(left(k, kind), right(k, kind))

        return _sum(builder, n, product)

    return types.float64(a, types.intp, b, types.intp, types.intp), build


@intrinsic
def _total(typing: Any, a: Any) -> Any:
    if not _is_contiguous(a):
        return None

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(a)(context, builder, values[0])
        load = _loader(context, builder, a, values[0], ir.Constant(_INDEX, 0))
        return _sum(builder, array.nitems, load)

    return types.float64(a), build


@routine
def total(a: NDArray[Any]) -> float:
    """Return the sum of a contiguous array."""
    return _total(a)


@routine
def dot(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return Σ_k a_k b_k of two contiguous vectors."""
    return dot_at(a, 0, b, 0, a.size)


@routine
def add_scaled(out: FloatArray, factor: float, row: NDArray[Any]) -> None:
    """Add ``factor`` times a row to a vector, which is no sum and needs no lanes."""
    for k in range(out.size):
        out[k] += factor * row[k]
