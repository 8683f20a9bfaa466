"""A vector of 16 float32 numbers as a type of its own in compiled code: `Lanes`.

Numba cannot tell the compiler that two arrays do not overlap, so loops that read and write several arrays keep reading
back what they have just written. A `Lanes` is a value: it stays in a register from `load` to `store`. In a kernel

    slope = slope + (w - excess * load(scores, j)) * load(x, (f, 0))

is 16 numbers at a time, whatever they belong to: 16 images, 16 positives of a label or 16 factors of a row. `+`, `-`
and `*` work between two `Lanes`, and with a float32 on the left. On processors with shorter vectors the compiler splits
them.

Indices are not checked. A place in an array is a whole number or a tuple of them; the 16 numbers from there on have to
lie one after the other. 16 numbers fill a line of the cache where an array starts on one (`aligned`, `scratch`): the
rows of an array that does not take two lines each, and up to twice the time to fetch.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.core.types.containers import BaseTuple
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numpy.typing import NDArray

LANES = 16
VECTOR = ir.VectorType(ir.FloatType(), LANES)
INT32 = ir.IntType(32)
WHOLE = ir.VectorType(INT32, LANES)
LINE = 64  # bytes
# Everything of fastmath but the promise that no NaN or infinity occurs: divergence must stay visible.
MATH = {"reassoc", "contract", "nsz", "arcp"}


def aligned(*shape: int) -> NDArray[np.float32]:
    """Return float32 zeros of a shape, C-contiguous, that start on a line of the cache."""
    size = int(np.prod(shape)) * 4
    room = np.empty(size + LINE, dtype=np.uint8)  # NumPy asks for large memory pages here, but not in np.zeros
    room[:] = 0
    skip = -room.ctypes.data % LINE
    return room[skip : skip + size].view(np.float32).reshape(shape)


def filled_up(n: int) -> int:
    """Return the first multiple of LANES that is not below a number."""
    return -(-n // LANES) * LANES


@njit(cache=True, inline="always")
def scratch(size):
    """Do the same in a kernel, in one dimension."""
    room = np.zeros(size + LANES, dtype=np.float32)
    skip = (-room.ctypes.data % LINE) // 4
    return room[skip : skip + size]


class LanesType(types.Type):
    """Numba's type of a `Lanes`."""

    def __init__(self):
        super().__init__(name="Lanes")


class SumsType(types.Type):
    """Numba's type of 16 whole numbers, the sums of `add_products`."""

    def __init__(self):
        super().__init__(name="Sums")


lanes, sums = LanesType(), SumsType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """A `Lanes` is one LLVM vector."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, VECTOR)


@register_model(SumsType)
class SumsModel(models.PrimitiveModel):
    """16 int32."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, WHOLE)


def _constants(numbers):
    return ir.Constant(WHOLE, list(numbers))


def _fill(builder, scalar):
    undefined = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, scalar, INT32(0))
    return builder.shuffle_vector(first, undefined, _constants([0] * LANES))


def _pointer(context, builder, signature_, arguments, element_type):
    """Return the pointer to the place that the second argument names in the array that is the first."""
    array_type, place_type = signature_.args[:2]
    array = context.make_array(array_type)(context, builder, arguments[0])
    if isinstance(place_type, BaseTuple):
        indices, index_types = cgutils.unpack_tuple(builder, arguments[1]), list(place_type)
    else:
        indices, index_types = [arguments[1]], [place_type]
    indices = [context.cast(builder, i, t, types.intp) for i, t in zip(indices, index_types, strict=True)]
    pointer = cgutils.get_item_pointer(context, builder, array_type, array, indices)
    return builder.bitcast(pointer, element_type.as_pointer())


def _each(name):
    """Return what generates a call of one of LLVM's own functions of a number, for all 16."""

    def generate(context, builder, signature_, arguments):
        kind = ir.FunctionType(VECTOR, [VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32"), arguments)

    return generate


def _define(function, instruction):
    """Let an operator of Python stand for an instruction between two `Lanes`, or a float32 and a `Lanes`."""

    @infer_global(function)
    class Operator(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and args[0] in (lanes, types.float32) and args[1] == lanes:
                return signature(lanes, *args)
            return None

    @lower_builtin(function, lanes, lanes)
    def both(context, builder, signature_, arguments):
        return getattr(builder, instruction)(*arguments, flags=sorted(MATH))

    @lower_builtin(function, types.float32, lanes)
    def scalar_first(context, builder, signature_, arguments):
        return getattr(builder, instruction)(_fill(builder, arguments[0]), arguments[1], flags=sorted(MATH))


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")


@intrinsic
def load(typing_context, array, place):
    """Return the 16 numbers of a float32 array from a place on."""

    def generate(context, builder, signature_, arguments):
        return builder.load(_pointer(context, builder, signature_, arguments, VECTOR), align=4)

    return lanes(array, place), generate


@intrinsic
def store(typing_context, array, place, value):
    """Write 16 numbers into a float32 array from a place on."""

    def generate(context, builder, signature_, arguments):
        builder.store(arguments[2], _pointer(context, builder, signature_, arguments, VECTOR), align=4)
        return context.get_dummy_value()

    return types.void(array, place, value), generate


@intrinsic
def fill(typing_context, number):
    """Return 16 times the same float32 number."""

    def generate(context, builder, signature_, arguments):
        return _fill(builder, arguments[0])

    return lanes(types.float32), generate


@intrinsic
def absolute(typing_context, value):
    """Return the absolute values."""
    return lanes(value), _each("fabs")


@intrinsic
def holds(typing_context, array, place, count, number):
    """Tell whether the first `count` of the 16 numbers of an int32 array from a place on hold a number."""

    def generate(context, builder, signature_, arguments):
        found = builder.load(_pointer(context, builder, signature_, arguments, WHOLE), align=4)
        limit, wanted = (
            _fill(builder, context.cast(builder, argument, kind, types.int32))
            for argument, kind in zip(arguments[2:], signature_.args[2:], strict=True)
        )
        counted = builder.icmp_signed("<", _constants(range(LANES)), limit)
        hits = builder.and_(counted, builder.icmp_signed("==", found, wanted))
        return builder.icmp_signed("!=", builder.bitcast(hits, ir.IntType(LANES)), ir.IntType(LANES)(0))

    return types.boolean(array, place, count, number), generate


@intrinsic
def root(typing_context, value):
    """Return the square roots."""
    return lanes(value), _each("sqrt")


@intrinsic
def total(typing_context, value):
    """Return the sum of the 16 numbers, float32."""

    def generate(context, builder, signature_, arguments):
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), VECTOR])
        add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{LANES}f32")
        return builder.call(add, [ir.FloatType()(0.0), arguments[0]], fastmath=sorted(MATH))

    return types.float32(value), generate


