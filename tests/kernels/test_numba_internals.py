"""Reports which parts of numba and llvmlite that this package uses are missing in another version."""

import importlib
import subprocess
import sys

import numba
import pytest

VECTORS = "src/vsebench/kernels/vectors.py"
USERS = f"{VECTORS} or content_cache.py"
INTERNALS = (
    ("llvmlite.ir", "VectorType Constant Undefined FunctionType IntType FloatType VoidType"),
    ("numba.core.cgutils", "get_item_pointer get_or_insert_function unpack_tuple"),
    ("numba.core.types", "Type float32 int64 boolean intp void"),
    ("numba.core.types.containers", "BaseTuple UniTuple"),
    ("numba.core.typing.templates", "AbstractTemplate infer_global signature"),
    ("numba.core.base", "BaseContext"),
    ("numba.extending", "intrinsic lower_builtin models register_model"),
    ("llvmlite.ir.IRBuilder", "insert_element shuffle_vector bitcast select fcmp_ordered icmp_signed ctpop gep sitofp"),
    ("numba.core.base.BaseContext", "cast make_array make_tuple get_dummy_value"),
    ("numba.core.caching.CacheImpl", "_locator_classes"),
    (
        "vsebench.kernels.content_cache.IndexDataCacheFile",
        "save load _save_data _load_data _data_name _data_path _dump",
    ),
)


def import_named(name):
    """Return a module, or a class in one."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute, None)


@pytest.mark.parametrize(("where", "names"), INTERNALS, ids=[where for where, _ in INTERNALS])
def test_numba_has_what_we_need(where, names):
    owner = import_named(where)
    missing = [name for name in names.split() if not hasattr(owner, name)]
    assert not missing, f"numba {numba.__version__}: {where} lacks {', '.join(missing)}, which {USERS} uses"


def test_a_kernel_of_vectors_compiles_and_allocates_nothing():
    try:
        from vsebench.kernels.vectors import NO_ALLOCATION, add_up, broadcast, load, np, store

        @numba.njit(**NO_ALLOCATION)
        def double(array):
            store(array, 0, np.float32(2) * load(array, 0) + broadcast(np.float32(1)))
            return add_up(load(array, 0))

        assert double(np.arange(16, dtype=np.float32)) == 2 * 120 + 16
    except Exception as error:  # the message must name the file, whatever error numba raises
        pytest.fail(f"numba {numba.__version__}: {VECTORS} does not work with it: {error!r}")
    assert "NRT_incref" not in double.inspect_llvm(double.signatures[0]), f"{VECTORS}: NO_ALLOCATION has no effect"


def test_a_kernel_runs_without_an_import_of_scipy_linalg():
    program = """
import sys
import numpy as np
import vsebench.kernels
import numba

@numba.njit
def product(a, b):
    return a @ b

numba.njit(lambda a: a.sum())(np.ones(3))
print("scipy.linalg" in sys.modules)
print(product(np.eye(2), np.full((2, 2), 3.0)).tolist(), "scipy.linalg" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    expected = "False\n[[3.0, 3.0], [3.0, 3.0]] True\n"
    assert done.stdout == expected, f"numba {numba.__version__}: src/vsebench/kernels/__init__.py: {done.stderr}"
