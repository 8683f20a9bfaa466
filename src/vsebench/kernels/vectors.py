"""`Vector`, a type for 16 float32 in compiled code.

A `Vector` is a value: it stays in a processor register from `load` to `store`. In a kernel, the line

    slope = slope + (w - excess * load(scores, j)) * load(x, (f, 0))

computes 16 slopes at a time: of 16 images, of 16 positives of a label, or of 16 factors of an embedding. A loop adds up
its terms in 16 fixed lanes, not in an order that the compiler chooses, so models are reproducible byte for byte.
docs/kernels.md compares each operation with a plain loop (`python -m benchmarks --only vectors`).

Operations, named as in NumPy where NumPy has them:

    load(array, index)                 16 consecutive float32 of an array, starting at an index
    store(array, index, v)             write 16 float32 into an array, starting at an index
    broadcast(x)                       a vector of 16 copies of the float32 x
    +  -  *                            of two vectors, or of a float32 on the left and a vector
    absolute(v)  sqrt(v)  cumsum(v)    as in NumPy, of 16 numbers
    add_up(v)                          the sum of the 16 numbers, called sum in NumPy
    divide(a, b)                       a / b
    divide_or_zero(a, b)               a / b; 0 where b is not positive
    greater_mask(v, x)                 a number whose bit e is 1 if v[e] > x
    count_bits(mask)                   the number of bits that are 1
    any_equal(array, index, n, x)      whether one of n <= 16 consecutive int32 is x
    transpose(array, index)            transpose 16 x 16 consecutive float32 in place
    prefetch(array, index)             start to fetch an array's element into the cache
    zero_sums(rows), add_products(...) inner products of int16 numbers, summed in int32
    to_float(sums)                     16 int32 as a `Vector`

An index is an integer or a tuple of integers. Operations do not check indices. The 16 numbers that an operation reads
or writes must be contiguous. If a processor has shorter registers, the compiler splits each `Vector`.

16 float32 fill exactly one cache line (64 bytes) if the array starts at the beginning of a line. `aligned` and
`scratch` make such arrays. In other arrays, each vector spans two cache lines and takes up to twice as long to fetch.

The module uses parts of numba that may change in any new version. pyproject.toml limits numba's version, and
tests/kernels/test_numba_internals.py reports which part has changed.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.core.types.containers import BaseTuple, UniTuple
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numpy.typing import NDArray

LANES = 16  # numbers in a vector
CACHE_LINE = 64  # bytes
# Fastmath flags, without those that assume that there is no NaN or infinity: such values show that training diverged.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
# For functions that allocate no array: with this option, numba does not count references to arrays. If each step passes
# tuples of arrays on to functions, counting takes as long as the step itself.
NO_ALLOCATION = {"_nrt": False}

INT8, INT16, INT32, INT64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
MASK = ir.IntType(LANES)
FLOAT_VECTOR, INT_VECTOR = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(INT32, LANES)


def aligned(*shape: int) -> NDArray[np.float32]:
    """Return a C-contiguous float32 array of zeros that starts at the beginning of a cache line."""
    n_bytes = int(np.prod(shape)) * 4
    buffer = np.empty(n_bytes + CACHE_LINE, dtype=np.uint8)  # np.zeros would prevent large memory pages
    buffer[:] = 0
    skip = -buffer.ctypes.data % CACHE_LINE
    return buffer[skip : skip + n_bytes].view(np.float32).reshape(shape)


def padded_size(n: int) -> int:
    """Return the smallest multiple of LANES that is at least n."""
    return -(-n // LANES) * LANES


@njit(cache=True, inline="always")
def scratch(size):
    """Return a float32 array of zeros, (size,), that starts at the beginning of a cache line.

    Unlike `aligned`, this function can be called by kernels.
    """
    buffer = np.zeros(size + LANES, dtype=np.float32)
    skip = (-buffer.ctypes.data % CACHE_LINE) // 4
    return buffer[skip : skip + size]


class VectorType(types.Type):
    """Numba's type for a `Vector` of 16 float32, or for an `IntVector` of 16 int32 (sums of `add_products`)."""