@intrinsic
def running(typing_context, value):
    """Return the sums of the first 1, 2, ... 16 numbers."""

    def generate(context, builder, signature_, arguments):
        sums = arguments[0]
        zero = ir.Constant(VECTOR, [0.0] * LANES)
        for step in (1, 2, 4, 8):  # add the sum that ends `step` places before
            before = builder.shuffle_vector(zero, sums, _constants(LANES + e - step for e in range(LANES)))
            sums = builder.fadd(sums, before, flags=sorted(MATH))
        return sums

    return lanes(value), generate


@intrinsic
def over(typing_context, numerator, denominator):
    """Return the quotients, 0 where the denominator is not above 0."""

    def generate(context, builder, signature_, arguments):
        zero = ir.Constant(VECTOR, [0.0] * LANES)
        positive = builder.fcmp_ordered(">", arguments[1], zero)
        return builder.select(positive, builder.fdiv(*arguments), zero)

    return lanes(numerator, denominator), generate


@intrinsic
def transpose(typing_context, array, place):
    """Transpose in place a 16 x 16 tile of a float32 array, whose 256 numbers lie one after the other from `place` on.

    In each of four rounds, rows that lie `step` apart swap the elements that are on the wrong side.
    """

    def generate(context, builder, signature_, arguments):
        start = _pointer(context, builder, signature_, arguments, VECTOR)
        places = [builder.gep(start, [INT32(r)]) for r in range(LANES)]
        rows = [builder.load(place, align=4) for place in places]
        for step in (8, 4, 2, 1):
            low = _constants([e if not e & step else LANES + e - step for e in range(LANES)])
            high = _constants([e + step if not e & step else LANES + e for e in range(LANES)])
            for r in range(LANES):
                if not r & step:
                    a, b = rows[r], rows[r + step]
                    rows[r] = builder.shuffle_vector(a, b, low)
                    rows[r + step] = builder.shuffle_vector(a, b, high)
        for row, place in zip(rows, places, strict=True):
            builder.store(row, place, align=4)
        return context.get_dummy_value()

    return types.void(array, place), generate


@intrinsic
def prefetch(typing_context, array, place):
    """Ask the processor to fetch a place of an array that will be read soon; nothing else changes."""

    def generate(context, builder, signature_, arguments):
        pointer = _pointer(context, builder, signature_, arguments, ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, INT32, INT32, INT32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [pointer, INT32(0), INT32(3), INT32(1)])  # to read, into the nearest cache, data
        return context.get_dummy_value()

    return types.void(array, place), generate


@intrinsic
def no_sums(typing_context):
    """Return 16 sums that are 0."""

    def generate(context, builder, signature_, arguments):
        return _constants([0] * LANES)

    return sums(), generate


@intrinsic
def add_products(typing_context, before, array, place, pairs, first):
    """Add a * b[2 e] + a' * b[2 e + 1] to sum e, for e from 0 to 15.

    a and a' stand at a place of an int16 array and behind it; the 32 numbers b begin at the place `first` of another
    one. Sums beyond int32 are not noticed.
    """

    def generate(context, builder, signature_, arguments):
        halves, products = ir.VectorType(ir.IntType(16), 2 * LANES), ir.VectorType(INT32, 2 * LANES)
        of_array, of_pairs = signature(types.void, *signature_.args[1:3]), signature(types.void, *signature_.args[3:])
        pair = builder.load(_pointer(context, builder, of_array, arguments[1:3], INT32), align=2)
        left = builder.bitcast(_fill(builder, pair), halves)
        right = builder.load(_pointer(context, builder, of_pairs, arguments[3:], halves), align=2)
        both = builder.mul(builder.sext(left, products), builder.sext(right, products))
        even, odd = (builder.shuffle_vector(both, both, _constants(range(half, 2 * LANES, 2))) for half in (0, 1))
        return builder.add(arguments[0], builder.add(even, odd))

    return sums(before, array, place, pairs, first), generate


@intrinsic
def numbers(typing_context, whole):
    """Return sums as float32, rounded."""

    def generate(context, builder, signature_, arguments):
        return builder.sitofp(arguments[0], VECTOR)

    return lanes(whole), generate


@intrinsic
def exceeding(typing_context, value, bound):
    """Return a number whose bit e tells whether number e of the 16 is above a float32; a NaN is not."""

    def generate(context, builder, signature_, arguments):
        higher = builder.fcmp_ordered(">", arguments[0], _fill(builder, arguments[1]))
        return builder.zext(builder.bitcast(higher, ir.IntType(LANES)), ir.IntType(64))

    return types.int64(value, types.float32), generate


@intrinsic
def count_bits(typing_context, number):
    """Return how many bits of an int64 are 1."""

    def generate(context, builder, signature_, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate
