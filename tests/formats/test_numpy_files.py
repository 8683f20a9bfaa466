"""Faults of the arrays in an .npz file are in test_faults.py."""

import numpy as np
import pytest

from vsebench.core.errors import UserError
from vsebench.formats.numpy_files import load


def test_a_member_whose_header_states_fewer_rows_is_refused(tmp_path):
    """NumPy would read 2,000 of the 9,000 numbers and would not verify the checksum of the member."""
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(9000.0))
    path.write_bytes(path.read_bytes().replace(b"'shape': (9000,)", b"'shape': (2000,)"))
    with pytest.raises(UserError, match=r"a\.npz: not a readable \.npz file \("):
        load(path, ["a"])


def test_other_members_are_not_read(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(2), b=np.array([{}], dtype=object))
    assert load(tmp_path / "a.npz", ["a", "c"]).keys() == {"a"}
