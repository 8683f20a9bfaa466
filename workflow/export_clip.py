"""Write both towers of a CLIP model as ONNX files: `python workflow/export_clip.py clip.pth image.onnx text.onnx`.

The first file is a state_dict with the key names of OpenAI's CLIP, which OpenCLIP uses too; both towers must be
transformers. The towers have the inputs `pixels` (n, 3, side, side) and `tokens` (n, length), and the outputs `image`
and `text`, (n, d): vectors in one space, not scaled to length 1. The end token is the one with the largest number;
tokens after it have no effect. A tower of more than 2 GB does not fit into an ONNX file, so ViT-H and larger models
cannot be exported. The script needs the packages torch and onnx, but not vsebench.

Source: Radford and others, "Learning transferable visual models from natural language supervision", ICML 2021.
"""

import argparse
import importlib.util
import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEAD = 64  # dimensions of an attention head; only models that are too large for this script have another number
LARGEST = 2_000_000_000  # bytes of an ONNX file with all its weights
PREFIXES = {"image": "visual.", "text": ""}
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a CLIP model.

    Attributes
    ----------
    image, text : widths of the two transformers, the numbers per patch and per token
    image_layers, text_layers : numbers of blocks
    d : length of the output
    patch, grid : side of a patch in pixels, and patches per side
    words, length : number of tokens in the vocabulary, and of tokens in a text
    """

    image: int = 768
    image_layers: int = 12
    text: int = 512
    text_layers: int = 12
    d: int = 512
    patch: int = 32
    grid: int = 7
    words: int = 49408
    length: int = 77

    @property
    def side(self) -> int:
        """Side of an image in pixels."""
        return self.patch * self.grid


def shapes(sizes: Sizes) -> Shapes:
    """Return key -> shape of the weights of a CLIP model; the default sizes are those of ViT-B/32."""
    whole: Shapes = {
        "visual.conv1.weight": (sizes.image, 3, sizes.patch, sizes.patch),
        "visual.class_embedding": (sizes.image,),
        "visual.positional_embedding": (sizes.grid**2 + 1, sizes.image),
        "visual.proj": (sizes.image, sizes.d),
        "token_embedding.weight": (sizes.words, sizes.text),
        "positional_embedding": (sizes.length, sizes.text),
        "text_projection": (sizes.text, sizes.d),
    }
    for name, width in (("visual.ln_pre", sizes.image), ("visual.ln_post", sizes.image), ("ln_final", sizes.text)):
        whole |= layer(name, width)
    for tower, width, layers in (("image", sizes.image, sizes.image_layers), ("text", sizes.text, sizes.text_layers)):
        for number in range(layers):
            block = f"{PREFIXES[tower]}transformer.resblocks.{number}"
            whole |= layer(f"{block}.ln_1", width) | layer(f"{block}.ln_2", width)
            whole |= {f"{block}.attn.in_proj_weight": (3 * width, width), f"{block}.attn.in_proj_bias": (3 * width,)}
            whole |= layer(f"{block}.attn.out_proj", width, width)
            whole |= layer(f"{block}.mlp.c_fc", 4 * width, width) | layer(f"{block}.mlp.c_proj", width, 4 * width)
    return whole


def layer(name: str, outputs: int, *inputs: int) -> Shapes:
    """Return the shapes of a layer's weights and biases."""
    return {f"{name}.weight": (outputs, *inputs), f"{name}.bias": (outputs,)}


def sizes_of(actual: Mapping[str, tuple[int, ...]]) -> Sizes | str:
    """Return the sizes of a model with these weights, or a description of the first wrong key or shape.

    Further keys, such as `logit_scale`, are ignored.
    """
    wanted = {
        "visual.conv1.weight": 4, "visual.positional_embedding": 2, "token_embedding.weight": 2,
        "positional_embedding": 2, "text_projection": 2,
    }  # fmt: skip
    for key, dimensions in wanted.items():
        if key not in actual:
            return f"no {key}; the keys should be those of a CLIP model by OpenAI or OpenCLIP with transformers"
        if len(actual[key]) != dimensions:
            return f"{key} is {actual[key]}, which does not have {dimensions} dimensions"
    image, _, patch, _ = actual["visual.conv1.weight"]
    layers = {tower: layers_of(actual, prefix) for tower, prefix in PREFIXES.items()}
    grid = math.isqrt(max(actual["visual.positional_embedding"][0] - 1, 0))
    length, text = actual["positional_embedding"]
    words, d = actual["token_embedding.weight"][0], actual["text_projection"][1]
    sizes = Sizes(image, layers["image"], text, layers["text"], d, patch, grid, words, length)
    if image % HEAD or text % HEAD:
        return f"the widths {image} and {text} must be multiples of {HEAD}, the dimensions of an attention head"
    return difference(actual, shapes(sizes)) or sizes


