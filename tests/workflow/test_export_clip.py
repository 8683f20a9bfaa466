"""The export of both towers of CLIP as ONNX files, at small sizes with random weights; most tests need PyTorch."""

import importlib.util
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vsebench.core.errors import UserError
from vsebench.formats.images.onnx_network import Network
from vsebench.formats.word_vectors.text_network import TextNetwork

SCRIPT = Path(__file__).parents[2] / "workflow" / "export_clip.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("export_clip", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["export_clip"] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["export_clip"]


@pytest.fixture
def torch():
    pytest.importorskip("onnx", reason="optional, see docs/clip.md")
    return pytest.importorskip("torch", reason="optional, see docs/clip.md")


@pytest.fixture
def small(script):
    return script.Sizes(128, 2, 64, 3, 20, patch=8, grid=3, words=50, length=12)


@pytest.fixture
def weights(script, small, torch):
    """Return a state_dict of small sizes with random values, and a key that the script ignores."""
    rng = np.random.default_rng(1)
    scales = {key: 1 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.3 for key, shape in script.shapes(small).items()}
    drawn = {key: rng.normal(scale=scales[key], size=shape) for key, shape in script.shapes(small).items()}
    return {key: torch.tensor(values, dtype=torch.float32) for key, values in drawn.items()} | {
        "logit_scale": torch.tensor(4.6)
    }


def test_the_table_has_the_names_and_shapes_of_vit_b_32(script):
    """By hand: the numbers of parameters of OpenAI's ViT-B/32, of both towers, without the scale of the logits."""
    shapes = script.shapes(script.Sizes())
    image = {key: shape for key, shape in shapes.items() if key.startswith("visual.")}
    assert sum(math.prod(shape) for shape in image.values()) == 87_849_216
    assert sum(math.prod(shape) for shape in shapes.values()) == 151_277_312
    assert shapes["visual.transformer.resblocks.11.attn.in_proj_weight"] == (2304, 768)
    assert shapes["transformer.resblocks.11.mlp.c_proj.weight"] == (512, 2048)
    assert script.Sizes().side == 224


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"patch": 16, "grid": 14},
        {"image": 1024, "image_layers": 24, "text": 768, "d": 768, "patch": 14, "grid": 24},
    ],
    ids=["ViT-B/32", "ViT-B/16", "ViT-L/14 at 336 pixels"],
)
def test_sizes_are_read_off_the_shapes(script, changes):
    sizes = replace(script.Sizes(), **changes)
    more = {"logit_scale": (), "input_resolution": ()}
    assert script.sizes_of(script.shapes(sizes) | more) == sizes


def test_the_first_difference_is_reported(script, small):
    shapes = script.shapes(small)
    assert "no visual.conv1.weight; the keys should be those of a CLIP model" in script.sizes_of({})
    assert script.sizes_of({key: shapes[key] for key in shapes if key != "ln_final.bias"}) == "no ln_final.bias"
    other = script.sizes_of(shapes | {"visual.proj": (128, 30)})
    assert other == "visual.proj is (128, 30), but (128, 20) would fit the other weights"
    assert "does not have 2 dimensions" in script.sizes_of(shapes | {"text_projection": (64,)})
    assert "must be multiples of 64" in script.sizes_of(script.shapes(replace(small, image=100)))


def test_towers_of_more_than_2_gb_are_recognised_by_their_sizes(script):
    assert script.largest_tower(script.Sizes()) == 4 * 87_849_216
    huge = replace(script.Sizes(), image=1280, image_layers=32, text=1024, text_layers=24, d=1024, patch=14, grid=16)
    assert script.largest_tower(huge) > script.LARGEST  # ViT-H/14


def test_without_pytorch_one_line_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['torch'] = None\n"
    code += "import runpy; sys.argv = ['x', 'a', 'b', 'c', '--activation', 'gelu']\n"
    code += "import importlib.util as u; u.find_spec = lambda name: None\n"
    code += f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "pip install torch onnx" in done.stderr


@pytest.mark.parametrize("activation", ["quick_gelu", "gelu"])
def test_the_files_give_what_torchs_own_layers_give(script, torch, small, weights, activation, tmp_path):
    pytest.importorskip("onnxruntime", reason="optional, `make setup-images` installs it")
    torch.save(weights, tmp_path / "clip.pth")
    paths = [tmp_path / "image.onnx", tmp_path / "text.onnx"]
    script.main([str(tmp_path / "clip.pth"), *map(str, paths), "--activation", activation])
    assert {file.name for file in tmp_path.iterdir()} == {"clip.pth", "image.onnx", "text.onnx"}
    pixels = np.random.default_rng(2).normal(size=(5, 3, 24, 24)).astype(np.float32)
    image = Network(paths[0], "image", threads=1)
    assert (image.height, image.width, image.dimensions) == (24, 24, 20)
    expected = image_tower(torch, small, weights, torch.from_numpy(pixels), activation)
    np.testing.assert_allclose(image(pixels), expected.numpy(), rtol=1e-3, atol=1e-4)
    texts = [[48, 7, 49], [48, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 49], [48, 49]]
    text = TextNetwork(paths[1], "text", small.length)
    expected = [text_tower(torch, small, weights, torch.tensor([tokens]), activation) for tokens in texts]
    np.testing.assert_allclose(text(texts), torch.cat(expected).numpy(), rtol=1e-3, atol=1e-4)


