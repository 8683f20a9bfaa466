"""The export of VGG16 up to fc7 as an ONNX file, at a width of 1; most tests are skipped without PyTorch."""

import importlib.util
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vsebench.formats.images.onnx_network import Network

SCRIPT = Path(__file__).parents[2] / "workflow" / "export_vgg16.py"
CONVOLUTIONS = {  # by hand: number in `features`, channels in and out; a ReLU follows each, a maximum each block
    0: (3, 64), 2: (64, 64),
    5: (64, 128), 7: (128, 128),
    10: (128, 256), 12: (256, 256), 14: (256, 256),
    17: (256, 512), 19: (512, 512), 21: (512, 512),
    24: (512, 512), 26: (512, 512), 28: (512, 512),
}  # fmt: skip
BEFORE_A_MAXIMUM = (2, 7, 14, 21, 28)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("export_vgg16", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def torch():
    pytest.importorskip("onnx", reason="optional, see docs/features.md")
    return pytest.importorskip("torch", reason="optional, see docs/features.md")


@pytest.fixture
def weights(script, torch):
    """Return a state_dict of width 1 whose values neither vanish nor grow from layer to layer."""
    drawn, rng = {}, np.random.default_rng(1)
    for key, shape in script.shapes(1).items():
        values = rng.normal(scale=math.sqrt(2 / math.prod(shape[1:])), size=shape) if key.endswith("weight") else 0.1
        drawn[key] = torch.tensor(np.broadcast_to(values, shape).astype(np.float32))
    return drawn


def test_the_table_has_the_names_and_shapes_of_vgg16(script):
    wanted = {}
    for number, (inputs, outputs) in CONVOLUTIONS.items():
        wanted |= {f"features.{number}.weight": (outputs, inputs, 3, 3), f"features.{number}.bias": (outputs,)}
    wanted |= {"classifier.0.weight": (4096, 25088), "classifier.0.bias": (4096,)}
    wanted |= {"classifier.3.weight": (4096, 4096), "classifier.3.bias": (4096,)}
    wanted |= {"classifier.6.weight": (1000, 4096), "classifier.6.bias": (1000,)}
    assert list(script.shapes().items()) == list(wanted.items())


def test_the_table_has_as_many_layers_and_parameters_as_vgg16(script):
    shapes = script.shapes()
    assert sum(math.prod(shape) for shape in shapes.values()) == 138_357_544
    assert [sum(len(shape) == size for shape in shapes.values()) for size in (4, 2)] == [13, 3]


def test_the_first_difference_is_told(script):
    wanted = script.shapes()
    assert script.difference(dict(reversed(wanted.items())), wanted) is None
    assert "no features.0.weight" in script.difference({}, wanted)
    other = wanted | {"classifier.3.bias": (10,)}
    assert script.difference(other, wanted) == "classifier.3.bias is (10,), but (4096,) in VGG16"
    assert script.difference(wanted | {"more": (1,)}, wanted) == "more is not in VGG16"


def test_without_pytorch_one_line_says_what_to_install(tmp_path):
    code = f"import sys; sys.path[:] = [{str(tmp_path)!r}, *sys.path[:4]]; sys.modules['torch'] = None\n"
    code += "import importlib.util as u; u.find_spec = lambda name: None\n"
    code += f"import runpy; sys.argv = ['x', 'a', 'b']; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "pip install torch onnx" in done.stderr


@pytest.mark.parametrize("new_format", [True, False])  # torchvision's own files are older than the new one
def test_the_file_gives_what_the_layers_give_one_by_one(script, torch, weights, new_format, tmp_path):
    pytest.importorskip("onnxruntime", reason="optional, `make setup-images` installs it")
    torch.save(weights, tmp_path / "weights.pth", _use_new_zipfile_serialization=new_format)
    script.export(script.loaded(script.read(tmp_path / "weights.pth", 1)), tmp_path / "fc7.onnx")
    assert {file.name for file in tmp_path.iterdir()} == {"weights.pth", "fc7.onnx"}
    images = np.random.default_rng(2).normal(size=(3, 3, 224, 224)).astype(np.float32)
    found = Network(tmp_path / "fc7.onnx", "fc7", threads=1)(images)
    wanted = forward(torch, weights, torch.from_numpy(images)).numpy()
    assert found.shape == (3, 64)
    assert 0.1 < (wanted > 0).mean() < 0.9
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def forward(torch, weights, values):
    """Return fc7 of images (n, 3, 224, 224), layer by layer."""
    functional = torch.nn.functional
    for number in CONVOLUTIONS:
        name = f"features.{number}"
        values = functional.conv2d(values, weights[f"{name}.weight"], weights[f"{name}.bias"], padding=1).relu()
        values = functional.max_pool2d(values, 2) if number in BEFORE_A_MAXIMUM else values
    values = values.flatten(1)
    for name in ("classifier.0", "classifier.3"):
        values = functional.linear(values, weights[f"{name}.weight"], weights[f"{name}.bias"]).relu()
    return values


def test_half_precision_becomes_float32(script, torch, weights):
    vgg = script.loaded({key: one.half() for key, one in weights.items()})
    assert {one.dtype for one in vgg.state_dict().values()} == {torch.float32}


def test_a_file_of_something_else_ends_with_one_line(script, torch, weights, tmp_path):
    path = tmp_path / "weights.pth"
    cases = {
        "not a file of tensors only": lambda: path.write_text("not weights"),
        "not a state_dict": lambda: torch.save([1, 2], path),
        "no features.0.weight": lambda: torch.save({}, path),
        "features.0.weight is (1, 3, 3, 3), but (64, 3, 3, 3) in VGG16": lambda: torch.save(weights, path),
    }
    for message, write in cases.items():
        write()
        with pytest.raises(SystemExit, match=re.escape(f"{path}: {message}")):
            script.read(path)
    with pytest.raises(SystemExit, match="No such file"):
        script.read(tmp_path / "none.pth")


def test_code_in_a_file_is_not_run(script, torch, tmp_path):
    class Harmful:
        def __reduce__(self):
            return Path.touch, (tmp_path / "harm",)

    torch.save({"features.0.weight": Harmful()}, tmp_path / "weights.pth")
    with pytest.raises(SystemExit, match="not a file of tensors only"):
        script.read(tmp_path / "weights.pth")
    assert not (tmp_path / "harm").exists()


def test_a_folder_that_is_not_there_ends_with_one_line(script, torch, tmp_path):
    with pytest.raises(SystemExit, match=re.escape("fc7.onnx: no such folder")):
        script.main([str(tmp_path / "weights.pth"), str(tmp_path / "none" / "fc7.onnx")])
