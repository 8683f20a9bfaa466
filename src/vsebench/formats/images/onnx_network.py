"""Run an image network from an ONNX file with onnxruntime on the CPU."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError, one_line
from vsebench.formats.onnx_session import inputs_of, load_network

SIDE = 224  # height or width in pixels, if the file does not fix it


class Network:
    """A network with one chosen output.

    Attributes
    ----------
    sha256 : checksum of the file, which contains all weights
    height, width : size of the input in pixels
    dimensions : number of output values per image
    """

    def __init__(self, path: Path, output: str, threads: int) -> None:
        """Load a network and test it on two blank images.

        `output` is the name of the network's output to use. Raises a `UserError` if

        - onnxruntime is not installed,
        - the file is missing, is not an ONNX file, or keeps its weights in another file,
        - the network's input is not (n, 3, height, width) float32,
        - the network has no output with this name, or
        - this output is not one row of numbers per image.
        """
        self._session, content = load_network(path, output, threads)
        self.path, self.output = path, output
        self.sha256 = hashlib.sha256(content).hexdigest()
        self._check_input()
        self.dimensions = self(np.zeros((2, 3, self.height, self.width), dtype=np.float32)).shape[1]

    def _check_input(self) -> None:
        inputs = self._session.get_inputs()
        shape: list[Any] = inputs[0].shape if len(inputs) == 1 else []
        free = [not isinstance(size, int) for size in shape]  # a free dimension has a name instead of a number
        if len(shape) != 4 or inputs[0].type != "tensor(float)" or not (free[1] or shape[1] == 3):
            wanted = "its input must be (n, 3, height, width) float32"
            raise UserError(f"{self.path}: {wanted}, but is {inputs_of(self._session)}")
        self._input = inputs[0].name
        self._batch = None if free[0] else shape[0]  # a network can have a fixed number of images per batch
        self.height, self.width = (SIDE if free[i] else shape[i] for i in (2, 3))

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the output, (n, dimensions), for the pixels of n images, (n, 3, height, width).

        Raises a `UserError` if the output is not one row of numbers per image.
        """
        size = self._batch or len(pixels)
        return np.concatenate([self._run(pixels[start : start + size]) for start in range(0, len(pixels), size)])

    def _run(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        n_images = len(pixels)
        if self._batch:
            pixels = np.concatenate([pixels, np.zeros((self._batch - n_images, *pixels.shape[1:]), dtype=np.float32)])
        try:
            (output,) = self._session.run([self.output], {self._input: pixels})
        except Exception as error:
            raise UserError(f"{self.path}: onnxruntime cannot run it ({one_line(error)})") from None
        # Global average pooling can return (n, dimensions, 1, 1).
        values = np.asarray(output)
        is_rows = values.ndim >= 2 and len(values) == len(pixels) and values[0].size == values.shape[1]
        if not is_rows or values.dtype.kind != "f":
            shape = f"{values.shape} of {values.dtype} for {len(pixels)} images"
            raise UserError(f"{self.path}: the output {self.output!r} is {shape}, not one row of numbers per image")
        return values.reshape(len(values), -1)[:n_images].astype(np.float32)