vector, int_vector = VectorType("Vector"), VectorType("IntVector")


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    """The representation of a `VectorType` in compiled code: an LLVM vector of 16 numbers."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, FLOAT_VECTOR if fe_type == vector else INT_VECTOR)


# The functions below generate instructions: `builder` appends LLVM instructions to the function that is being compiled.


def _int_constants(numbers):
    """Return a constant vector of int32."""
    return ir.Constant(INT_VECTOR, list(numbers))


def _float_zeros():
    return ir.Constant(FLOAT_VECTOR, [0.0] * LANES)


def _broadcast(builder, scalar):
    """Return a vector that has the LLVM value `scalar` in every lane."""
    undefined = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, scalar, INT32(0))
    return builder.shuffle_vector(first, undefined, _int_constants([0] * LANES))


def _pointer(context, builder, array_type, array, indices, index_types, element_type):
    """Return the pointer to an element of an array; `indices` are LLVM values, one per dimension."""
    array = context.make_array(array_type)(context, builder, array)
    indices = [context.cast(builder, i, t, types.intp) for i, t in zip(indices, index_types, strict=True)]
    pointer = cgutils.get_item_pointer(context, builder, array_type, array, indices)
    return builder.bitcast(pointer, element_type.as_pointer())


def _element(context, builder, signature_, arguments, element_type):
    """Return the pointer to an element of an array; `arguments` begins with the array and the index."""
    array_type, index_type = signature_.args[:2]
    if isinstance(index_type, BaseTuple):
        indices, index_types = cgutils.unpack_tuple(builder, arguments[1]), list(index_type)
    else:
        indices, index_types = [arguments[1]], [index_type]
    return _pointer(context, builder, array_type, arguments[0], indices, index_types, element_type)


def _elementwise(name):
    """Return a code generator that applies an LLVM function of one number to each of the 16 numbers of a vector."""

    def generate(context, builder, signature_, arguments):
        kind = ir.FunctionType(FLOAT_VECTOR, [FLOAT_VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f32"), arguments)

    return generate


def _define_operator(function, instruction):
    """Define a Python operator as an LLVM instruction on two vectors, or on a float32 and a vector."""

    @infer_global(function)
    class Operator(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and args[0] in (vector, types.float32) and args[1] == vector:
                return signature(vector, *args)
            return None

    @lower_builtin(function, vector, vector)
    def vector_first(context, builder, signature_, arguments):
        return getattr(builder, instruction)(*arguments, flags=sorted(FASTMATH))

    @lower_builtin(function, types.float32, vector)
    def scalar_first(context, builder, signature_, arguments):
        return getattr(builder, instruction)(_broadcast(builder, arguments[0]), arguments[1], flags=sorted(FASTMATH))


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")


# The operations follow. Each docstring describes the operation in a kernel; `generate` emits its instructions.


@intrinsic
def load(typing_context, array, index):
    """Return 16 consecutive numbers of a float32 array, starting at an index."""

    def generate(context, builder, signature_, arguments):
        return builder.load(_element(context, builder, signature_, arguments, FLOAT_VECTOR), align=4)

    return vector(array, index), generate


@intrinsic
def store(typing_context, array, index, value):
    """Write the 16 numbers of a vector to consecutive places of a float32 array, starting at an index."""

    def generate(context, builder, signature_, arguments):
        builder.store(arguments[2], _element(context, builder, signature_, arguments, FLOAT_VECTOR), align=4)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@intrinsic
def broadcast(typing_context, number):
    """Return a vector of 16 copies of a float32."""

    def generate(context, builder, signature_, arguments):
        return _broadcast(builder, arguments[0])

    return vector(types.float32), generate


@intrinsic
def absolute(typing_context, value):
    """Return the 16 absolute values."""
    return vector(value), _elementwise("fabs")


@intrinsic
def sqrt(typing_context, value):
    """Return the 16 square roots."""
    return vector(value), _elementwise("sqrt")


@intrinsic
def add_up(typing_context, value):
    """Return the sum of the 16 numbers, float32; the compiler chooses the order of the additions."""

    def generate(context, builder, signature_, arguments):
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), FLOAT_VECTOR])
        add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{LANES}f32")
        return builder.call(add, [ir.FloatType()(0.0), arguments[0]], fastmath=sorted(FASTMATH))

    return types.float32(value), generate


@intrinsic
def cumsum(typing_context, value):
    """Return the cumulative sums of the 16 numbers."""

    def generate(context, builder, signature_, arguments):
        sums = arguments[0]
        for distance in (1, 2, 4, 8):  # in each round, a sum covers twice as many numbers
            lower = _int_constants(LANES + e - distance for e in range(LANES))
            sums = builder.fadd(sums, builder.shuffle_vector(_float_zeros(), sums, lower), flags=sorted(FASTMATH))
        return sums

    return vector(value), generate


@intrinsic
def divide(typing_context, numerator, denominator):
    """Return the 16 quotients."""

    def generate(context, builder, signature_, arguments):
        return builder.fdiv(*arguments)

    return vector(numerator, denominator), generate


@intrinsic
def divide_or_zero(typing_context, numerator, denominator):
    """Return the 16 quotients, but 0 where the denominator is not greater than 0."""

    def generate(context, builder, signature_, arguments):
        positive = builder.fcmp_ordered(">", arguments[1], _float_zeros())
        return builder.select(positive, builder.fdiv(*arguments), _float_zeros())

    return vector(numerator, denominator), generate


@intrinsic
def greater_mask(typing_context, value, bound):
    """Return an int64 whose bit e is 1 if number e of `value` is greater than `bound`, float32.

    The bit of a NaN is 0.
    """

    def generate(context, builder, signature_, arguments):
        greater = builder.fcmp_ordered(">", arguments[0], _broadcast(builder, arguments[1]))
        return builder.zext(builder.bitcast(greater, MASK), INT64)

    return types.int64(value, types.float32), generate


@intrinsic
def count_bits(typing_context, mask):
    """Return the number of bits of an int64 that are 1."""

    def generate(context, builder, signature_, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@intrinsic
def any_equal(typing_context, array, index, n, number):
    """Return whether a number is among n consecutive numbers of an int32 array, starting at an index.

    n is at most 16. The function always reads 16 numbers, so the index must not be one of the array's last 15
    positions.
    """

    def generate(context, builder, signature_, arguments):
        values = builder.load(_element(context, builder, signature_, arguments, INT_VECTOR), align=4)
        limit, sought = (
            _broadcast(builder, context.cast(builder, argument, kind, types.int32))
            for argument, kind in zip(arguments[2:], signature_.args[2:], strict=True)
        )
        counted = builder.icmp_signed("<", _int_constants(range(LANES)), limit)
        equal = builder.and_(counted, builder.icmp_signed("==", values, sought))
        return builder.icmp_signed("!=", builder.bitcast(equal, MASK), MASK(0))

    return types.boolean(array, index, n, number), generate


@intrinsic
def transpose(typing_context, array, index):
    """Transpose a 16 x 16 tile of a float32 array in place.

    The tile consists of 256 consecutive numbers of the array, starting at an index. In four rounds, rows are paired at
    the distances 8, 4, 2 and 1, and the two rows of each pair swap half of their numbers.
    """

    def generate(context, builder, signature_, arguments):
        start = _element(context, builder, signature_, arguments, FLOAT_VECTOR)
        pointers = [builder.gep(start, [INT32(r)]) for r in range(LANES)]
        rows = [builder.load(pointer, align=4) for pointer in pointers]
        for distance in (8, 4, 2, 1):
            low = _int_constants([e if not e & distance else LANES + e - distance for e in range(LANES)])
            high = _int_constants([e + distance if not e & distance else LANES + e for e in range(LANES)])
            for r in range(LANES):
                if not r & distance:
                    a, b = rows[r], rows[r + distance]
                    rows[r] = builder.shuffle_vector(a, b, low)
                    rows[r + distance] = builder.shuffle_vector(a, b, high)
        for row, pointer in zip(rows, pointers, strict=True):
            builder.store(row, pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def prefetch(typing_context, array, index):
    """Ask the processor to fetch the cache line of an element that will be read soon."""

    def generate(context, builder, signature_, arguments):
        pointer = _element(context, builder, signature_, arguments, INT8)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, INT32, INT32, INT32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [pointer, INT32(0), INT32(3), INT32(1)])  # for reading, into the nearest cache, as data
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def zero_sums(typing_context, rows):
    """Return a tuple of `IntVector`s of zeros, one per element of the tuple `rows`."""

    def generate(context, builder, signature_, arguments):
        return context.make_tuple(builder, signature_.return_type, [_int_constants([0] * LANES)] * len(rows))

    return UniTuple(int_vector, len(rows))(rows), generate


@intrinsic
def add_products(typing_context, sums, vectors, rows, groups_of_labels, groups, pair):
    """Add the terms of two factors to inner products of int16 vectors, and return the new sums.

    sums : tuple of `IntVector`s; sum t belongs to row rows[t] of `vectors` and to the 16 labels of group groups[t]
    vectors : (n, K) int16
    rows, groups : tuples of integers
    groups_of_labels : (n_groups, K / 2, 32) int16, the vectors of the labels, as the `pairs` of a `RoundedLabels`
    pair : integer; the two factors are 2 pair and 2 pair + 1

    Lane e of sum t increases by x[2 pair] y[2 pair] + x[2 pair + 1] y[2 pair + 1], where x is row rows[t] of `vectors`,
    and y is the vector of label e of group groups[t]. Processors of the x86 family have one instruction that multiplies
    and adds such pairs. Overflow of int32 is not detected.
    """

    def generate(context, builder, signature_, arguments):
        vectors_type, rows_type, labels_type, groups_type, pair_type = signature_.args[1:]
        halves, products = ir.VectorType(INT16, 2 * LANES), ir.VectorType(INT32, 2 * LANES)
        unpacked = (cgutils.unpack_tuple(builder, arguments[slot]) for slot in (0, 2, 4))
        first, intp = builder.mul(context.cast(builder, arguments[5], pair_type, types.intp), INT64(2)), types.intp
        results = []
        for t, (total, row, group) in enumerate(zip(*unpacked, strict=True)):
            pointer = _pointer(context, builder, vectors_type, arguments[1], [row, first], [rows_type[t], intp], INT32)
            left = builder.bitcast(_broadcast(builder, builder.load(pointer, align=2)), halves)
            indices, index_types = [group, arguments[5], INT64(0)], [groups_type[t], pair_type, intp]
            pointer = _pointer(context, builder, labels_type, arguments[3], indices, index_types, halves)
            right = builder.load(pointer, align=2)
            both = builder.mul(builder.sext(left, products), builder.sext(right, products))
            even, odd = (
                builder.shuffle_vector(both, both, _int_constants(range(half, 2 * LANES, 2))) for half in (0, 1)
            )
            results.append(builder.add(total, builder.add(even, odd)))
        return context.make_tuple(builder, signature_.return_type, results)

    return sums(sums, vectors, rows, groups_of_labels, groups, pair), generate


@intrinsic
def to_float(typing_context, sums):
    """Convert an `IntVector` to a `Vector`, rounding to float32."""

    def generate(context, builder, signature_, arguments):
        return builder.sitofp(arguments[0], FLOAT_VECTOR)

    return vector(sums), generate
