"""The command that tries methods on very many labels."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

from benchmarks import extreme
from tests.docs.conftest import page, section
from vsebench.core.errors import UserError
from vsebench.data.problem import LabelMatrix
from vsebench.formats.readers import xc_repository
from vsebench.methods.base import Size

SCALE = 4e-4  # 200 training images, 40 labels, 80 features
LIMITS = extreme.Limits(memory=4 << 30, seconds=300)


def test_images_are_written_in_the_text_format_of_the_repository(tmp_path):
    labels = LabelMatrix(3, np.array([0, 2, 2, 3]), np.array([0, 2, 1], dtype=np.int32), np.ones(3, dtype=np.int32))
    values = sparse.csr_array(np.array([[0, 0.5, 0.25], [0, 0, 0], [1, 0, 0]], dtype=np.float32))
    lines = extreme.text_of(labels, values)
    assert lines == ["0,2 1:0.5 2:0.25", " ", "1 0:1.0"]
    (tmp_path / "x.txt").write_text("3 3 3\n" + "\n".join(lines) + "\n")
    annotations = xc_repository.read(tmp_path, xc_repository.Options(features="sparse", data="x.txt"))
    assert np.array_equal(annotations.features.values.toarray(), values.toarray())
    assert annotations.pairs.select("image", "label").rows() == [(0, 0), (0, 2), (2, 1)]


def test_a_whole_run_on_tiny_data(tmp_path, capsys):
    out = tmp_path / "extreme.json"
    measured = extreme.measure(tmp_path / "data", SCALE, ["popularity", "wsabie"], LIMITS, out)
    assert json.loads(out.read_text())["methods"] == measured["methods"]
    assert measured["reading"]["entries"] > 1200 * 5
    for result in measured["methods"].values():
        assert 0 <= result["precision@1"] <= 1
        assert result["peak_bytes"] >= result["start_bytes"] > 0
    assert capsys.readouterr().out.count("ms per test image") == 2


def test_a_fit_that_needs_too_much_memory_is_refused_before_it_begins(tmp_path):
    extreme.write_data(tmp_path, SCALE)
    extreme.read_text(tmp_path)
    bound = 8 * 80 * (2 * 80 + 40)  # of ridge regression
    refused = extreme.run_method(tmp_path, "ridge", bound - 1)["refused"]
    assert "needs at least 0.0 GiB of memory for 200 images, 80 features and 40 labels" in refused
    assert "precision@1" in extreme.run_method(tmp_path, "ridge", bound)


def test_a_method_that_knows_labels_alone_is_tested_on_held_out_labels_of_known_images(tmp_path):
    extreme.write_data(tmp_path, SCALE)
    extreme.read_text(tmp_path)
    bound = (8 + 4) * 40**2  # of EASE
    refused = extreme.run_method(tmp_path, "ease", bound - 1)["refused"]
    assert "(distinct, seed 1): needs at least 0.0 GiB of memory for 1,200 images, 40 labels" in refused
    assert "precision@1" in extreme.run_method(tmp_path, "ease", bound)


def test_the_page_lists_the_methods_that_need_too_much_memory_at_full_size():
    table = re.findall(
        r"^\| (`[^|]*) \| ([\d,]+) \|$", section(page("docs/benchmarks.md"), "### Very many labels"), re.MULTILINE
    )
    listed = {name: number for names, number in table for name in re.findall(r"`(\w+)`", names)}
    size, bounds = Size(extreme.FULL.images, extreme.FULL.dimensions, extreme.FULL.labels), {}
    for variant in extreme.METHODS:
        method, settings = extreme.method_of(variant)
        bounds[variant] = method.least_memory(size, settings) / extreme.GIB
    assert listed == {variant: f"{bound:,.0f}" for variant, bound in bounds.items() if bound > 20}


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (extreme.Limits(memory=1 << 20, seconds=300), "it took more than 0.0 GiB"),
        (extreme.Limits(memory=4 << 30, seconds=0), "it took more than 0 minutes"),
    ],
)
def test_a_process_that_exceeds_a_limit_is_ended(tmp_path, limits, why):
    assert extreme.in_child(tmp_path, "wsabie", limits) == {"ended": why}
    assert extreme.line("wsabie", {"ended": why}) == f"| wsabie | {why} |"


def test_a_process_that_fails_is_reported_in_one_line(tmp_path):
    ended = extreme.in_child(tmp_path, "wsabie", LIMITS)["ended"]
    assert "sizes.json" in ended
    assert len(ended.splitlines()) == 1


def test_a_method_that_is_not_there_is_refused():
    with pytest.raises(UserError, match="no_such_method"):
        extreme.configured("no_such_method")
