"""Write VGG16 up to fc7 as an ONNX file: `python workflow/export_vgg16.py vgg16-397923af.pth vgg16-fc7.onnx`.

The first file is a state_dict with torchvision's key names. The network in the second file has the input `image`
(n, 3, 224, 224) and the output `fc7` (n, 4096), after its ReLU. The script needs the packages torch and onnx, but not
vsebench.

Source: Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition", ICLR 2015,
configuration D.
"""

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The number of channels (in multiples of WIDTH) and of convolutions in each block. A pooling layer, which halves the
# sides, follows each block.
BLOCKS = ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3))
SIDE = 224  # pixels; 7 after five halvings
WIDTH, CLASSES = 64, 1000
AFTER_FC7 = "classifier.6"
Shapes = dict[str, tuple[int, ...]]


def shapes(width: int = WIDTH) -> Shapes:
    """Return key -> shape of VGG16's weights, in the order of the layers.

    Parameters
    ----------
    width : channels of the first layer, 64 in VGG16. The channels of the other layers, and the units of fc6 and fc7,
        are multiples of it.
    """
    of_layers: Shapes = {}
    number, channels = 0, 3
    for multiple, convolutions in BLOCKS:
        for _ in range(convolutions):
            of_layers |= layer(f"features.{number}", multiple * width, channels, 3, 3)
            number, channels = number + 2, multiple * width  # a ReLU follows
        number += 1  # the pooling layer
    units = 64 * width
    of_layers |= layer("classifier.0", units, channels * (SIDE // 2 ** len(BLOCKS)) ** 2)
    of_layers |= layer("classifier.3", units, units)  # after a ReLU and dropout
    return of_layers | layer(AFTER_FC7, CLASSES, units)


def layer(name: str, outputs: int, *inputs: int) -> Shapes:
    """Return the shapes of a layer's weights and biases."""
    return {f"{name}.weight": (outputs, *inputs), f"{name}.bias": (outputs,)}


def difference(actual: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]]) -> str | None:
    """Return a description of the first wrong key or shape; None if there is none."""
    for key, shape in expected.items():
        if key not in actual:
            return f"no {key}; the keys should be those of torchvision's vgg16"
        if actual[key] != shape:
            return f"{key} is {actual[key]}, but {shape} in VGG16"
    return next((f"{key} is not in VGG16" for key in actual if key not in expected), None)


def network(width: int) -> Any:
    """Return VGG16 up to fc7 as a torch.nn.Module without weights, whose keys are those of `shapes` up to fc7."""
    import torch
    from torch import nn

    sizes = shapes(width)
    with torch.device("meta"):
        features: list[nn.Module] = []
        for _, convolutions in BLOCKS:
            for _ in range(convolutions):
                outputs, inputs = sizes[f"features.{len(features)}.weight"][:2]
                features += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
            features.append(nn.MaxPool2d(2))
        units, pixels = sizes["classifier.0.weight"]
        # Identity takes the place of dropout, which does nothing here, but is counted in the numbers of layers.
        fc7 = [nn.Linear(pixels, units), nn.ReLU(), nn.Identity(), nn.Linear(units, units), nn.ReLU()]
        whole = nn.Sequential()
        whole.add_module("features", nn.Sequential(*features))
        whole.add_module("flat", nn.Flatten())
        whole.add_module("classifier", nn.Sequential(*fc7))
    return whole.train(False)


def loaded(weights: Mapping[str, Any]) -> Any:
    """Return the `network` with the weights of a state_dict, as float32."""
    vgg = network(len(weights["features.0.bias"]))
    vgg.load_state_dict({key: weights[key].float() for key in vgg.state_dict()}, assign=True)
    return vgg


def read(path: Path, width: int = WIDTH) -> dict[str, Any]:
    """Read a state_dict; exit with one line if the file does not contain the weights of VGG16."""
    import torch

    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        sys.exit(f"export_vgg16: {path}: {error.strerror or error}")
    except Exception:  # torch raises errors of several kinds, whose messages suggest running code from the file
        sys.exit(f"export_vgg16: {path}: not a file of tensors only, as torch.save(model.state_dict(), ...) writes it")
    if not isinstance(weights, dict) or not all(isinstance(weight, torch.Tensor) for weight in weights.values()):
        sys.exit(f"export_vgg16: {path}: not a state_dict; save `model.state_dict()`")
    mistake = difference({key: tuple(weight.shape) for key, weight in weights.items()}, shapes(width))
    if mistake:
        sys.exit(f"export_vgg16: {path}: {mistake}")
    return weights


def export(vgg: Any, path: Path) -> None:
    """Write a network as a single ONNX file for any number of images at a time."""
    import torch

    with warnings.catch_warnings():
        # The newer exporter (dynamo) needs the package onnxscript, too, and writes large weights to a second file.
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        torch.onnx.export(
            vgg, (torch.zeros(1, 3, SIDE, SIDE),), str(path),
            input_names=["image"], output_names=["fc7"], dynamic_axes={"image": {0: "n"}, "fc7": {0: "n"}},
            dynamo=False,
        )  # fmt: skip


def main(argv: list[str] | None = None) -> None:
    """Export the weights in the file named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="state_dict of VGG16, a file that torch.save has written")
    parser.add_argument("network", type=Path, help="ONNX file to write, about 540 MB")
    arguments = parser.parse_args(argv)
    missing = [package for package in ("torch", "onnx") if importlib.util.find_spec(package) is None]
    if missing:
        sys.exit(
            f"export_vgg16: {' and '.join(missing)} missing; run `pip install torch onnx` in a separate environment"
        )
    if not arguments.network.parent.is_dir():
        sys.exit(f"export_vgg16: {arguments.network}: no such folder")
    export(loaded(read(arguments.weights)), arguments.network)
    print(f"{arguments.network}: output fc7, 4,096 numbers per image, for the transform torchvision")


if __name__ == "__main__":
    main()