def image_tower(torch, sizes, weights, pixels, activation):
    """Return the vectors of images by torch.nn's own layers."""
    conv = torch.nn.functional.conv2d(pixels, weights["visual.conv1.weight"], stride=sizes.patch)
    patches = conv.reshape(len(pixels), sizes.image, -1).permute(0, 2, 1)
    first = weights["visual.class_embedding"].reshape(1, 1, -1).repeat(len(pixels), 1, 1)
    x = torch.cat([first, patches], dim=1) + weights["visual.positional_embedding"]
    x = blocks(torch, norm(torch, x, weights, "visual.ln_pre"), weights, "visual.", sizes.image_layers, activation)
    return norm(torch, x[:, 0], weights, "visual.ln_post") @ weights["visual.proj"]


def text_tower(torch, sizes, weights, tokens, activation):
    """Return the vectors of texts that all end with their last token."""
    x = torch.nn.functional.embedding(tokens, weights["token_embedding.weight"])
    x = x + weights["positional_embedding"][: tokens.shape[1]]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
    x = blocks(torch, x, weights, "", sizes.text_layers, activation, mask)
    return norm(torch, x[:, -1], weights, "ln_final") @ weights["text_projection"]


def norm(torch, x, weights, name):
    with torch.no_grad():
        return torch.nn.functional.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])


def blocks(torch, x, weights, prefix, layers, activation, mask=None):
    gelu = torch.nn.functional.gelu if activation == "gelu" else lambda z: z * torch.sigmoid(1.702 * z)
    with torch.no_grad():
        for number in range(layers):
            start = f"{prefix}transformer.resblocks.{number}."
            own = {key.removeprefix(start): value for key, value in weights.items() if key.startswith(start)}
            attention = torch.nn.MultiheadAttention(x.shape[-1], x.shape[-1] // 64, batch_first=True)
            attention.load_state_dict(
                {key.removeprefix("attn."): value for key, value in own.items() if key.startswith("attn.")}
            )
            y = norm(torch, x, own, "ln_1")
            x = x + attention(y, y, y, need_weights=False, attn_mask=mask)[0]
            y = torch.nn.functional.linear(norm(torch, x, own, "ln_2"), own["mlp.c_fc.weight"], own["mlp.c_fc.bias"])
            x = x + torch.nn.functional.linear(gelu(y), own["mlp.c_proj.weight"], own["mlp.c_proj.bias"])
    return x


def test_half_precision_becomes_float32(script, torch, small, weights):
    half = {key: value.half() for key, value in weights.items()}
    tower = script.towers(half, small, quick_gelu=True)["text"]
    assert tower(torch.tensor([[48, 49]])).dtype == torch.float32


def test_a_file_of_something_else_ends_with_one_line(script, torch, weights, tmp_path):
    path = tmp_path / "clip.pth"
    cases = {
        "not a file of tensors only": lambda: path.write_text("not weights"),
        "not a state_dict": lambda: torch.save([1, 2], path),
        "no visual.conv1.weight": lambda: torch.save({"logit_scale": weights["logit_scale"]}, path),
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

    torch.save({"visual.conv1.weight": Harmful()}, tmp_path / "clip.pth")
    with pytest.raises(SystemExit, match="not a file of tensors only"):
        script.read(tmp_path / "clip.pth")
    assert not (tmp_path / "harm").exists()


def test_a_text_tower_is_no_network_of_images(script, torch, small, weights, tmp_path):
    pytest.importorskip("onnxruntime", reason="optional, `make setup-images` installs it")
    script.export(script.towers(weights, small, quick_gelu=True)["text"], "text", small, tmp_path / "text.onnx")
    with pytest.raises(UserError, match="its input must be"):
        Network(tmp_path / "text.onnx", "text", threads=1)


def test_a_folder_that_is_not_there_ends_with_one_line(script, torch, tmp_path):
    paths = [str(tmp_path / "clip.pth"), str(tmp_path / "image.onnx"), str(tmp_path / "none" / "text.onnx")]
    with pytest.raises(SystemExit, match=re.escape("text.onnx: no such folder")):
        script.main([*paths, "--activation", "gelu"])