def layers_of(keys: Mapping[str, Any], prefix: str) -> int:
    """Return the number of blocks of a tower."""
    start = f"{prefix}transformer.resblocks."
    return len({key.removeprefix(start).partition(".")[0] for key in keys if key.startswith(start)})


def difference(actual: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]]) -> str | None:
    """Return a description of the first missing key or wrong shape; None if there is none."""
    for key, shape in expected.items():
        if key not in actual:
            return f"no {key}"
        if actual[key] != shape:
            return f"{key} is {actual[key]}, but {shape} would fit the other weights"
    return None


def largest_tower(sizes: Sizes) -> int:
    """Return the number of bytes of the larger tower's weights."""
    bytes_of = dict.fromkeys(PREFIXES, 0)
    for key, shape in shapes(sizes).items():
        bytes_of["image" if key.startswith(PREFIXES["image"]) else "text"] += 4 * math.prod(shape)
    return max(bytes_of.values())


def towers(weights: Mapping[str, Any], sizes: Sizes, quick_gelu: bool) -> dict[str, Any]:
    """Return both towers as torch.nn.Module by name: `image`, (n, 3, side, side) -> (n, d), and `text`, tokens -> d.

    Parameters
    ----------
    weights : the state_dict
    sizes : sizes of the model
    quick_gelu : whether the activation is x / (1 + exp(-1.702 x)), as in OpenAI's models, or the exact GELU
    """
    import torch
    from torch import nn

    own = {key: value.float() for key, value in weights.items() if isinstance(value, torch.Tensor)}

    class Image(nn.Module):
        def forward(self, pixels: Any) -> Any:
            patches = nn.functional.conv2d(pixels, own["visual.conv1.weight"], stride=sizes.patch)
            first = own["visual.class_embedding"].expand(pixels.shape[0], 1, -1)
            x = torch.cat([first, patches.flatten(2).transpose(1, 2)], dim=1) + own["visual.positional_embedding"]
            x = normalised(x, own, "visual.ln_pre")
            for number in range(sizes.image_layers):
                x = block(x, own, f"visual.transformer.resblocks.{number}", quick_gelu, None)
            return normalised(x[:, 0], own, "visual.ln_post") @ own["visual.proj"]

    class Text(nn.Module):
        mask = torch.full((sizes.length, sizes.length), -math.inf).triu(1)  # a token sees itself and earlier ones

        def forward(self, tokens: Any) -> Any:
            length = tokens.shape[1]
            x = own["token_embedding.weight"][tokens] + own["positional_embedding"][:length]
            for number in range(sizes.text_layers):
                x = block(x, own, f"transformer.resblocks.{number}", quick_gelu, self.mask[:length, :length])
            ends = tokens.argmax(dim=1)[:, None, None].expand(-1, 1, sizes.text)
            return normalised(x.gather(1, ends)[:, 0], own, "ln_final") @ own["text_projection"]

    return {"image": Image().train(False), "text": Text().train(False)}


def block(x: Any, own: Mapping[str, Any], name: str, quick_gelu: bool, mask: Any) -> Any:
    """Return the output of a block, (n, tokens, width); `mask` is added to the products of attention."""
    import torch

    x = x + attention(normalised(x, own, f"{name}.ln_1"), own, f"{name}.attn", mask)
    units = linear(normalised(x, own, f"{name}.ln_2"), own, f"{name}.mlp.c_fc")
    units = units * torch.sigmoid(1.702 * units) if quick_gelu else torch.nn.functional.gelu(units)
    return x + linear(units, own, f"{name}.mlp.c_proj")


def attention(x: Any, own: Mapping[str, Any], name: str, mask: Any) -> Any:
    """Return the output of attention with several heads, (n, tokens, width)."""
    import torch

    of_all = torch.nn.functional.linear(x, own[f"{name}.in_proj_weight"], own[f"{name}.in_proj_bias"])
    query, key, value = (part.unflatten(-1, (-1, HEAD)).transpose(1, 2) for part in of_all.chunk(3, dim=-1))
    products = query @ key.transpose(2, 3) / math.sqrt(HEAD)
    values = (products if mask is None else products + mask).softmax(dim=-1) @ value
    return linear(values.transpose(1, 2).flatten(2), own, f"{name}.out_proj")


def normalised(x: Any, own: Mapping[str, Any], name: str) -> Any:
    """Return the output of a layer normalisation; torch's own function needs a size that tracing does not keep."""
    centred = x - x.mean(dim=-1, keepdim=True)
    deviation = (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    return centred / deviation * own[f"{name}.weight"] + own[f"{name}.bias"]


def linear(x: Any, own: Mapping[str, Any], name: str) -> Any:
    """Return the output of a linear layer."""
    import torch

    return torch.nn.functional.linear(x, own[f"{name}.weight"], own[f"{name}.bias"])


def read(path: Path) -> tuple[dict[str, Any], Sizes]:
    """Read a state_dict; exit with one line if the file does not contain the weights of a CLIP model."""
    import torch

    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        sys.exit(f"export_clip: {path}: {error.strerror or error}")
    except Exception:  # torch raises errors of several kinds, whose messages suggest running code from the file
        sys.exit(f"export_clip: {path}: not a file of tensors only, as torch.save(model.state_dict(), ...) writes it")
    if not isinstance(weights, dict):
        sys.exit(f"export_clip: {path}: not a state_dict; save `model.state_dict()`")
    sizes = sizes_of({key: tuple(value.shape) for key, value in weights.items() if isinstance(value, torch.Tensor)})
    if isinstance(sizes, str):
        sys.exit(f"export_clip: {path}: {sizes}")
    return weights, sizes


def export(tower: Any, name: str, sizes: Sizes, path: Path) -> None:
    """Write a tower as a single ONNX file for any number of images, or of texts of any length up to the model's."""
    import torch

    example = torch.zeros(2, 3, sizes.side, sizes.side) if name == "image" else torch.zeros(2, 5, dtype=torch.int64)
    given = {"image": ("pixels", {0: "n"}), "text": ("tokens", {0: "n", 1: "length"})}
    inputs, free = given[name]
    with warnings.catch_warnings():
        # The newer exporter (dynamo) needs the package onnxscript, too, and writes large weights to a second file.
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        torch.onnx.export(
            tower, (example,), str(path),
            input_names=[inputs], output_names=[name], dynamic_axes={inputs: free, name: {0: "n"}},
            dynamo=False,
        )  # fmt: skip


def main(argv: list[str] | None = None) -> None:
    """Export the weights in the file named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="state_dict of a CLIP model, a file that torch.save has written")
    parser.add_argument("image", type=Path, help="ONNX file to write for the image tower")
    parser.add_argument("text", type=Path, help="ONNX file to write for the text tower")
    activations = "quick_gelu for OpenAI's weights, gelu for most of OpenCLIP's; the file does not tell"
    parser.add_argument("--activation", choices=["quick_gelu", "gelu"], required=True, help=activations)
    arguments = parser.parse_args(argv)
    missing = [package for package in ("torch", "onnx") if importlib.util.find_spec(package) is None]
    if missing:
        sys.exit(
            f"export_clip: {' and '.join(missing)} missing; run `pip install torch onnx` in a separate environment"
        )
    for path in (arguments.image, arguments.text):
        if not path.parent.is_dir():
            sys.exit(f"export_clip: {path}: no such folder")
    weights, sizes = read(arguments.weights)
    if largest_tower(sizes) > LARGEST:
        sys.exit(f"export_clip: {arguments.weights}: a tower has more than 2 GB, which an ONNX file cannot hold")
    both = towers(weights, sizes, arguments.activation == "quick_gelu")
    for name, path in (("image", arguments.image), ("text", arguments.text)):
        export(both[name], name, sizes, path)
        print(f"{path}: output {name}, {sizes.d} numbers")
    print(f"images of {sizes.side} x {sizes.side} pixels, texts of at most {sizes.length} tokens")


if __name__ == "__main__":
    main()
